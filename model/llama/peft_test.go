package llama_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
	"github.com/gopherwarp/gopherwarp/model/lora"
	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/formats"
	"github.com/gopherwarp/gopherwarp/weights/gguf"
)

// adapted is a model with an adapter, as testdata/adapter.py reads it.
type adapted struct {
	Model   string         `json:"model"`
	Adapter string         `json:"adapter,omitempty"`
	Train   map[string]any `json:"train,omitempty"`

	name   string
	logits []float32 // that this package computes
	most   float64   // the distance of the logits from those of PEFT, relative to the length of these
}

// TestPEFT exchanges adapters with the Python package PEFT: this package loads those that PEFT has trained, and PEFT those that this package
// writes. Package transformers loads models into which they were merged, and adapters in GGUF files. All logits are compared.
func TestPEFT(t *testing.T) {
	python := findPython(t, "import gguf, peft, torch, transformers")
	modules := []string{"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"}
	f32 := func(string) weights.Type { return weights.F32 }
	list := []adapted{
		{name: "folder", Model: llamatest.WriteFolder(t, llamatest.FolderOptions{Architecture: "LlamaForCausalLM", Matrices: weights.F32}),
			Train: map[string]any{"r": 3, "lora_alpha": 5, "target_modules": modules}, most: 1e-5},
		{name: "Qwen2", Model: llamatest.WriteFolder(t, llamatest.FolderOptions{Architecture: "Qwen2ForCausalLM", Matrices: weights.F32}),
			Train: map[string]any{"r": 4, "lora_alpha": 4, "target_modules": modules, "use_dora": true, "use_rslora": true}, most: 1e-5},
		{name: "GGUF", Model: llamatest.Write(t, llamatest.Options{Of: f32}),
			Train: map[string]any{"r": 4, "lora_alpha": 6, "target_modules": []string{"q_proj", "k_proj", "down_proj"}, "use_rslora": true, "lora_dropout": 0.1}, most: 1e-5},
		{name: "Q4_1", Model: llamatest.Write(t, llamatest.Options{Matrices: weights.Q4_1}),
			Train: map[string]any{"r": 2, "lora_alpha": 2, "target_modules": modules}, most: 1e-5},
	}
	for i := range list {
		list[i].Adapter = t.TempDir()
	}
	tokens := prompt(40, 3)
	trained := judgeAdapted(t, python, tokens, list)
	var others []adapted
	for i, x := range list {
		others = append(others, x.exchange(t, tokens, trained[i])...)
	}
	for i, want := range judgeAdapted(t, python, tokens, others) {
		t.Run(others[i].name, func(t *testing.T) { compareJudged(t, others[i].logits, want, others[i].most) })
	}
}

// exchange compares the logits with the adapter of PEFT, and returns what PEFT computes next: an adapter of this package, and other forms of both.
func (x adapted) exchange(t *testing.T, tokens []int32, want [][]float64) (list []adapted) {
	t.Helper()
	m, cache, run := load(t, cpu.Open, x.Model)
	logits := func(folder string) []float32 {
		a, err := lora.Open(streamOf(run), m.Linears(), folder)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := a.Close(); err != nil {
				t.Error(err)
			}
		})
		if err := m.Adapt(a); err != nil {
			t.Fatal(err)
		}
		return logitsOf(t, m, cache, run, tokens)
	}
	plain := logitsOf(t, m, cache, run, tokens)
	x.logits = logits(x.Adapter)
	if d := apart(x.logits, plain); !(d > 0.05) {
		t.Errorf("%s: the adapter changes logits by %g", x.name, d)
	}
	t.Run(x.name, func(t *testing.T) { compareJudged(t, x.logits, want, x.most) })
	ours := adapted{name: x.name + "/ours", Model: x.Model, Adapter: writeAdapter(t, streamOf(run), m, lora.Options{DoRA: x.name == "Qwen2"}), most: x.most}
	ours.logits, x.name = logits(ours.Adapter), x.name+"/PEFT"
	return append(append(x.forms(t, m.Config), ours), ours.forms(t, m.Config)...)
}

// forms returns the model with the adapter in its weights and, unless GGUF files cannot have it, with the adapter in a GGUF file.
func (x adapted) forms(t *testing.T, c llama.Config) []adapted {
	t.Helper()
	merged := adapted{name: x.name + " merged", Model: merge(t, c, x.Model, x.Adapter), logits: x.logits, most: x.most}
	if strings.HasPrefix(x.name, "Q4_1") {
		merged.most = 2e-3 // merged weights are float16
	}
	if filepath.Ext(x.Model) != ".gguf" {
		return []adapted{merged}
	}
	x.name, x.Train, x.Adapter = x.name+" exported", nil, export(t, c, x.Model, x.Adapter)
	return []adapted{merged, x}
}

// export writes the GGUF file of an adapter, and returns its path.
func export(t *testing.T, c llama.Config, model, adapter string) string {
	t.Helper()
	f, err := formats.Open(model)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	o, list, err := lora.Read(c.Linears(), adapter)
	if err != nil {
		t.Fatal(err)
	}
	x, err := c.ExportAdapter(f, o, list)
	path := filepath.Join(t.TempDir(), "adapter.gguf")
	if err := errors.Join(err, gguf.Save(path, x)); err != nil {
		t.Fatal(err)
	}
	return path
}

// judgeAdapted returns the logits that testdata/adapter.py computes.
func judgeAdapted(t *testing.T, python string, tokens []int32, cases []adapted) (logits [][][]float64) {
	t.Helper()
	text, err := json.Marshal(map[string]any{"tokens": tokens, "cases": cases})
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), python, "testdata/adapter.py")
	var stderr bytes.Buffer
	c.Stdin, c.Stderr = bytes.NewReader(text), &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	if err := json.Unmarshal(out, &logits); err != nil {
		t.Fatal(err)
	}
	return logits
}
