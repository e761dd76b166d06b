package rerank_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/rerank"
)

var update = flag.Bool("update", false, "TestTransformers writes the files of testdata")

// python runs testdata/judge.py, or skips the test.
func python(t *testing.T, input any, args ...string) []byte {
	t.Helper()
	program := cmp.Or(os.Getenv("GOPHERWARP_PYTHON"), "python3")
	if out, err := exec.CommandContext(t.Context(), program, "-c", "import torch, transformers").CombinedOutput(); err != nil {
		t.Skipf("%s cannot import torch and transformers: %v\n%s", program, err, out)
	}
	in, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), program, append([]string{"testdata/judge.py"}, args...)...)
	var stderr bytes.Buffer
	c.Stdin, c.Stderr = bytes.NewReader(in), &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	return out
}

// compare compares the scores of pairs with those of the judge, and returns the judge's logits.
func compare(t *testing.T, folder string, pairs [][2]string) (want [][2]float64) {
	t.Helper()
	if err := json.Unmarshal(python(t, pairs, "score", folder), &want); err != nil || len(want) != len(pairs) {
		t.Fatalf("%d scores, %v", len(want), err)
	}
	m := open(t, folder, rerank.Options{})
	var list []rerank.Pair
	for _, p := range pairs {
		list = append(list, m.Encode(p[0], p[1])...)
	}
	got, err := m.Logits(t.Context(), list...)
	if err != nil {
		t.Fatal(err)
	}
	var distance, mean, squares float64
	truncated := 0
	for i, v := range got {
		d := max(math.Abs(float64(v)-want[i][0]), math.Abs(float64(m.Relevance(v))-want[i][1]))
		if distance = max(distance, d); !(d <= 1e-5) {
			t.Errorf("pair %d, %.40q: the scores are %v and %v, want %v", i, pairs[i], v, m.Relevance(v), want[i])
		}
		mean, squares = mean+want[i][0]/float64(len(got)), squares+want[i][0]*want[i][0]/float64(len(got))
		if list[i].Truncated {
			truncated++
		}
	}
	t.Logf("%d pairs, %d of them truncated: the largest distance is %.2g; the logits' standard deviation is %.2g", len(got), truncated, distance, math.Sqrt(squares-mean*mean))
	return want
}

// TestTransformers compares scores of models with those of the Python package transformers in float32: the tiny models, whose scores are in
// testdata, and one with the size of MiniLM and random weights. The environment variable GOPHERWARP_PYTHON names another
// interpreter than python3, and GOPHERWARP_MODELS the folder of the models.
func TestTransformers(t *testing.T) {
	for name, of := range tinyTypes {
		t.Run(name, func(t *testing.T) {
			pairs := tinyPairs()
			want := compare(t, tinyModel(t, of), pairs)
			if !*update {
				return
			}
			var list []vector
			for i, p := range pairs {
				list = append(list, vector{p[0], p[1], want[i][0]})
			}
			text, err := json.MarshalIndent(list, "", "\t")
			if err == nil {
				err = os.WriteFile(filepath.Join("testdata", name+".json"), append(text, '\n'), 0o600)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("MiniLM", func(t *testing.T) {
		model := filepath.Join(cmp.Or(os.Getenv("GOPHERWARP_MODELS"), filepath.Join("..", "models")), "all_minilm_l6_v2")
		if _, err := os.Stat(model); err != nil {
			t.Skipf("no model, which make models fetches and GOPHERWARP_MODELS finds elsewhere: %v", err)
		}
		folder := t.TempDir()
		python(t, nil, "make", model, folder)
		compare(t, folder, sentencePairs(t))
	})
}

// sentencePairs returns 200 pairs of sentences of the documentation. Each tenth document is long.
func sentencePairs(t *testing.T) (list [][2]string) {
	t.Helper()
	text, err := os.ReadFile("../docs/serve.md")
	if err != nil {
		t.Fatal(err)
	}
	var sentences []string
	for _, s := range regexp.MustCompile(`[.:]\s`).Split(string(text), -1) {
		if s = strings.Join(strings.Fields(s), " "); len(s) > 20 {
			sentences = append(sentences, s)
		}
	}
	for i := range 200 {
		query, document := sentences[i%len(sentences)], sentences[(i*7+3)%len(sentences)]
		switch i % 20 {
		case 10:
			document = strings.Join(sentences[i/4:i/4+60], ". ")
		case 19:
			query, document = strings.Join(sentences[i/4:i/4+40], ". "), strings.Join(sentences[i/2:i/2+50], ". ")
		}
		list = append(list, [2]string{query, document})
	}
	return list
}
