package llama_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/model/lora"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/formats"
	"github.com/gopherwarp/gopherwarp/weights/gguf"
	"github.com/gopherwarp/gopherwarp/weights/safetensors"
)

// writeAdapter writes an adapter with matrices that depend on the seed for a model to a folder. Its rank is 2 unless the options have another.
func writeAdapter(t *testing.T, s *device.Stream, m *llama.Model, o lora.Options) string {
	t.Helper()
	if o.Rank == 0 {
		o.Rank, o.Alpha = 2, 3
	}
	a, err := lora.New(s, m.Linears(), o)
	if err == nil {
		err = m.Adapt(a)
	}
	if err != nil {
		t.Fatal(err)
	}
	err = tensor.RunOn(t.Context(), s, func(scope *tensor.Scope) error {
		all, err := a.Params().Memory(scope)
		if err != nil {
			return err
		}
		values := make([]float32, all.Master.Len())
		for i := range values {
			if values[i] = float32((i*i+int(o.Seed)*i)%23-11) / 80; o.DoRA { // norms are positive
				values[i] = float32(i*i%23+8) / 80
			}
		}
		return device.UploadTo(s, all.Master, values)
	})
	folder := filepath.Join(t.TempDir(), "adapter")
	if err := errors.Join(err, m.Adapt(nil), a.Save(t.Context(), s, folder), a.Close()); err != nil {
		t.Fatal(err)
	}
	return folder
}

// streamOf returns the stream of a model of load.
func streamOf(run func(f func(s *tensor.Scope) error)) (stream *device.Stream) {
	run(func(s *tensor.Scope) error {
		stream = s.Stream()
		return nil
	})
	return stream
}

// logitsOf returns the logits that Forward computes for tokens.
func logitsOf(t *testing.T, m *llama.Model, c *llama.Cache, run func(f func(s *tensor.Scope) error), tokens []int32) (list []float32) {
	t.Helper()
	run(func(s *tensor.Scope) error {
		c.Truncate(0, 0)
		x, err := m.Forward(s, c, llama.Span{Tokens: tokens})
		if err != nil {
			return err
		}
		list, err = tensor.Values[float32](t.Context(), m.Logits(x))
		return err
	})
	return list
}

// apart returns the norm of the difference of two vectors, relative to that of the second.
func apart(x, y []float32) float64 {
	var sum, of float64
	for i := range y {
		d := float64(x[i]) - float64(y[i])
		sum, of = sum+d*d, of+float64(y[i])*float64(y[i])
	}
	return math.Sqrt(sum / of)
}

// TestAdapter compares a model that uses an adapter, reads whole sequences, and has the adapter in its weights.
func TestAdapter(t *testing.T) {
	tokens := prompt(40, 3)
	for name, x := range map[string]struct {
		path string
		lora.Options
		tolerance float64 // of merged weights
	}{
		"GGUF":    {path: llamatest.Write(t, llamatest.Options{}), tolerance: 2e-3}, // merged weights are float16
		"queries": {path: llamatest.Write(t, llamatest.Options{Matrices: weights.F32}), Options: lora.Options{Modules: []string{"q_proj", "up_proj"}}, tolerance: 1e-5},
		"DoRA":    {path: llamatest.Write(t, llamatest.Options{Matrices: weights.F32}), Options: lora.Options{DoRA: true}, tolerance: 1e-5},
		"biases":  {path: llamatest.WriteFolder(t, llamatest.FolderOptions{Architecture: "Qwen2ForCausalLM", Matrices: weights.F32}), Options: lora.Options{DoRA: true}, tolerance: 1e-5},
		"folder":  {path: llamatest.WriteFolder(t, llamatest.FolderOptions{Architecture: "Qwen3ForCausalLM", Matrices: weights.F32}), tolerance: 1e-5},
	} {
		t.Run(name, func(t *testing.T) {
			m, c, run := load(t, cpu.Open, x.path)
			s := streamOf(run)
			plain := logitsOf(t, m, c, run, tokens)
			folder := writeAdapter(t, s, m, x.Options)
			a, err := lora.Open(s, m.Linears(), folder)
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			if err := m.Adapt(a); err != nil {
				t.Fatal(err)
			}
			adapted := logitsOf(t, m, c, run, tokens)
			if err := a.Fix(t.Context()); err != nil {
				t.Fatal(err)
			}
			if d := apart(logitsOf(t, m, c, run, tokens), adapted); d != 0 {
				t.Errorf("Fix changes logits by %g", d)
			}
			if d := apart(adapted, plain); !(d > 0.05) {
				t.Errorf("the adapter changes logits by %g", d)
			}
			run(func(s *tensor.Scope) error { // with another sequence before
				both := llama.Packed{Tokens: append(prompt(7, 8), tokens...), Lengths: []int{7, len(tokens)}}
				y, err := m.Read(s, both)
				if err != nil {
					return err
				}
				got, err := tensor.Values[float32](t.Context(), m.Logits(y.Slice(0, 7, 7+len(tokens))))
				if d := apart(got, adapted); !(d <= 1e-5) {
					t.Errorf("logits of whole sequences differ by %g", d)
				}
				return err
			})
			if err := m.Adapt(nil); err != nil || apart(logitsOf(t, m, c, run, tokens), plain) != 0 {
				t.Errorf("without the adapter, logits are others, %v", err)
			}
			merged, cache, runMerged := load(t, cpu.Open, merge(t, m.Config, x.path, folder))
			if d := apart(logitsOf(t, merged, cache, runMerged, tokens), adapted); !(d <= x.tolerance) {
				t.Errorf("logits of merged weights differ by %g", d)
			}
		})
	}
}

// merge writes a model with an adapter in its weights, and returns its path.
func merge(t *testing.T, c llama.Config, path, adapter string) string {
	t.Helper()
	f, err := formats.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	o, list, err := lora.Read(c.Linears(), adapter)
	if err != nil {
		t.Fatal(err)
	}
	merged, err := c.Merge(f, o, list)
	if err != nil {
		t.Fatal(err)
	}
	if f.Format != "safetensors" {
		to := filepath.Join(t.TempDir(), "merged.gguf")
		if err := gguf.Save(to, merged); err != nil {
			t.Fatal(err)
		}
		return to
	}
	to := filepath.Join(t.TempDir(), "merged")
	if err := errors.Join(os.CopyFS(to, os.DirFS(path)), safetensors.Save(filepath.Join(to, "model.safetensors"), merged)); err != nil {
		t.Fatal(err)
	}
	return to
}

// TestExportAdapter checks the names, shapes and order of rows in a GGUF file of an adapter.
func TestExportAdapter(t *testing.T) {
	path := llamatest.Write(t, llamatest.Options{})
	m, _, run := load(t, cpu.Open, path)
	o, list, err := lora.Read(m.Linears(), writeAdapter(t, streamOf(run), m, lora.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	f, err := gguf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	x, err := m.ExportAdapter(f, o, list)
	if err != nil {
		t.Fatal(err)
	}
	if alpha, err := weights.Get[float32](x.Metadata, "adapter.lora.alpha"); alpha != 3 || err != nil || len(x.Tensors) != 2*7*llamatest.Layers {
		t.Errorf("alpha %v, %v, %d tensors", alpha, err, len(x.Tensors))
	}
	for _, l := range list[:2] { // queries and keys of the first layer
		name := map[int]string{llamatest.Heads * llamatest.HeadDim: "blk.0.attn_q", llamatest.KeyHeads * llamatest.HeadDim: "blk.0.attn_k"}[l.Out]
		b, err := x.Tensor(name + ".weight.lora_b")
		if err != nil {
			t.Fatal(err)
		}
		values, err := weights.Values[float32](b)
		if err != nil || !slices.Equal(b.Shape(), []int{l.Out, 2}) {
			t.Fatalf("%v, %v", b.Shape(), err)
		}
		const half = llamatest.HeadDim / 2
		for row := range l.Out { // a pair's elements, half a head apart, are neighbours in the file
			head, i := row/llamatest.HeadDim, row%llamatest.HeadDim
			at := head*llamatest.HeadDim + i%half*2 + i/half
			if !slices.Equal(values[2*at:2*at+2], l.B[2*row:2*row+2]) {
				t.Errorf("%s: row %d of the file is not row %d of B", name, at, row)
			}
		}
	}
}

func TestAdapterThatDoesNotFit(t *testing.T) {
	m, _, run := load(t, cpu.Open, llamatest.Write(t, llamatest.Options{}))
	a, err := lora.New(streamOf(run), []lora.Linear{{Name: "model.layers.0.self_attn.q_proj", In: 64, Out: 32}}, lora.Options{Rank: 1, Alpha: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Adapt(a); !errors.Is(err, llama.ErrAdapter) {
		t.Errorf("%v, want %v", err, llama.ErrAdapter)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	f, err := weights.New(weights.Contents{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Merge(f, lora.Options{Rank: 1, Alpha: 1}, []lora.Matrices{{Linear: m.Linears()[0]}}); !errors.Is(err, llama.ErrAdapter) {
		t.Errorf("a file without the layer: %v", err)
	}
	if _, err := m.ExportAdapter(f, lora.Options{Rank: 1, Alpha: 1}, nil); !errors.Is(err, llama.ErrAdapter) {
		t.Errorf("a file that is no GGUF file: %v", err)
	}
}

func TestPackedThatDoesNotFit(t *testing.T) {
	m, _, run := load(t, cpu.Open, llamatest.Write(t, llamatest.Options{}))
	run(func(s *tensor.Scope) error {
		for _, x := range []struct {
			p    llama.Packed
			want error
		}{
			{llama.Packed{Tokens: prompt(4, 1), Lengths: []int{3}}, llama.ErrSequence}, {llama.Packed{Tokens: prompt(4, 1), Lengths: []int{3, 2}}, llama.ErrSequence},
			{llama.Packed{Tokens: prompt(4, 1), Lengths: []int{4, 0}}, llama.ErrSequence}, {llama.Packed{Tokens: []int32{llamatest.Vocabulary}, Lengths: []int{1}}, llama.ErrSequence},
			{llama.Packed{Tokens: prompt(llamatest.Context+1, 1), Lengths: []int{llamatest.Context + 1}}, llama.ErrContext},
		} {
			if _, err := m.Read(s, x.p); !errors.Is(err, x.want) {
				t.Errorf("%v: %v, want %v", x.p.Lengths, err, x.want)
			}
		}
		return nil
	})
}
