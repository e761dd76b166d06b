package embeddings_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/embeddings"
	"github.com/gopherwarp/gopherwarp/model/bert"
	"github.com/gopherwarp/gopherwarp/model/bert/berttest"
	"github.com/gopherwarp/gopherwarp/tokenizer"
)

// open opens the model of a folder on the CPU.
func open(t *testing.T, folder string, o embeddings.Options) *embeddings.Model {
	t.Helper()
	dev := openCPU(t)
	m, err := embeddings.Open(dev, folder, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		if owners := dev.Owners(); len(owners) > 0 {
			t.Errorf("memory that was not freed: %v", owners)
		}
	})
	return m
}

func openCPU(t *testing.T) *device.Device {
	t.Helper()
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	return dev
}

// minilm is the folder of all-MiniLM-L6-v2, which make models fetches.
const minilm = "../models/all_minilm_l6_v2"

// TestMiniLM compares vectors of texts in several scripts, an empty one and one that is too long, with those that transformers 4.57
// computed in float32.
func TestMiniLM(t *testing.T) {
	if _, err := os.Stat(minilm); err != nil {
		t.Skipf("%v: make models fetches the model", err)
	}
	m := open(t, minilm, embeddings.Options{})
	text, err := os.ReadFile("testdata/minilm.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []struct {
		Text   string
		Vector []float32
	}
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, x := range list {
		texts = append(texts, x.Text)
	}
	vectors, err := m.Embed(t.Context(), texts...)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range list {
		for j, want := range x.Vector {
			if got := vectors[i][j]; !(math.Abs(float64(got-want)) <= 2e-6) {
				t.Errorf("%.20q: element %d is %v, want %v", x.Text, j, got, want)
				break
			}
		}
	}
}

// TestEmbed compares vectors of texts together with those of each alone.
func TestEmbed(t *testing.T) {
	m := open(t, berttest.WriteFolder(t, berttest.Options{Pooling: "pooling_mode_mean_tokens"}), embeddings.Options{BatchTokens: 12})
	texts := []string{"the cat sat on the mat.", "", "a dog", "unknown words?", "red red red red red red red red red red red red red red red red red red red red red red red red red red"}
	together, err := m.Embed(t.Context(), texts...)
	if err != nil || len(together) != len(texts) {
		t.Fatalf("%d vectors, %v", len(together), err)
	}
	for i, text := range texts {
		alone, err := m.Embed(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		if s := embeddings.Similarity(alone[0], together[i]); !(s > 1-1e-9) || len(alone[0]) != m.Width() {
			t.Errorf("%q: similarity %v", text, s)
		}
		var squares float64
		for _, v := range alone[0] {
			squares += float64(v) * float64(v)
		}
		if math.Abs(squares-1) > 1e-5 {
			t.Errorf("%q: the square of the length is %v", text, squares)
		}
	}
	if tokens, all := m.Encode(texts[4]); len(tokens) != 24 || all || m.MaxTokens() != 24 || tokens[23] != 3 {
		t.Errorf("a long text has tokens %v, %v", tokens, all)
	}
	if tokens, all := m.Encode("a dog"); len(tokens) != 4 || !all {
		t.Errorf("a short text has tokens %v, %v", tokens, all)
	}
}

// TestPooling opens models with each method of pooling.
func TestPooling(t *testing.T) {
	vectors := map[string][]float32{}
	for _, flag := range []string{"", "pooling_mode_mean_tokens", "pooling_mode_max_tokens", "pooling_mode_cls_token"} {
		v, err := open(t, berttest.WriteFolder(t, berttest.Options{Pooling: flag}), embeddings.Options{}).Embed(t.Context(), "the cat sat")
		if err != nil {
			t.Fatal(err)
		}
		vectors[flag] = v[0]
	}
	for mode, flag := range map[string]string{`"mean"`: "pooling_mode_mean_tokens", `["cls"]`: "pooling_mode_cls_token", `"max"`: "pooling_mode_max_tokens"} {
		folder := berttest.WriteFolder(t, berttest.Options{Pooling: flag})
		text := fmt.Sprintf(`{"embedding_dimension": %d, "pooling_mode": %s, "include_prompt": true}`, berttest.Hidden, mode)
		if err := os.WriteFile(filepath.Join(folder, "1_Pooling", "config.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		v, err := open(t, folder, embeddings.Options{}).Embed(t.Context(), "the cat sat")
		if err != nil || !slices.Equal(v[0], vectors[flag]) {
			t.Errorf("%s: %v, want %v; %v", mode, v, vectors[flag], err)
		}
	}
	same := func(a, b string) bool { return embeddings.Similarity(vectors[a], vectors[b]) > 1-1e-9 }
	if !same("", "pooling_mode_mean_tokens") || same("", "pooling_mode_max_tokens") || same("", "pooling_mode_cls_token") || same("pooling_mode_max_tokens", "pooling_mode_cls_token") {
		t.Errorf("got %v", vectors)
	}
}

// TestHead opens a model that has a classification head, which vectors do not need.
func TestHead(t *testing.T) {
	for _, of := range []string{"bert", "roberta", "xlm-roberta", "camembert"} {
		var list [][]float32
		for _, o := range []berttest.Options{{Type: of}, {Type: of, Labels: 3}} { // the encoder is the same
			m := open(t, berttest.WriteFolder(t, o), embeddings.Options{})
			v, err := m.Embed(t.Context(), "a dog")
			if err != nil || len(v) != 1 || len(v[0]) != berttest.Hidden || m.MaxTokens() != berttest.Positions {
				t.Fatalf("%s: %d vectors of texts with up to %d tokens, %v", of, len(v), m.MaxTokens(), err)
			}
			list = append(list, v[0])
		}
		if !slices.Equal(list[0], list[1]) {
			t.Errorf("%s: the vectors are %v without a head, and %v", of, list[0], list[1])
		}
	}
}

// TestOpenMistakes opens folders that have no supported model.
func TestOpenMistakes(t *testing.T) {
	write := func(name, contents string) func(folder string) error {
		return func(folder string) error { return os.WriteFile(filepath.Join(folder, name), []byte(contents), 0o600) }
	}
	remove := func(name string) func(folder string) error {
		return func(folder string) error { return os.Remove(filepath.Join(folder, name)) }
	}
	for name, c := range map[string]struct {
		change func(folder string) error
		want   error
	}{
		"no config": {remove("config.json"), embeddings.ErrModel}, "no weights": {remove("model.safetensors"), embeddings.ErrModel},
		"no tokenizer": {remove("tokenizer.json"), os.ErrNotExist}, "no pooling": {remove("1_Pooling/config.json"), embeddings.ErrModel},
		"dense":  {write("modules.json", `[{"path": "", "type": "a.Transformer"}, {"path": "2_Dense", "type": "a.Dense"}]`), embeddings.ErrModel},
		"escape": {write("modules.json", `[{"path": "../x", "type": "a.Pooling"}]`), embeddings.ErrModel}, "syntax": {write("modules.json", `{`), embeddings.ErrModel},
		"two methods": {write("1_Pooling/config.json", `{"pooling_mode_cls_token": true, "pooling_mode_max_tokens": true}`), embeddings.ErrModel},
		"last":        {write("1_Pooling/config.json", `{"pooling_mode": "lasttoken"}`), embeddings.ErrModel}, "number": {write("1_Pooling/config.json", `{"pooling_mode": 1}`), embeddings.ErrModel},
		"list": {write("1_Pooling/config.json", `{"pooling_mode": ["mean", "cls"]}`), embeddings.ErrModel}, "no list": {write("1_Pooling/config.json", `{"pooling_mode": []}`), embeddings.ErrModel},
		"last token": {write("1_Pooling/config.json", `{"pooling_mode_lasttoken": true}`), embeddings.ErrModel},
		"language":   {write("config.json", `{"model_type": "llama"}`), bert.ErrArchitecture}, "bad tokenizer": {write("tokenizer.json", `{}`), tokenizer.ErrFormat},
	} {
		folder := berttest.WriteFolder(t, berttest.Options{Pooling: "pooling_mode_mean_tokens"})
		if err := c.change(folder); err != nil {
			t.Fatal(err)
		}
		if _, err := embeddings.Open(openCPU(t), folder, embeddings.Options{}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

// TestConcurrent uses a Model in several goroutines, one of which closes it.
func TestConcurrent(t *testing.T) {
	m := open(t, berttest.WriteFolder(t, berttest.Options{}), embeddings.Options{})
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for range 5 {
				if _, err := m.Embed(t.Context(), "a red cat"); err != nil && !errors.Is(err, embeddings.ErrClosed) {
					t.Error(err)
				}
			}
			if i == 0 {
				if err := m.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if _, err := m.Embed(t.Context(), "a"); !errors.Is(err, embeddings.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// TestCanceled uses a context that is done.
func TestCanceled(t *testing.T) {
	m := open(t, berttest.WriteFolder(t, berttest.Options{}), embeddings.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Embed(ctx, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := m.EmbedTokens(t.Context(), []int32{1}, nil); !errors.Is(err, bert.ErrLength) {
		t.Errorf("an empty text: %v", err)
	}
}

func TestSupports(t *testing.T) {
	if folder := berttest.WriteFolder(t, berttest.Options{}); !embeddings.Supports(folder) || embeddings.Supports(filepath.Join(folder, "config.json")) || embeddings.Supports(t.TempDir()) {
		t.Error("a folder with an encoder, a file, or an empty folder")
	}
	for _, of := range []string{"roberta", "xlm-roberta", "camembert"} {
		if !embeddings.Supports(berttest.WriteFolder(t, berttest.Options{Type: of})) {
			t.Error(of)
		}
	}
	if embeddings.Supports(berttest.WriteFolder(t, berttest.Options{Change: func(c map[string]any) { c["model_type"] = "llama" }})) {
		t.Error("a language model")
	}
}

func TestSimilarity(t *testing.T) {
	for _, c := range []struct {
		a, b []float32
		want float64
	}{{[]float32{1, 0}, []float32{0, 2}, 0}, {[]float32{3, 4}, []float32{6, 8}, 1}, {[]float32{1, 1}, []float32{-2, -2}, -1}, {[]float32{0, 0}, []float32{1, 1}, 0}} {
		if got := embeddings.Similarity(c.a, c.b); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%v, %v: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}
