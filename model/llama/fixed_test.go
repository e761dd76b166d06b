package llama_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/weights"
)

// TestFixed compares the scores of a sequence alone with its scores beside others, which are as many as there can be, or longer. Without
// CacheOptions.Fixed, they differ in their last bits.
func TestFixed(t *testing.T) {
	for _, c := range []struct {
		name string
		open kerneltest.Opener
		of   weights.Type
		rows int // of the Decoder
	}{
		{"cpu, F32", cpu.Open, weights.F32, 16}, {"cpu, Q4_1", cpu.Open, weights.Q4_1, 16}, {"interp, Q4_1", kerneltest.Executions()["interp"], weights.Q4_1, 4},
		{"cuda, F32", kerneltest.Executions()["cuda"], weights.F32, 64}, {"cuda, Q4_1", kerneltest.Executions()["cuda"], weights.Q4_1, 64},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := llamatest.Write(t, llamatest.Options{Matrices: c.of})
			x := fixed{path: path, rows: c.rows, context: llamatest.Context}
			want := x.scores(t, c.open, 0)
			for i, others := range []int{c.rows - 1, c.rows / 4} {
				if c.rows < 16 && !sweep.Every(2, i) {
					continue // the interpreter is slow
				}
				if got := x.scores(t, c.open, others); !slices.Equal(got, want) {
					t.Errorf("beside %d others, the scores differ", others)
				}
			}
			if x.context = 0; c.of != weights.Q4_1 || c.rows < 16 {
				return
			}
			if slices.Equal(x.scores(t, c.open, 0), x.scores(t, c.open, c.rows-1)) {
				t.Error("without Fixed, the scores are the same: the test does not see a difference")
			}
		})
	}
}

// fixed is a model, a number of rows and an option of a Cache.
type fixed struct {
	path          string
	rows, context int
}

// scores returns the scores of a prompt's next tokens beside some other sequences.
func (x fixed) scores(t *testing.T, open kerneltest.Opener, others int) (list []float32) {
	t.Helper()
	m, _, run := load(t, open, x.path)
	var s *device.Stream
	run(func(scope *tensor.Scope) error { s = scope.Stream(); return nil })
	c, err := m.NewCache(s, llama.CacheOptions{Sequences: x.rows, Tokens: x.rows * llamatest.Context, Fixed: x.context})
	check(t, err)
	defer c.Close()
	all, err := device.Make[float32](s, x.rows*llamatest.Vocabulary)
	check(t, err)
	defer all.Close()
	d, err := m.NewDecoder(c, x.rows, func(s *tensor.Scope, c llama.Choice) error {
		logits, err := tensor.SliceOf[float32](c.Logits)
		if err != nil {
			return err
		}
		at := c.Row * llamatest.Vocabulary
		if err := device.Copy(s.Stream(), all.Slice(at, at+logits.Len()), logits); err != nil {
			return err
		}
		return greedy(s, c)
	})
	check(t, err)
	defer d.Close()
	rows := make([]int, others+1)
	for i := range rows {
		rows[i] = i
		tokens := prompt(3+i*40%150, i)
		if i == others {
			rows[i], tokens = x.rows-1, prompt(10, 99)
		}
		check(t, d.Begin(t.Context(), i, llama.Span{Sequence: rows[i], Tokens: tokens}))
	}
	for range 3 {
		values := make([]float32, llamatest.Vocabulary)
		check(t, device.Download(s, values, all.Slice(others*llamatest.Vocabulary, (others+1)*llamatest.Vocabulary)))
		check(t, s.Synchronize(t.Context()))
		list = append(list, values...)
		check(t, d.Step(rows...))
	}
	check(t, s.Synchronize(t.Context()))
	return list
}

// check fails the test if there is an error.
func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(fmt.Errorf("unexpected: %w", err))
	}
}
