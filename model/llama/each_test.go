package llama_test

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/model/lora"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/weights"
)

// adaptEach writes two adapters of different ranks and layers, makes a model use them, and returns their folders.
func adaptEach(t *testing.T, s *device.Stream, m *llama.Model) []string {
	t.Helper()
	set, err := m.AdaptEach(s, 2, 10)
	check(t, err)
	t.Cleanup(func() { check(t, set.Close()) })
	folders := []string{
		writeAdapter(t, s, m, lora.Options{Rank: 2, Alpha: 3, Seed: 1}),
		writeAdapter(t, s, m, lora.Options{Rank: 10, Alpha: 5, Seed: 2, Modules: []string{"q_proj", "v_proj", "up_proj"}}),
	}
	for i, folder := range folders {
		o, list, err := lora.Read(m.Linears(), folder)
		check(t, err)
		check(t, set.Put(i, o, list))
	}
	return folders
}

// begin gives sequences their adapters: two in the order of their numbers, then none.
func begin(c *llama.Cache, sequences ...int) {
	for i, q := range sequences {
		c.Truncate(q, 0)
		c.Reuse(q, llama.Origin{Adapter: (i + 1) % 3}, nil)
	}
}

// TestAdaptEach compares sequences with different adapters, and one without, with references whose weights have these adapters.
func TestAdaptEach(t *testing.T) {
	for name, x := range map[string]struct {
		path      string
		tolerance limits
	}{
		"F32":   {llamatest.Write(t, llamatest.Options{Matrices: weights.F32}), limits{2e-4, 0.04}},
		"Q4_1":  {llamatest.Write(t, llamatest.Options{Matrices: weights.Q4_1}), limits{0.02, 0.04}}, // merged weights are float16
		"Qwen3": {llamatest.WriteFolder(t, llamatest.FolderOptions{Architecture: "Qwen3ForCausalLM", Matrices: weights.F32}), limits{2e-4, 0.04}},
	} {
		executions := kerneltest.Executions()
		slow := []string{"native", "scalar", "AVX2"}
		if name == "Qwen3" || name == "F32" && !sweep.Whole() {
			slow = append(slow, "interp")
		}
		maps.DeleteFunc(executions, func(name string, _ kerneltest.Opener) bool { return slices.Contains(slow, name) })
		for execution, open := range executions {
			t.Run(name+"/"+execution, func(t *testing.T) {
				m, c, run := load(t, open, x.path)
				s := streamOf(run)
				base := newReference(t, x.path)
				own := map[int]*reference{0: base}
				for i, folder := range adaptEach(t, s, m) {
					own[i+1] = newReference(t, merge(t, m.Config, x.path, folder))
				}
				spans := []llama.Span{{Sequence: 1, Tokens: prompt(5, 1)}, {Sequence: 2, Tokens: prompt(10, 2)}, {Sequence: 0, Tokens: prompt(2, 3)}}
				begin(c, 1, 2, 0)
				var want [][]float64
				for _, span := range spans {
					want = append(want, own[span.Sequence].logits(span.Tokens)...)
				}
				run(func(s *tensor.Scope) error {
					y, err := m.Forward(s, c, spans...)
					if err == nil {
						compareWithin(t, x.tolerance, m.Logits(y), want)
					}
					return err
				})
				d, err := m.NewDecoder(c, 3, greedy)
				check(t, err)
				defer d.Close()
				begin(c, 1, 2, 0)
				y := decoding{t, c, d, base, s, map[int][]int32{1: prompt(3, 1), 2: prompt(5, 2), 0: prompt(4, 3)}, own, 0}
				y.begin(1, 0)
				y.step(1, 0)
				y.advance(llama.Batch{Rows: []int{1, 0}, Ends: []llama.Span{{Sequence: 2, Tokens: y.text[2]}}}, 1, 0, 2)
				y.step(1, 0, 2)
				check(t, d.Move(0, 2))
				y.step(2, 0)
				check(t, d.Move(0, 1))
				y.step(0)
			})
		}
	}
}

// TestAdaptEachFixed compares the scores of sequences beside others with those that they have alone.
func TestAdaptEachFixed(t *testing.T) {
	path := llamatest.Write(t, llamatest.Options{Matrices: weights.Q4_1})
	for _, name := range []string{"AVX-512", "AVX2", "cuda"} {
		open := kerneltest.Executions()[name]
		if open == nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			m, _, run := load(t, open, path)
			s := streamOf(run)
			adaptEach(t, s, m)
			c, err := m.NewCache(s, llama.CacheOptions{Sequences: 4, Tokens: 4 * llamatest.Context, Fixed: llamatest.Context})
			check(t, err)
			defer c.Close()
			scores := make([]float32, 4*llamatest.Vocabulary)
			d, err := m.NewDecoder(c, 4, func(scope *tensor.Scope, c llama.Choice) error {
				logits, err := tensor.SliceOf[float32](c.Logits)
				at := c.Row * llamatest.Vocabulary
				if scope.Stream().Recording() {
					return errors.Join(err, greedy(scope, c))
				}
				return errors.Join(err, device.Download(s, scores[at:at+logits.Len()], logits), greedy(scope, c))
			})
			check(t, err)
			defer d.Close()
			of := func(sequences ...int) (list []float32) {
				for i, q := range sequences {
					c.Truncate(q, 0)
					c.Reuse(q, llama.Origin{Adapter: q % 3}, nil)
					check(t, d.Begin(t.Context(), i, llama.Span{Sequence: q, Tokens: prompt(3+q, q)}))
				}
				check(t, d.Step(sequences...))
				check(t, d.Begin(t.Context(), 0, llama.Span{Sequence: sequences[0], Tokens: prompt(1, 7)}))
				check(t, s.Synchronize(t.Context()))
				return slices.Clone(scores[:llamatest.Vocabulary])
			}
			all := []int{0, 1, 2, 3}
			for q := range all {
				alone := of(q)
				if among := of(append([]int{q}, slices.Delete(slices.Clone(all), q, q+1)...)...); !slices.Equal(among, alone) {
					t.Errorf("beside others, the scores of sequence %d differ", q)
				}
			}
		})
	}
}

// TestAdaptEachBeside compares a sequence with two adapters, one of which the whole model has, with merged weights.
func TestAdaptEachBeside(t *testing.T) {
	path, tokens := llamatest.Write(t, llamatest.Options{Matrices: weights.F32}), prompt(30, 4)
	m, c, run := load(t, cpu.Open, path)
	s := streamOf(run)
	folders := adaptEach(t, s, m)
	a, err := lora.Open(s, m.Linears(), folders[0])
	check(t, err)
	defer a.Close()
	check(t, m.Adapt(a))
	c.Reuse(0, llama.Origin{Adapter: 2}, nil)
	got := logitsOf(t, m, c, run, tokens)
	merged, cache, runMerged := load(t, cpu.Open, merge(t, m.Config, merge(t, m.Config, path, folders[0]), folders[1]))
	if d := apart(got, logitsOf(t, merged, cache, runMerged, tokens)); !(d <= 1e-5) {
		t.Errorf("logits differ by %g", d)
	}
}

// TestAdaptEachErrors asks for adapters that there are not.
func TestAdaptEachErrors(t *testing.T) {
	m, c, run := load(t, cpu.Open, llamatest.Write(t, llamatest.Options{}))
	s := streamOf(run)
	if _, err := m.AdaptEach(s, 0, 8); !errors.Is(err, lora.ErrOptions) {
		t.Errorf("no adapters: %v", err)
	}
	for _, n := range []int{-1, 1} {
		c.Reuse(0, llama.Origin{Adapter: n}, nil)
		run(func(s *tensor.Scope) error {
			if _, err := m.Forward(s, c, llama.Span{Tokens: prompt(3, 1)}); !errors.Is(err, llama.ErrAdapter) || c.Len(0) != 0 {
				t.Errorf("adapter %d of 0: %v, %d tokens", n, err, c.Len(0))
			}
			return nil
		})
	}
}
