package llama_test

import (
	"errors"
	"math"
	"path/filepath"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/formats"
	"github.com/gopherwarp/gopherwarp/weights/gguf"
)

// trained is a model that is loaded to be trained.
type trained struct {
	*llama.Model
	stream *device.Stream
}

// loadTrained loads a model to be trained, which is closed when the test ends.
func loadTrained(t *testing.T, s *device.Stream, path string, c llama.Config) trained {
	t.Helper()
	f, err := formats.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := llama.Load(s, f, llama.LoadOptions{Config: c, Train: true})
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return trained{m, s}
}

// run calls f with a Scope.
func (m trained) run(t *testing.T, f func(s *tensor.Scope) error) {
	t.Helper()
	if err := tensor.RunOn(t.Context(), m.stream, f); err != nil {
		t.Fatal(err)
	}
}

// loss returns the loss of two texts and, if it is wanted, adds its derivatives.
func (m trained) loss(t *testing.T, back bool) (loss float64) {
	t.Helper()
	tokens := prompt(21, 3)
	m.run(t, func(s *tensor.Scope) error {
		if back {
			s.Record()
		}
		x, err := m.Read(s, llama.Packed{Tokens: tokens[:20], Lengths: []int{8, 12}})
		if err != nil {
			return err
		}
		y := m.Loss(x, tokens[1:])
		if back {
			s.Backward(y)
		}
		v, err := tensor.Values[float32](t.Context(), y)
		if err == nil {
			loss = float64(v[0])
		}
		return err
	})
	return loss
}

// TestTrainedModel compares the derivatives with respect to each parameter with differences of losses along their direction, the losses with those of the model
// that is loaded as constants, and the model that Trained writes with that in memory.
func TestTrainedModel(t *testing.T) {
	for name, path := range map[string]string{
		"GGUF":  llamatest.Write(t, llamatest.Options{Matrices: weights.F32}),
		"Llama": llamatest.WriteFolder(t, llamatest.FolderOptions{Architecture: "LlamaForCausalLM", Matrices: weights.F32}),
		"Qwen2": llamatest.WriteFolder(t, llamatest.FolderOptions{Architecture: "Qwen2ForCausalLM", Matrices: weights.F32}),
		"Qwen3": llamatest.WriteFolder(t, llamatest.FolderOptions{Architecture: "Qwen3ForCausalLM", Matrices: weights.F32}),
	} {
		t.Run(name, func(t *testing.T) {
			constant, c, run := load(t, cpu.Open, path)
			m := loadTrained(t, kerneltest.Stream(t, cpu.Open), path, constant.Config)
			base := m.loss(t, true)
			if want := (trained{constant, streamOf(run)}).loss(t, false); math.Abs(base-want) > 1e-5 {
				t.Errorf("the loss is %v, that of constants %v", base, want)
			}
			for _, q := range m.Params().Named() {
				m.compareSlope(t, q)
			}
			if name == "GGUF" {
				m.compareWritten(t, path, logitsOf(t, constant, c, run, prompt(20, 3)))
			}
		})
	}
}

// compareSlope compares the derivative with respect to a parameter, in its own direction, with a difference of losses.
func (m trained) compareSlope(t *testing.T, q nn.Named) {
	t.Helper()
	const step = 0.02
	var values, slope []float32
	m.run(t, func(s *tensor.Scope) (err error) {
		if values, err = q.Values(s); err != nil {
			return err
		}
		g, err := q.Grad(s)
		if err == nil {
			slope, err = tensor.Values[float32](t.Context(), s.Use(g))
		}
		return err
	})
	norm := 0.0
	for _, v := range slope {
		norm += float64(v) * float64(v)
	}
	norm = math.Sqrt(norm)
	at := func(by float64) float64 {
		moved := make([]float32, len(values))
		for i, v := range values {
			moved[i] = v + float32(by/norm*float64(slope[i]))
		}
		m.run(t, func(s *tensor.Scope) error { return q.Set(s, moved) })
		return m.loss(t, false)
	}
	difference := (at(step) - at(-step)) / (2 * step)
	if at(0); !(math.Abs(difference-norm) <= 0.02*norm+1e-4) {
		t.Errorf("%s: the norm of the derivative is %g, and the slope in its direction %g", q.Name, norm, difference)
	}
}

// compareWritten writes the model, loads it as constants and compares logits with those given.
func (m trained) compareWritten(t *testing.T, path string, want []float32) {
	t.Helper()
	f, err := formats.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	written, err := m.Trained(t.Context(), m.stream, f)
	to := filepath.Join(t.TempDir(), "trained.gguf")
	if err := errors.Join(err, gguf.Save(to, written)); err != nil {
		t.Fatal(err)
	}
	again, cache, run := load(t, cpu.Open, to)
	if d := apart(logitsOf(t, again, cache, run, prompt(20, 3)), want); !(d <= 2e-3) { // the quantized table of embeddings becomes float16
		t.Errorf("logits of the written model differ by %g", d)
	}
}
