package llama_test

import (
	"errors"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
)

// TestAdvance computes tokens of rows together with prompts that end and with parts of one that does not, and compares the chosen tokens
// with those of a float64 reference.
func TestAdvance(t *testing.T) {
	path := llamatest.WriteFolder(t, llamatest.FolderOptions{Architecture: "LlamaForCausalLM"})
	r := newReference(t, path)
	for name, open := range kerneltest.Some() {
		if name == "native" || name == "scalar" {
			continue // they are slow
		}
		t.Run(name, func(t *testing.T) {
			x := decoding{T: t, r: r, text: map[int][]int32{2: prompt(63, 1), 0: prompt(66, 2), 1: prompt(30, 3)}}.start(open, path)
			x.begin(2)
			started := 0
			x.d.Started = func() error { started++; return nil }
			x.advance(llama.Batch{Rows: []int{2}, Ends: []llama.Span{{Sequence: 0, Tokens: x.text[0]}}, Parts: []llama.Span{{Sequence: 1, Tokens: x.text[1][:20]}}}, 2, 0)
			x.advance(llama.Batch{Rows: []int{2, 0}, Ends: []llama.Span{{Sequence: 1, Tokens: x.text[1][20:]}}}, 2, 0, 1)
			x.advance(llama.Batch{Rows: []int{2, 0, 1}}, 2, 0, 1)
			x.step(2, 0, 1)
			if started != 4 {
				t.Errorf("Started was called %d times for 4 computations", started)
			}
		})
	}
}

// advance computes a batch, after which the given sequences have new tokens.
func (x decoding) advance(b llama.Batch, sequences ...int) {
	x.Helper()
	if err := x.d.Advance(x.Context(), b); err != nil {
		x.Fatal(err)
	}
	x.check(sequences)
}

func TestAdvanceErrors(t *testing.T) {
	m, c, _ := load(t, cpu.Open, llamatest.Write(t, llamatest.Options{}))
	d, err := m.NewDecoder(c, 2, greedy)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	span := llama.Span{Tokens: prompt(3, 1)}
	for name, b := range map[string]llama.Batch{
		"no rows": {Parts: []llama.Span{span}}, "more rows": {Rows: []int{0, 1}, Ends: []llama.Span{span}}, "an empty part": {Rows: []int{1}, Parts: []llama.Span{{}}},
	} {
		if err := d.Advance(t.Context(), b); !errors.Is(err, llama.ErrSequence) || c.Len(0)+c.Len(1) != 0 {
			t.Errorf("%s: %v, %d and %d tokens", name, err, c.Len(0), c.Len(1))
		}
	}
	failure := errors.New("started")
	d.Started = func() error { return failure }
	if err := d.Advance(t.Context(), llama.Batch{Ends: []llama.Span{span}}); !errors.Is(err, failure) {
		t.Errorf("Advance returns %v", err)
	}
	if err := d.Step(0); !errors.Is(err, failure) {
		t.Errorf("Step returns %v", err)
	}
}

// TestBulks computes batches of one size again and again, which becomes a graph, and then of another size. There is memory for one graph or
// for both.
func TestBulks(t *testing.T) {
	path := llamatest.WriteFolder(t, llamatest.FolderOptions{Architecture: "LlamaForCausalLM"})
	r := newReference(t, path)
	for name, open := range kerneltest.Executions() {
		if name == "native" || name == "scalar" || name == "interp" && !sweep.Whole() {
			continue // they are slow
		}
		t.Run(name, func(t *testing.T) {
			x := decoding{T: t, r: r, text: map[int][]int32{2: prompt(56, 1), 1: prompt(5, 3), 0: prompt(66, 2)}}.start(open, path)
			x.begin(2)
			for i := range 8 {
				rows := []int{2, 1}[:1+i/4]
				if i == 4 {
					x.advance(llama.Batch{Rows: []int{2}, Ends: []llama.Span{{Sequence: 1, Tokens: x.text[1]}}}, 2, 1)
				}
				x.advance(llama.Batch{Rows: rows, Parts: []llama.Span{{Sequence: 0, Tokens: x.text[0][8*i:][:8]}}}, rows...)
				if n := x.d.Bulks(); n != min(1, i/2) && (i < 6 || n != 2) {
					t.Errorf("after %d batches: %d graphs", i+1, n)
				}
			}
			x.advance(llama.Batch{Rows: []int{2, 1}, Ends: []llama.Span{{Sequence: 0, Tokens: x.text[0][64:]}}}, 2, 1, 0)
			x.step(2, 1, 0)
		})
	}
}
