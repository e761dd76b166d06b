package random_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/bench/random"
	"github.com/gopherwarp/gopherwarp/llm"
	"github.com/gopherwarp/gopherwarp/model/llama"
	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/gguf"
)

// small returns the shape of a small model.
func small() random.Shape {
	return random.Shape{Layers: 8, Hidden: 256, FFN: 512, Heads: 4, KeyHeads: 2, HeadDim: 64, Vocabulary: 600, Context: 300}
}

// config is the Config of the models with the shape that small returns, as far as the tests compare it.
func config(c llama.Config) random.Shape {
	return random.Shape{Layers: c.Layers, Hidden: c.Hidden, FFN: c.FFN, Heads: c.Heads, KeyHeads: c.KeyHeads, HeadDim: c.HeadDim, Vocabulary: c.Vocabulary, Context: c.Context}
}

// mixture returns a mixture.
func mixture(t *testing.T, name string) random.Mixture {
	t.Helper()
	m, err := random.ParseMixture(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// check tests the parts of a model beside its weights.
func check(t *testing.T, f *llm.Files) {
	t.Helper()
	c := f.Config
	if c == (llama.Config{}) {
		var err error
		if c, err = llama.ConfigOf(f.Weights); err != nil {
			t.Fatal(err)
		}
	}
	if got := config(c); got != small() || c.Tied || c.Base != 500000 {
		t.Errorf("config %+v", c)
	}
	if f.Template == nil || !slices.Equal(f.Ends, []int32{345, 353}) && !slices.Equal(f.Ends, []int32{353}) {
		t.Errorf("template %v, ends %v", f.Template, f.Ends)
	}
	want := []int32{344, 'H', 'i', 256 + 28, 353}
	if ids := f.Tokenizer.Encode("Hi qcb<|eot_id|>"); !slices.Equal(ids, want) {
		t.Errorf("tokens %v, want %v", ids, want)
	}
}

// TestGGUF tests a file of several types of matrices.
func TestGGUF(t *testing.T) {
	name := filepath.Join(t.TempDir(), "model.gguf")
	if err := random.WriteFile(name, small(), random.Options{Mixture: mixture(t, "Q4_K_M"), Seed: 1}); err != nil {
		t.Fatal(err)
	}
	f, err := llm.OpenFiles(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Weights.Close()
	check(t, f)
	types := map[string]weights.Type{}
	for _, m := range f.Weights.Tensors {
		types[m.Name()] = m.Type()
	}
	for name, want := range map[string]weights.Type{
		"token_embd.weight": weights.Q4_K, "output.weight": weights.Q6_K, "output_norm.weight": weights.F32, "blk.0.ffn_down.weight": weights.Q6_K,
		"blk.1.ffn_down.weight": weights.Q4_K, "blk.3.attn_v.weight": weights.Q6_K, "blk.7.attn_v.weight": weights.Q6_K, "blk.0.attn_k.weight": weights.Q4_K,
	} {
		if types[name] != want {
			t.Errorf("%s is of type %v, want %v", name, types[name], want)
		}
	}
}

// TestFolder tests a folder.
func TestFolder(t *testing.T) {
	folder := t.TempDir()
	if err := random.WriteFolder(folder, small(), 1); err != nil {
		t.Fatal(err)
	}
	f, err := llm.OpenFiles(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Weights.Close()
	check(t, f)
}

// matrix returns the weights of a matrix.
func matrix(t *testing.T, o random.Options) []float32 {
	t.Helper()
	f, err := random.GGUF(small(), o)
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.Tensor("blk.1.ffn_up.weight")
	if err != nil {
		t.Fatal(err)
	}
	if m, err = gguf.Float32(m); err != nil {
		t.Fatal(err)
	}
	w, err := weights.Values[float32](m)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestVariance tests that weights keep the magnitude of activations.
func TestVariance(t *testing.T) {
	for _, name := range []string{"BF16", "F16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K"} {
		var sum float64
		w := matrix(t, random.Options{Mixture: mixture(t, name), Seed: 1})
		for _, v := range w {
			sum += float64(v) * float64(v)
		}
		if variance := sum / float64(len(w)) * 256; !(variance > 0.8 && variance < 1.25) {
			t.Errorf("%s: the variance is %.2f of that which keeps the magnitude", name, variance)
		}
	}
}

// TestSeed tests that weights depend on the seed alone.
func TestSeed(t *testing.T) {
	m := mixture(t, "Q8_0")
	a, b, c := matrix(t, random.Options{Mixture: m, Seed: 1}), matrix(t, random.Options{Mixture: m, Seed: 1}), matrix(t, random.Options{Mixture: m, Seed: 2})
	if !slices.Equal(a, b) || slices.Equal(a, c) {
		t.Errorf("weights %v of seed 1, then %v, and %v of seed 2", a[:4], b[:4], c[:4])
	}
}

// TestMistakes tests a shape that does not fit and a name that no mixture has.
func TestMistakes(t *testing.T) {
	s := small()
	s.Hidden = 224
	if err := random.WriteFile(filepath.Join(t.TempDir(), "model.gguf"), s, random.Options{Mixture: mixture(t, "Q4_K")}); !errors.Is(err, weights.ErrFormat) {
		t.Errorf("blocks that do not fit: %v", err)
	}
	s = small()
	s.Vocabulary = 500
	if _, err := random.GGUF(s, random.Options{Mixture: mixture(t, "BF16")}); err == nil {
		t.Error("a small vocabulary is no error")
	}
	if _, err := random.ParseMixture("Q9"); err == nil {
		t.Error("Q9 is a mixture")
	}
}
