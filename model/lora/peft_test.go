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

// lesson is sequences to learn, and how.
type lesson struct {
	llama.Packed
	labels []int32                                               // the token to learn after each token, or -1
	rate   float64                                               // of the optimizer
	fill   func(t *testing.T, s *device.Stream, a *lora.Adapter) // sets all parameters
}

// add adds a sequence.
func (l *lesson) add(tokens, labels []int32) {
	l.Tokens, l.Lengths, l.labels = append(l.Tokens, tokens...), append(l.Lengths, len(tokens)), append(l.labels, labels...)
}

// texts returns the tokens and labels of each sequence.
func (l lesson) texts() (list [][2][]int32) {
	at := 0
	for _, n := range l.Lengths {
		list = append(list, [2][]int32{l.Tokens[at : at+n], l.labels[at : at+n]})
		at += n
	}
	return list
}

// small is the lesson of a model of package llamatest.
func small() (l lesson) {
	l.rate, l.fill = 1e-2, fill
	for i, n := range []int{13, 70, 2} {
		var tokens, labels []int32
		for j := range n {
			label := int32((i*17 + (j+1)*(j+1)*5 + 3) % llamatest.Vocabulary)
			if (i+j)%3 == 0 {
				label = -1
			}
			tokens, labels = append(tokens, int32((i*17+j*j*5+3)%llamatest.Vocabulary)), append(labels, label)
		}
		l.add(tokens, labels)
	}
	return l
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
	x := small()
	r, adapter := m.learn(t, s, o, x)
	python, ok := findPEFT(t)
	if !ok {
		return r, ""
	}
	file = filepath.Join(t.TempDir(), "peft.safetensors")
	if *update {
		file = vectors
	}
	judge{model: m.path, adapter: adapter, lesson: x, dtype: "float64"}.write(t, python, file)
	return r, file
}

// learn trains an adapter, and returns the results and the folder with the adapter before.
func (m opened) learn(t *testing.T, s *device.Stream, o lora.Options, x lesson) (r results, folder string) {
	t.Helper()
	a, err := lora.New(s, m.Linears(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if err := m.Adapt(a); err != nil { // makes the norms of DoRA
		t.Fatal(err)
	}
	x.fill(t, s, a)
	folder = t.TempDir()
	if err := a.Save(t.Context(), s, folder); err != nil {
		t.Fatal(err)
	}
	r.losses, r.gradients = x.tenSteps(t, s, m.Model, a)
	return r, folder
}

// opened is a model, and the path of its folder or GGUF file.
type opened struct {
	*llama.Model
	path string
}

// openModel loads a model, which is closed when the test ends.
func openModel(t *testing.T, s *device.Stream, path string) opened {
	t.Helper()
	f, err := formats.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var o llama.LoadOptions
	if f.Format == "safetensors" {
		text, err := os.ReadFile(filepath.Join(path, "config.json"))
		if err != nil {
			t.Fatal(err)
		}
		if o.Config, err = llama.ParseConfig(text); err != nil {
			t.Fatal(err)
		}
	}
	m, err := llama.Load(s, f, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return opened{m, path}
}

// tenSteps returns the losses of ten steps, and the derivatives of the first one.
func (x lesson) tenSteps(t *testing.T, s *device.Stream, m *llama.Model, a *lora.Adapter) (losses []float32, slopes map[string][]float32) {
	t.Helper()
	opt := train.NewAdamW(a.Params(), train.AdamWOptions{Rate: x.rate, Decay: 0.01, Clip: 1})
	defer opt.Close()
	for step := range 10 {
		err := tensor.RunOn(t.Context(), s, func(scope *tensor.Scope) error {
			scope.Record()
			y, err := m.Read(scope, x.Packed)
			if err != nil {
				return err
			}
			loss := m.Loss(y, x.labels)
			scope.Backward(loss)
			v, err := tensor.Values[float32](t.Context(), loss)
			if err != nil {
				return err
			}
			losses = append(losses, v[0])
			if step == 0 {
				if slopes, err = gradients(scope, a); err != nil {
					return err
				}
			}
			return opt.Step(scope)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return losses, slopes
}

// findPEFT returns the interpreter of Python that GOPHERWARP_PYTHON names, and reports whether it has the packages of testdata/judge.py.
func findPEFT(t *testing.T) (python string, ok bool) {
	t.Helper()
	python = cmp.Or(os.Getenv("GOPHERWARP_PYTHON"), "python3")
	out, err := exec.CommandContext(t.Context(), python, "-c", "import gguf, peft, torch, transformers").CombinedOutput()
	if err != nil {
		t.Logf("%s cannot import gguf, peft, torch and transformers: %v\n%s", python, err, out)
	}
	return python, err == nil
}

// judge is what testdata/judge.py computes.
type judge struct {
	model, adapter string // folders, or a GGUF file of the model
	lesson
	dtype string // of PyTorch
}

// write writes a file of the results.
func (j judge) write(t *testing.T, python, file string) {
	t.Helper()
	text, err := json.Marshal(map[string]any{"texts": j.texts(), "rate": j.rate, "dtype": j.dtype})
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	c := exec.CommandContext(t.Context(), python, "testdata/judge.py", j.model, j.adapter, string(text), file)
	c.Stderr = &stderr
	if err := c.Run(); err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
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
	worst := map[bool]float64{} // of the losses, and of the derivatives
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
		e, most, loss := distance(got, want), r.gradient, name == "losses"
		if loss {
			most = r.loss
		}
		if worst[loss] = max(worst[loss], e); !(e <= most) {
			t.Errorf("%s differs from %s by %g of its norm", name, file, e)
		}
	}
	t.Logf("losses %v; the greatest differences from %s are %.2g of the losses and %.2g of one of %d derivatives", r.losses, file, worst[true], worst[false], len(r.gradients))
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
