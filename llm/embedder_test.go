package llm_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/model/llama/llamatest"
)

// openEmbedder opens a model for vectors, which is closed when the test ends, before the device.
func openEmbedder(t *testing.T, dev *device.Device, path string, o llm.EmbedOptions) *llm.Embedder {
	t.Helper()
	e, err := llm.OpenEmbedder(dev, path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(e.Close(), e.Close()); err != nil {
			t.Error(err)
		}
		if owners := dev.Owners(); len(owners) > 0 {
			t.Errorf("memory that was not freed: %v", owners)
		}
	})
	return e
}

// embedJudge prints the last hidden states that the Python package transformers computes for the tokens of texts, pooled and normalized.
const embedJudge = `
import json, sys, torch, transformers
model = transformers.AutoModel.from_pretrained(sys.argv[1], dtype=torch.float64)
result = []
with torch.no_grad():
    for tokens in json.loads(sys.argv[2]):
        h = model(torch.tensor([tokens])).last_hidden_state[0]
        result.append([(x / x.norm()).tolist() for x in (h[-1], h.mean(0))])
print(json.dumps(result))
`

// TestEmbedderTransformers compares vectors with those of the Python package transformers.
func TestEmbedderTransformers(t *testing.T) {
	python := cmp.Or(os.Getenv("GOPHERWARP_PYTHON"), "python3")
	if out, err := exec.CommandContext(t.Context(), python, "-c", "import torch, transformers").CombinedOutput(); err != nil {
		t.Skipf("%s cannot import torch and transformers: %v\n%s", python, err, out)
	}
	folder := llamatest.WriteFolder(t, llamatest.FolderOptions{Architecture: "Qwen3ForCausalLM"})
	texts := [][]int32{{5}, {1, 2, 3, 250, 4}, slices.Repeat([]int32{7, 9, 100}, 50)}
	in, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), python, "-c", embedJudge, folder, string(in))
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	var want [][2][]float64
	if err := json.Unmarshal(out, &want); err != nil {
		t.Fatal(err)
	}
	dev := kerneltest.Device(t, cpu.Open)
	for pooling := range llm.Pooling(2) {
		t.Run(fmt.Sprint(pooling), func(t *testing.T) {
			got, err := openEmbedder(t, dev, folder, llm.EmbedOptions{Pooling: pooling}).EmbedTokens(t.Context(), texts...)
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range got {
				if d := distance(v, want[i][pooling]); !(d < 1e-5) {
					t.Errorf("text %d: the distance is %g", i, d)
				}
			}
		})
	}
}

// distance returns the distance of two vectors.
func distance[T float32 | float64](a []float32, b []T) float64 {
	sum := 0.0
	for i, x := range a {
		sum += (float64(x) - float64(b[i])) * (float64(x) - float64(b[i]))
	}
	return math.Sqrt(sum)
}

// TestEmbedder compares vectors of texts together with those of each text alone, and in small batches, which divide long texts. GPUs round
// activations to bfloat16.
func TestEmbedder(t *testing.T) {
	path := llamatest.Write(t, llamatest.Options{})
	for _, c := range []struct {
		name string
		open kerneltest.Opener
		most float64
	}{{"cpu", cpu.Open, 1e-4}, {"cuda", kerneltest.Executions()["cuda"], 0.03}} {
		t.Run(c.name, func(t *testing.T) {
			dev := kerneltest.Device(t, c.open)
			for pooling := range llm.Pooling(2) {
				t.Run(fmt.Sprint(pooling), func(t *testing.T) {
					testEmbedder(t, openEmbedder(t, dev, path, llm.EmbedOptions{Pooling: pooling}), c.most)
				})
			}
		})
	}
}

// testEmbedder is TestEmbedder for a model. The distance of vectors of one text may be at most the given one.
func testEmbedder(t *testing.T, e *llm.Embedder, most float64) {
	t.Helper()
	texts := []string{"x", "Hello there", strings.Repeat("long ", 30), "Hello there", strings.Repeat("z", 300)}
	all, err := e.Embed(t.Context(), texts...)
	if err != nil || len(all) != len(texts) || e.Width() != llamatest.Hidden || e.MaxTokens() != llamatest.Context {
		t.Fatalf("%d vectors of %d, %d tokens, %v", len(all), e.Width(), e.MaxTokens(), err)
	}
	e.Batch(16)
	for i, text := range texts {
		one, err := e.Embed(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		length := distance(all[i], make([]float32, e.Width()))
		if d := distance(one[0], all[i]); d > most || math.Abs(length-1) > 1e-6 {
			t.Errorf("text %d: the distance is %g, the length %g", i, d, length)
		}
	}
	if distance(all[0], all[1]) < 0.1 || distance(all[1], all[3]) > most {
		t.Error("vectors of different texts are equal, or those of equal texts differ")
	}
	if many, err := e.Embed(t.Context(), slices.Repeat(texts[:1], 100)...); err != nil || len(many) != 100 || distance(many[99], all[0]) > most {
		t.Errorf("100 texts: %d vectors, %v", len(many), err)
	}
	if tokens, all := e.Encode(texts[4]); all || len(tokens) != llamatest.Context {
		t.Errorf("a long text has %d tokens, all %t", len(tokens), all)
	}
}

func TestEmbedderErrors(t *testing.T) {
	dev := kerneltest.Device(t, cpu.Open)
	e := openEmbedder(t, dev, llamatest.Write(t, llamatest.Options{}), llm.EmbedOptions{MaxTokens: 10})
	for want, tokens := range map[error][]int32{llm.ErrRequest: {}, llm.ErrContext: make([]int32, 11)} {
		if _, err := e.EmbedTokens(t.Context(), []int32{1}, tokens); !errors.Is(err, want) {
			t.Errorf("%v: %v, want %v", tokens, err, want)
		}
	}
	if err := e.Check([]int32{1, -1}); !errors.Is(err, llm.ErrRequest) {
		t.Errorf("a token of the wrong range: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if _, err := e.Embed(t.Context(), "x"); !errors.Is(err, llm.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if _, err := llm.OpenEmbedder(dev, t.TempDir(), llm.EmbedOptions{}); !errors.Is(err, llm.ErrFiles) {
		t.Errorf("an empty folder: %v", err)
	}
}
