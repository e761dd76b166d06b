package lora_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/model/lora"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/train"
	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/formats"
	"github.com/gopherwarp/gopherwarp/weights/safetensors"
)

var update = flag.Bool("update", false, "write testdata/peft.safetensors with the Python package PEFT")

// vectors is the file that testdata/judge.py writes.
const vectors = "testdata/peft.safetensors"

// texts are sequences to learn: tokens and labels.
func texts() (p llama.Packed, labels []int32, list [][2][]int32) {
	for i, n := range []int{13, 70, 2} {
		var text [2][]int32
		for j := range n {
			label := int32((i*17 + (j+1)*(j+1)*5 + 3) % llamatest.Vocabulary)
			if (i+j)%3 == 0 {
				label = -1
			}
			text[0], text[1] = append(text[0], int32((i*17+j*j*5+3)%llamatest.Vocabulary)), append(text[1], label)
		}
		p.Tokens, p.Lengths, labels = append(p.Tokens, text[0]...), append(p.Lengths, n), append(labels, text[1]...)
		list = append(list, text)
	}
	return p, labels, list
}

// TestPEFT compares ten losses, and the derivative with respect to each matrix, with those of the Python package PEFT in float64. If Python
// has that package, it computes them again from the folders that this package writes. The environment variable GOPHERWARP_PYTHON names
// another interpreter than python3. On GPUs, activations are bfloat16, whose roundings show most in the derivatives through the softmax, small
// differences of large numbers.
func TestPEFT(t *testing.T) {
	for name, x := range map[string]struct {
		open kerneltest.Opener
		tolerances
	}{"cpu": {cpu.Open, tolerances{1e-4, 1e-4}}, "cuda": {kerneltest.Executions()["cuda"], tolerances{0.01, 0.15}}} {
		t.Run(name, func(t *testing.T) {
			r, file := learn(t, kerneltest.Stream(t, x.open), lora.Options{Rank: 2, Alpha: 3, Seed: 1})
			r.tolerances = x.tolerances
			if file != "" {
				r.compare(t, file)
			}
			r.compare(t, vectors)
		})
	}
}

// TestPEFTMethods is TestPEFT for DoRA and rsLoRA, on the CPU and only if Python has PEFT.
func TestPEFTMethods(t *testing.T) {
	for name, o := range map[string]lora.Options{
		"DoRA": {Rank: 2, Alpha: 3, Seed: 1, DoRA: true}, "rsLoRA": {Rank: 2, Alpha: 3, Seed: 1, RankStabilized: true},
		"both": {Rank: 2, Alpha: 3, Seed: 1, DoRA: true, RankStabilized: true},
	} {
		t.Run(name, func(t *testing.T) {
			if *update {
				t.Skip("-update writes the results of TestPEFT")
			}
			r, file := learn(t, kerneltest.Stream(t, cpu.Open), o)
			if file == "" {
				t.Skip("needs the Python package PEFT")
			}
			r.tolerances = tolerances{1e-4, 1e-4}
			r.compare(t, file)
		})
	}
}

// learn trains an adapter of a small model, and returns the results and the file of PEFT's, or "" if Python lacks a package.
func learn(t *testing.T, s *device.Stream, o lora.Options) (r results, file string) {
	t.Helper()
	m := openModel(t, s, llamatest.WriteFolder(t, llamatest.FolderOptions{Architecture: "LlamaForCausalLM", Matrices: weights.F32}))
	a, err := lora.New(s, m.Linears(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if err := m.Adapt(a); err != nil { // makes the norms of DoRA
		t.Fatal(err)
	}
	fill(t, s, a)
	folder := t.TempDir()
	if err := a.Save(t.Context(), s, folder); err != nil {
		t.Fatal(err)
	}
	r.losses, r.gradients = tenSteps(t, s, m.Model, a)
	return r, runPEFT(t, m.folder, folder)
}

// folderModel is a model of a folder.
type folderModel struct {
	*llama.Model
	folder string
}

// openModel loads a model, which is closed when the test ends.
func openModel(t *testing.T, s *device.Stream, folder string) folderModel {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "config.json"))
	if err != nil {
		t.Fatal(err)
	}
	config, err := llama.ParseConfig(text)
	if err != nil {
		t.Fatal(err)
	}
	f, err := formats.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := llama.Load(s, f, llama.LoadOptions{Config: config})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return folderModel{m, folder}
}

// tenSteps returns the losses of ten steps, and the derivatives of the first one.
func tenSteps(t *testing.T, s *device.Stream, m *llama.Model, a *lora.Adapter) (losses []float32, gradients map[string][]float32) {
	t.Helper()
	p, labels, _ := texts()
	opt := train.NewAdamW(a.Params(), train.AdamWOptions{Rate: 1e-2, Decay: 0.01, Clip: 1})
	defer opt.Close()
	for step := range 10 {
		err := tensor.RunOn(t.Context(), s, func(scope *tensor.Scope) error {
			scope.Record()
			x, err := m.Read(scope, p)
			if err != nil {
				return err
			}
			loss := m.Loss(x, labels)
			scope.Backward(loss)
			v, err := tensor.Values[float32](t.Context(), loss)
			if err != nil {
				return err
			}
			losses = append(losses, v[0])
			if step == 0 {
				if gradients, err = a.Gradients(scope); err != nil {
					return err
				}
			}
			return opt.Step(scope)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return losses, gradients
}

// runPEFT runs testdata/judge.py and returns the file that it writes, or "" if Python lacks a package.
func runPEFT(t *testing.T, model, adapter string) string {
	t.Helper()
	python := cmp.Or(os.Getenv("GOPHERWARP_PYTHON"), "python3")
	if out, err := exec.CommandContext(t.Context(), python, "-c", "import peft, torch, transformers").CombinedOutput(); err != nil {
		t.Logf("compared with %s only: %s cannot import peft, torch and transformers: %v\n%s", vectors, python, err, out)
		return ""
	}
	_, _, list := texts()
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "peft.safetensors")
	if *update {
		file = vectors
	}
	var stderr bytes.Buffer
	c := exec.CommandContext(t.Context(), python, "testdata/judge.py", model, adapter, string(text), file)
	c.Stderr = &stderr
	if err := c.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	return file
}

// results are ten losses and the derivatives of the first step, by their names in files.
type results struct {
	losses    []float32
	gradients map[string][]float32
	tolerances
}

// tolerances are those of the norms of differences of all losses and of a derivative, relative to the norm of a vector.
type tolerances struct{ loss, gradient float64 }

// compare compares losses and derivatives with those of a file.
func (r results) compare(t *testing.T, file string) {
	t.Helper()
	f, err := safetensors.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all := map[string][]float32{"losses": r.losses}
	for name, values := range r.gradients {
		all[name] = values
	}
	if len(f.Tensors) != len(all) {
		t.Errorf("%s has %d tensors, want %d", file, len(f.Tensors), len(all))
	}
	worst := 0.0
	for name, got := range all {
		x, err := f.Tensor(name)
		if err != nil {
			t.Error(err)
			continue
		}
		want, err := weights.Values[float32](x)
		if err != nil {
			t.Fatal(err)
		}
		e, most := distance(got, want), r.gradient
		if name == "losses" {
			most = r.loss
		}
		if worst = max(worst, e); !(e <= most) {
			t.Errorf("%s differs from %s by %g of its norm", name, file, e)
		}
	}
	t.Logf("losses %v; the greatest difference from %s is %.2g", r.losses, file, worst)
}

// distance returns the norm of the difference relative to that of want.
func distance(got, want []float32) float64 {
	if len(got) != len(want) {
		return math.Inf(1)
	}
	var sum, of float64
	for i, g := range got {
		d := float64(g) - float64(want[i])
		sum, of = sum+d*d, of+float64(want[i])*float64(want[i])
	}
	return math.Sqrt(sum / of)
}
