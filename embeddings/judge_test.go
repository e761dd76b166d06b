package embeddings_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/embeddings"
)

// sentences returns 1,000 sentences of the documentation.
func sentences(t *testing.T) (list []string) {
	t.Helper()
	files, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	end, known := regexp.MustCompile(`[.:]\s`), map[string]bool{}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range end.Split(string(text), -1) {
			s = strings.Join(strings.Fields(s), " ")
			if len(list) < 1000 && len(s) > 20 && !known[s] {
				known[s], list = true, append(list, s)
			}
		}
	}
	if len(list) < 1000 {
		t.Fatalf("the documentation has %d sentences", len(list))
	}
	return list
}

// judged returns the vectors that testdata/judge.py computes.
func judged(t *testing.T, model string, texts []string) (list [][]float32) {
	t.Helper()
	python := cmp.Or(os.Getenv("GOPHERWARP_PYTHON"), "python3")
	if out, err := exec.CommandContext(t.Context(), python, "-c", "import torch, transformers").CombinedOutput(); err != nil {
		t.Skipf("%s cannot import torch and transformers: %v\n%s", python, err, out)
	}
	in, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), python, "testdata/judge.py", model)
	var stderr bytes.Buffer
	c.Stdin, c.Stderr = bytes.NewReader(in), &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	if err := json.Unmarshal(out, &list); err != nil || len(list) != len(texts) {
		t.Fatalf("%d vectors, %v", len(list), err)
	}
	return list
}

// TestTransformers compares vectors of 1,000 sentences with those of the Python package transformers in float32, on the machine's device. The
// environment variable GOPHERWARP_PYTHON names another interpreter than python3, and GOPHERWARP_MODELS the folder of the models.
func TestTransformers(t *testing.T) {
	model := filepath.Join(cmp.Or(os.Getenv("GOPHERWARP_MODELS"), filepath.Join("..", "models")), "all_minilm_l6_v2")
	if _, err := os.Stat(model); err != nil {
		t.Skipf("no model, which make models fetches and GOPHERWARP_MODELS finds elsewhere: %v", err)
	}
	texts := sentences(t)
	want := judged(t, model, texts)
	dev, err := gopherwarp.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	for _, of := range []dtype.Type{dtype.Float32, dtype.Invalid} { // the latter is the device's own choice
		m, err := embeddings.Open(dev, model, embeddings.Options{DType: of})
		if err != nil {
			t.Fatal(err)
		}
		got, err := m.Embed(t.Context(), texts...)
		if err != nil {
			t.Fatal(err)
		}
		least, bound := 1.0, map[dtype.Type]float64{dtype.Float32: 0.99999, dtype.Float16: 0.999}[m.DType()]
		for i, v := range got {
			s := embeddings.Similarity(v, want[i])
			if least = min(least, s); !(s >= bound) {
				t.Errorf("%v: the cosine of %q is %v", m.DType(), texts[i], s)
			}
		}
		t.Logf("%v, %v: cosines of %d sentences are at least %.9f", dev.Info(), m.DType(), len(got), least)
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}
