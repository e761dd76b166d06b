package llama_test

import (
	"cmp"
	"errors"
	"fmt"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/kernels/sampling"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/weights"
)

// greedy is a Chooser of the most probable tokens.
func greedy(s *tensor.Scope, c llama.Choice) error {
	logits, err := tensor.SliceOf[float32](c.Logits)
	if err != nil {
		return err
	}
	shape := sampling.Shape{Rows: c.Tokens.Len(), Vocabulary: llamatest.Vocabulary}
	params, err := device.MakeDirty[sampling.Params](s.Stream(), shape.Rows)
	if err != nil {
		return err
	}
	defer params.Close()
	work, err := device.MakeDirty[int32](s.Stream(), max(1, sampling.Workspace(s.Stream(), shape)))
	if err != nil {
		return err
	}
	defer work.Close()
	if err := device.Fill(s.Stream(), params.All(), sampling.Params{}); err != nil {
		return err
	}
	return sampling.Sample(s.Stream(), shape, sampling.Operands{Logits: logits, Params: params.All(), Positions: c.Positions, Work: work.All(), Tokens: c.Tokens})
}

// decoding is a test of a Decoder.
type decoding struct {
	*testing.T
	c    *llama.Cache
	d    *llama.Decoder
	r    *reference
	s    *device.Stream
	text map[int][]int32    // of each sequence, with the token that was chosen last
	own  map[int]*reference // of sequences that have another one than r
	rows int                // of the Decoder; 0 means 3
}

// start loads the model for three sequences.
func (x decoding) start(open kerneltest.Opener, path string) decoding {
	x.Helper()
	m, c, run := load(x.T, open, path)
	d, err := m.NewDecoder(c, cmp.Or(x.rows, 3), greedy)
	if err != nil {
		x.Fatal(err)
	}
	x.Cleanup(func() {
		if err := d.Close(); err != nil {
			x.Error(err)
		}
	})
	x.c, x.d = c, d
	run(func(s *tensor.Scope) error { x.s = s.Stream(); return nil })
	return x
}

// TestDecoder checks that the tokens of steps of several numbers of rows are the most probable ones of a float64 reference, or as good
// as these. Sequences cross the end of a page.
func TestDecoder(t *testing.T) {
	for i, o := range []llamatest.FolderOptions{{Architecture: "LlamaForCausalLM"}, {Architecture: "Qwen2ForCausalLM"}, {Architecture: "Qwen3ForCausalLM"}, {}} {
		path := ""
		if o.Architecture != "" {
			path = llamatest.WriteFolder(t, o)
		} else {
			path = llamatest.Write(t, llamatest.Options{Matrices: weights.Q4_1})
		}
		r := newReference(t, path)
		for name, open := range kerneltest.Executions() {
			if name == "native" || name == "scalar" {
				continue // they are slow
			}
			if name == "AVX2" && !sweep.Every(2, i) || name == "interp" && !sweep.Every(2, i+1) {
				continue // the other half of the models
			}
			t.Run(fmt.Sprintf("%s/%s", o.Architecture, name), func(t *testing.T) {
				x := decoding{T: t, r: r, text: map[int][]int32{2: prompt(62, 1), 0: prompt(5, 2), 1: prompt(64, 3)}}.start(open, path)
				x.begin(2, 0, 1)
				x.step(2, 0, 1)
				x.step(2, 0)
				x.step(2)
				x.step(2)
				x.c.Truncate(2, 3)
				x.text[2] = append(x.text[2][:3:3], prompt(2, 9)...)
				x.begin(2)
				x.step(2)
				x.join(2, 0, 1)
			})
		}
	}
}

// begin appends what the cache does not have.
func (x decoding) begin(sequences ...int) {
	x.Helper()
	var spans []llama.Span
	for _, q := range sequences {
		known := 0
		if len(x.text[q]) == 5 && q == 2 { // after Truncate
			known = 3
		}
		spans = append(spans, llama.Span{Sequence: q, Tokens: x.text[q][known:]})
	}
	if err := x.d.Begin(x.Context(), 0, spans...); err != nil {
		x.Fatal(err)
	}
	x.check(sequences)
}

// join starts a sequence in row 1 while another one is in row 0, moves a third one from row 2 to row 1, and continues the two.
func (x decoding) join(first, second, third int) {
	x.Helper()
	for i, q := range []int{second, third} {
		x.text[q] = append(x.text[q], prompt(3, i)...)
		known := x.c.Len(q)
		if err := x.d.Begin(x.Context(), 1+i, llama.Span{Sequence: q, Tokens: x.text[q][known:]}); err != nil {
			x.Fatal(err)
		}
	}
	if err := x.d.Move(1, 2); err != nil {
		x.Fatal(err)
	}
	x.text[third] = append(x.text[third], x.tokens()[1])
	x.step(first, third)
}

// step runs a step.
func (x decoding) step(sequences ...int) {
	x.Helper()
	if err := x.d.Step(sequences...); err != nil {
		x.Fatal(err)
	}
	x.check(sequences)
}

// check compares the chosen tokens with the reference and appends them.
func (x decoding) check(sequences []int) {
	x.Helper()
	got := x.tokens()
	for i, q := range sequences {
		x.near(q, got[i])
		x.text[q] = append(x.text[q], got[i])
	}
}

// near checks that a token is the most probable one after the text of a sequence, or as good as this one.
func (x decoding) near(q int, id int32) {
	x.Helper()
	r := x.r
	if x.own[q] != nil {
		r = x.own[q]
	}
	logits, best := r.next(x.text[q]), 0
	for j, l := range logits {
		if l > logits[best] {
			best = j
		}
	}
	if id < 0 || int(id) >= len(logits) || logits[id] < logits[best]-0.2 {
		x.Fatalf("token %d of sequence %d is %d, want %d", len(x.text[q]), q, id, best)
	}
}

// tokens returns the tokens of all rows.
func (x decoding) tokens() []int32 {
	x.Helper()
	got := make([]int32, x.d.Tokens().Len())
	if err := errors.Join(device.Download(x.s, got, x.d.Tokens()), x.s.Synchronize(x.Context())); err != nil {
		x.Fatal(err)
	}
	return got
}

func TestDecoderErrors(t *testing.T) {
	m, c, _ := load(t, cpu.Open, llamatest.Write(t, llamatest.Options{}))
	d, err := m.NewDecoder(c, 2, greedy)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for name, err := range map[string]error{
		"no rows": d.Step(), "more rows": d.Step(0, 1, 2), "a sequence": d.Step(3), "spans": d.Begin(t.Context(), 0, make([]llama.Span, 3)...), "no spans": d.Begin(t.Context(), 0),
		"an empty span": d.Begin(t.Context(), 0, llama.Span{}), "no such row": d.Begin(t.Context(), 2, llama.Span{Tokens: prompt(3, 1)}),
		"a row to itself": d.Move(1, 1), "from no row": d.Move(0, 2), "into no row": d.Put(1, []int32{1, 2}), "no token": d.Put(0, []int32{-1}),
	} {
		if !errors.Is(err, llama.ErrSequence) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := d.Begin(t.Context(), 0, llama.Span{Tokens: prompt(llamatest.Context, 1)}); err != nil {
		t.Fatal(err)
	}
	if err := d.Step(0); !errors.Is(err, llama.ErrContext) || c.Len(0) != llamatest.Context {
		t.Errorf("a step beyond the context: %v, %d tokens", err, c.Len(0))
	}
}
