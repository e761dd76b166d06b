package llama_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
)

// judge prints the logits that the Python package transformers computes for tokens, for models in several folders and GGUF files, which it
// dequantizes.
const judge = `
import json, os, sys, torch, transformers
for path in sys.argv[2:]:
    folder, name = os.path.split(path) if path.endswith(".gguf") else (path, None)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, gguf_file=name, dtype=torch.float64)
    with torch.no_grad():
        print(json.dumps(model(torch.tensor([json.loads(sys.argv[1])])).logits[0].tolist()))
`

// findPython returns the interpreter of Python that the environment variable GOPHERWARP_PYTHON names, or else python3, and skips the test if it
// cannot execute an import statement.
func findPython(t *testing.T, imports string) string {
	t.Helper()
	python := cmp.Or(os.Getenv("GOPHERWARP_PYTHON"), "python3")
	if out, err := exec.CommandContext(t.Context(), python, "-c", imports).CombinedOutput(); err != nil {
		t.Skipf("%s cannot %s: %v\n%s", python, imports, err, out)
	}
	return python
}

// judged returns the logits that the Python package transformers computes for each model.
func judged(t *testing.T, tokens []int32, paths ...string) (list [][][]float64) {
	t.Helper()
	python := findPython(t, "import gguf, torch, transformers")
	text, err := json.Marshal(tokens)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), python, append([]string{"-c", judge, string(text)}, paths...)...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); len(list) < len(paths); {
		var logits [][]float64
		if err := d.Decode(&logits); err != nil {
			t.Fatal(err)
		}
		list = append(list, logits)
	}
	return list
}

// TestTransformers compares logits with those of the Python package transformers for models of several families.
func TestTransformers(t *testing.T) {
	tokens := prompt(70, 5)
	options := []llamatest.FolderOptions{
		{Architecture: "LlamaForCausalLM", Change: scaled}, {Architecture: "MistralForCausalLM"}, {Architecture: "Qwen2ForCausalLM"}, {Architecture: "Qwen3ForCausalLM"},
	}
	var paths []string
	for _, o := range options {
		paths = append(paths, llamatest.WriteFolder(t, o))
	}
	for i, want := range judged(t, tokens, paths...) {
		t.Run(options[i].Architecture, func(t *testing.T) {
			compareForward(t, paths[i], tokens, want)
		})
	}
}

// TestTransformersGGUF is TestTransformers for GGUF files of all formats of matrices.
func TestTransformersGGUF(t *testing.T) {
	tokens, all := prompt(70, 5), models()
	formats := slices.Sorted(maps.Keys(all))
	var paths []string
	for _, format := range formats {
		paths = append(paths, llamatest.Write(t, all[format]))
	}
	for i, want := range judged(t, tokens, paths...) {
		t.Run(formats[i], func(t *testing.T) {
			compareForward(t, paths[i], tokens, want)
		})
	}
}

// compareForward compares the logits of a model with wanted ones.
func compareForward(t *testing.T, path string, tokens []int32, want [][]float64) {
	t.Helper()
	m, cache, run := load(t, cpu.Open, path)
	compareJudged(t, logitsOf(t, m, cache, run, tokens), want, 1e-5)
}

// compareJudged compares logits with wanted ones. Their distance is at most the given one, relative to the length of the wanted ones.
func compareJudged(t *testing.T, logits []float32, want [][]float64, most float64) {
	t.Helper()
	d := distance(rowsOf(logits), want)
	if t.Logf("the distance is %.2g", d); !(d <= most) {
		t.Errorf("logits differ from those of transformers by %g of their length", d)
	}
}

// rowsOf returns the logits of each token.
func rowsOf(logits []float32) (rows [][]float64) {
	for row := range slices.Chunk(logits, llamatest.Vocabulary) {
		wide := make([]float64, len(row))
		for i, v := range row {
			wide[i] = float64(v)
		}
		rows = append(rows, wide)
	}
	return rows
}
