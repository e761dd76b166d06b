package rerank_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/model/bert"
	"github.com/gopherwarp/gopherwarp/model/bert/berttest"
	"github.com/gopherwarp/gopherwarp/rerank"
	"github.com/gopherwarp/gopherwarp/tokenizer"
)

// open opens the model of a folder on the CPU.
func open(t *testing.T, folder string, o rerank.Options) *rerank.Model {
	t.Helper()
	dev := openCPU(t)
	m, err := rerank.Open(dev, folder, o)
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

// tinyFolder writes the tiny model.
func tinyFolder(t *testing.T) string { return tinyModel(t, "bert") }

// tinyTypes are the types of the tiny models, by the names of the files with their scores.
var tinyTypes = map[string]string{"tiny": "bert", "tiny-roberta": "roberta", "tiny-xlm-roberta": "xlm-roberta"}

// tinyModel writes the tiny model of a type.
func tinyModel(t *testing.T, of string) string {
	t.Helper()
	return berttest.WriteFolder(t, berttest.Options{Seed: 5, Labels: 1, Type: of})
}

// vector is a pair with its logit.
type vector struct {
	Query    string  `json:"query"`
	Document string  `json:"document"`
	Logit    float64 `json:"logit"`
}

// tinyPairs returns pairs for the tiny models, whose positions are 40: some of them are truncated.
func tinyPairs() (list [][2]string) {
	words := []string{"the", "cat", "sat", "a", "dog", "runs", "mat", "on", ".", "?", "red", "cats", "unknown"}
	text := func(n, seed int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(words[(i*i+seed*(i+1))%len(words)] + " ")
		}
		return b.String()
	}
	for i, n := range [][2]int{{1, 1}, {3, 4}, {0, 5}, {5, 0}, {4, 17}, {17, 4}, {18, 19}, {19, 19}, {3, 70}, {70, 3}, {25, 60}, {60, 60}} {
		list = append(list, [2]string{text(n[0], i), text(n[1], i+5)})
	}
	return list
}

// TestVectors compares scores with those that transformers 5.24 computed in float32: see TestTransformers.
func TestVectors(t *testing.T) {
	for name, of := range tinyTypes {
		text, err := os.ReadFile(filepath.Join("testdata", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var list []vector
		if err := json.Unmarshal(text, &list); err != nil || len(list) != len(tinyPairs()) {
			t.Fatalf("%s: %d vectors, %v", name, len(list), err)
		}
		m := open(t, tinyModel(t, of), rerank.Options{})
		for i, x := range list {
			if p := tinyPairs()[i]; x.Query != p[0] || x.Document != p[1] {
				t.Errorf("%s: vector %d is of another pair", name, i)
			}
			got, err := m.Rank(t.Context(), x.Query, x.Document)
			if want := 1 / (1 + math.Exp(-x.Logit)); err != nil || len(got) != 1 || !(math.Abs(float64(got[0].Relevance)-want) <= 1e-5) {
				t.Errorf("%s: the scores of pair %d are %v, want %v; %v", name, i, got, want, err)
			}
		}
	}
}

// TestRank compares scores of documents together, in several batches, with those of each alone, and checks their order.
func TestRank(t *testing.T) {
	m := open(t, tinyFolder(t), rerank.Options{BatchTokens: 20})
	documents := []string{"the cat sat on the mat.", "", "a dog", "a dog", "unknown words?", strings.Repeat("red ", 50)}
	list, err := m.Rank(t.Context(), "a red cat", documents...)
	if err != nil || len(list) != len(documents) {
		t.Fatalf("%v, %v", list, err)
	}
	for i, s := range list {
		if i > 0 && !(s.Relevance < list[i-1].Relevance || s.Relevance == list[i-1].Relevance && s.Index > list[i-1].Index) {
			t.Errorf("the order is %v", list)
		}
		alone, err := m.Rank(t.Context(), "a red cat", documents[s.Index])
		if err != nil || len(alone) != 1 || !(math.Abs(float64(alone[0].Relevance-s.Relevance)) <= 1e-6) {
			t.Errorf("%q: %v, alone %v; %v", documents[s.Index], s, alone, err)
		}
	}
	if list, err := m.Rank(t.Context(), "a"); len(list) != 0 || err != nil {
		t.Errorf("without documents: %v, %v", list, err)
	}
}

// TestEncode checks tokens, types and truncation.
func TestEncode(t *testing.T) {
	m := open(t, tinyFolder(t), rerank.Options{})
	p := m.Encode("the cat", "a dog sat", strings.Repeat("red ", 50))
	if got := fmt.Sprint(p[0]); got != "{{[2 5 6 3 8 9 7 3] [0 0 0 0 1 1 1 1]} false}" {
		t.Errorf("got %s", got)
	}
	if n := len(p[1].Tokens); n != m.MaxTokens() || n != berttest.Positions || !p[1].Truncated || p[1].Tokens[n-1] != 3 || p[1].Types[n-1] != 1 {
		t.Errorf("a long document has %+v", p[1])
	}
	short := berttest.WriteFolder(t, berttest.Options{Labels: 1})
	if err := os.WriteFile(filepath.Join(short, "tokenizer_config.json"), []byte(`{"model_max_length": 9}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if p := open(t, tinyModel(t, "xlm-roberta"), rerank.Options{}).Encode("the cat", "a dog sat"); fmt.Sprint(p[0]) != "{{[0 5 6 2 2 8 9 7 2] []} false}" {
		t.Errorf("a pair for XLM-RoBERTa is %v", p[0])
	}
	if m := open(t, short, rerank.Options{}); m.MaxTokens() != 9 || len(m.Encode("the cat sat on the mat", "a dog runs")[0].Tokens) != 9 {
		t.Errorf("model_max_length has no effect: %d", m.MaxTokens())
	}
}

// TestActivation opens models with each activation.
func TestActivation(t *testing.T) {
	for activation, sigmoid := range map[string]bool{"": true, "torch.nn.modules.activation.Sigmoid": true, "torch.nn.modules.linear.Identity": false} {
		for _, old := range []bool{true, false} {
			folder := berttest.WriteFolder(t, berttest.Options{Labels: 1, Change: func(c map[string]any) {
				switch {
				case activation == "":
				case old:
					c["sbert_ce_default_activation_function"] = activation
				default:
					c["sentence_transformers"] = map[string]any{"activation_fn": activation, "version": "5.0"}
				}
			}})
			m := open(t, folder, rerank.Options{})
			if got := m.Relevance(-2); sigmoid && math.Abs(float64(got)-0.119202922) > 1e-7 || !sigmoid && got != -2 {
				t.Errorf("%q, old %v: the relevance of -2 is %v", activation, old, got)
			}
		}
	}
	folder := berttest.WriteFolder(t, berttest.Options{Labels: 1, Change: func(c map[string]any) { c["sbert_ce_default_activation_function"] = "torch.nn.Sigmoid" }})
	if err := os.WriteFile(filepath.Join(folder, "config_sentence_transformers.json"), []byte(`{"activation_fn": "torch.nn.modules.linear.Identity"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := open(t, folder, rerank.Options{}).Relevance(-2); got != -2 {
		t.Errorf("with config_sentence_transformers.json, the relevance of -2 is %v", got)
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
	config := func(key string, value any) func(folder string) error {
		return func(folder string) error {
			var c map[string]any
			text, err := os.ReadFile(filepath.Join(folder, "config.json"))
			if err == nil {
				err = json.Unmarshal(text, &c)
			}
			c[key] = value
			if err == nil {
				text, err = json.Marshal(c)
			}
			return errors.Join(err, write("config.json", string(text))(folder))
		}
	}
	for name, c := range map[string]struct {
		change func(folder string) error
		want   error
		text   string
	}{
		"no config": {remove("config.json"), rerank.ErrModel, ""}, "no weights": {remove("model.safetensors"), rerank.ErrModel, ""},
		"no tokenizer": {remove("tokenizer.json"), os.ErrNotExist, ""}, "bad tokenizer": {write("tokenizer.json", `{}`), tokenizer.ErrFormat, ""},
		"syntax": {write("tokenizer_config.json", `{`), rerank.ErrModel, "tokenizer_config.json"}, "activation": {config("sbert_ce_default_activation_function", "torch.nn.Tanh"), rerank.ErrModel, "torch.nn.Tanh"},
		"encoder":  {config("architectures", []string{"BertModel"}), rerank.ErrModel, `["BertModel"]; a cross-encoder with the model_type bert has BertForSequenceClassification`},
		"labels":   {config("id2label", map[string]string{"0": "a", "1": "b", "2": "c"}), rerank.ErrModel, "3 labels"},
		"another":  {write("config.json", `{"model_type": "deberta-v2", "architectures": ["DebertaV2ForSequenceClassification"]}`), bert.ErrArchitecture, "DebertaV2ForSequenceClassification"},
		"relative": {config("model_type", "roberta"), rerank.ErrModel, `a cross-encoder with the model_type roberta has RobertaForSequenceClassification`},
		"sentence": {write("config_sentence_transformers.json", `{"activation_fn": "torch.nn.Softplus"}`), rerank.ErrModel, "torch.nn.Softplus"},
		"invalid":  {write("config_sentence_transformers.json", `{`), rerank.ErrModel, "config_sentence_transformers.json"},
	} {
		folder := tinyFolder(t)
		if err := c.change(folder); err != nil {
			t.Fatal(err)
		}
		if _, err := rerank.Open(openCPU(t), folder, rerank.Options{}); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, want %v with %q", name, err, c.want, c.text)
		}
	}
}

func TestSupports(t *testing.T) {
	if folder := tinyFolder(t); !rerank.Supports(folder) || rerank.Supports(filepath.Join(folder, "config.json")) || rerank.Supports(t.TempDir()) {
		t.Error("a folder with a cross-encoder, a file, or an empty folder")
	}
	if rerank.Supports(berttest.WriteFolder(t, berttest.Options{})) {
		t.Error("an embedding model")
	}
}

// TestConcurrent uses a Model in several goroutines, one of which closes it.
func TestConcurrent(t *testing.T) {
	m := open(t, tinyFolder(t), rerank.Options{})
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for range 5 {
				if _, err := m.Rank(t.Context(), "a red cat", "a dog"); err != nil && !errors.Is(err, rerank.ErrClosed) {
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
	if _, err := m.Rank(t.Context(), "a", "b"); !errors.Is(err, rerank.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// TestCanceled uses a context that is done, and a pair that does not fit.
func TestCanceled(t *testing.T) {
	m := open(t, tinyFolder(t), rerank.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Rank(ctx, "a", "b"); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := m.Logits(t.Context(), rerank.Pair{}); !errors.Is(err, bert.ErrLength) || !errors.Is(m.Check(rerank.Pair{}), bert.ErrLength) {
		t.Errorf("an empty pair: %v", err)
	}
}
