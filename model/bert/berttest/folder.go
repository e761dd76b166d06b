package berttest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/safetensors"
)

// The sizes of the models.
const (
	Layers, Hidden, FFN, Heads, Positions, Types = 2, 64, 96, 2, 40, 2
	Epsilon                                      = 1e-12
)

// words are the vocabulary after the special tokens, which are the first five.
var words = []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "sat", "a", "dog", "runs", "##s", "##ing", "mat", "on", ".", "?", "red"}

// Vocabulary returns the number of tokens.
func Vocabulary() int { return len(words) }

// Options are the options of WriteFolder.
type Options struct {
	Seed   uint64
	Prefix string // the prefix of the names of tensors, such as "bert."
	// Pooling is the flag of 1_Pooling/config.json. If it is empty, there is no modules.json.
	Pooling string
	// Labels is the number of labels of a classification head, or 0 for a model without one. With a head, Prefix is ignored.
	Labels int
	// Change may change the config.json.
	Change func(config map[string]any)
}

// WriteFolder writes a model to a temporary folder, in the form of sentence-transformers' models,
// and returns the folder's path. If o.Pooling is set, the folder has a modules.json: vectors
// are then scaled to norm 1, and texts have at most 24 tokens.
func WriteFolder(tb testing.TB, o Options) string {
	tb.Helper()
	folder := tb.TempDir()
	config := map[string]any{
		"model_type": "bert", "architectures": []string{"BertModel"}, "num_hidden_layers": Layers, "hidden_size": Hidden, "intermediate_size": FFN,
		"num_attention_heads": Heads, "vocab_size": len(words), "max_position_embeddings": Positions, "type_vocab_size": Types,
		"layer_norm_eps": Epsilon, "hidden_act": "gelu", "pad_token_id": 0,
	}
	if o.Labels > 0 {
		o.Prefix, config["architectures"] = "bert.", []string{"BertForSequenceClassification"}
		names := map[int]string{}
		for i := range o.Labels {
			names[i] = fmt.Sprintf("LABEL_%d", i)
		}
		config["id2label"] = names
	}
	if o.Change != nil {
		o.Change(config)
	}
	files := map[string]any{"config.json": config, "tokenizer.json": tokenizerFile(), "tokenizer_config.json": map[string]any{"tokenizer_class": "BertTokenizer"}}
	if o.Pooling != "" {
		files["modules.json"] = []map[string]any{
			{"idx": 0, "path": "", "type": "sentence_transformers.models.Transformer"},
			{"idx": 1, "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
			{"idx": 2, "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
		}
		files["1_Pooling/config.json"] = map[string]any{"word_embedding_dimension": Hidden, o.Pooling: true}
		files["sentence_bert_config.json"] = map[string]any{"max_seq_length": 24, "do_lower_case": false}
	}
	for name, contents := range files {
		writeJSON(tb, filepath.Join(folder, name), contents)
	}
	f, err := weights.New(weights.Contents{Tensors: tensors(tb, o)})
	if err == nil {
		err = safetensors.Save(filepath.Join(folder, "model.safetensors"), f)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return folder
}

// writeJSON writes a file and its folder.
func writeJSON(tb testing.TB, name string, contents any) {
	tb.Helper()
	text, err := json.Marshal(contents)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(name), 0o700)
	}
	if err == nil {
		err = os.WriteFile(name, text, 0o600)
	}
	if err != nil {
		tb.Fatal(err)
	}
}

// tensors returns the tensors of a model.
func tensors(tb testing.TB, o Options) (list []*weights.Tensor) {
	r := rand.New(rand.NewPCG(o.Seed, 6))
	add := func(name string, shape ...int) {
		n, center := 1, 0.0
		for _, d := range shape {
			n *= d
		}
		if len(shape) == 1 && name[len(name)-6:] == "weight" {
			center = 1 // of norms
		}
		values := make([]float32, n)
		for i := range values {
			values[i] = float32(center + 0.2*r.NormFloat64())
		}
		data, err := binary.Append(nil, binary.LittleEndian, values)
		if err != nil {
			tb.Fatal(err)
		}
		t, err := weights.NewTensor(weights.Spec{Name: o.Prefix + name, Type: weights.F32, Shape: shape}, bytes.NewReader(data))
		if err != nil {
			tb.Fatal(err)
		}
		list = append(list, t)
	}
	pair := func(name string, shape ...int) {
		add(name+".weight", shape...)
		add(name+".bias", shape[0])
	}
	add("embeddings.word_embeddings.weight", len(words), Hidden)
	add("embeddings.position_embeddings.weight", Positions, Hidden)
	add("embeddings.token_type_embeddings.weight", Types, Hidden)
	pair("embeddings.LayerNorm", Hidden)
	for i := range Layers {
		at := fmt.Sprintf("encoder.layer.%d.", i)
		for _, name := range []string{"query", "key", "value"} {
			pair(at+"attention.self."+name, Hidden, Hidden)
		}
		pair(at+"attention.output.dense", Hidden, Hidden)
		pair(at+"attention.output.LayerNorm", Hidden)
		pair(at+"intermediate.dense", FFN, Hidden)
		pair(at+"output.dense", Hidden, FFN)
		pair(at+"output.LayerNorm", Hidden)
	}
	pair("pooler.dense", Hidden, Hidden)
	if o.Prefix = ""; o.Labels > 0 {
		pair("classifier", o.Labels, Hidden)
	}
	return list
}

// tokenizerFile returns the contents of a tokenizer.json.
func tokenizerFile() map[string]any {
	vocabulary, special := map[string]int{}, []any{}
	for id, word := range words {
		vocabulary[word] = id
		if id < 5 {
			special = append(special, map[string]any{"id": id, "content": word, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true})
		}
	}
	piece := func(kind, id string, of int) map[string]any {
		return map[string]any{kind: map[string]any{"id": id, "type_id": of}}
	}
	token := func(id string) map[string]any {
		return map[string]any{"id": id, "ids": []int{vocabulary[id]}, "tokens": []string{id}}
	}
	single := []any{piece("SpecialToken", "[CLS]", 0), piece("Sequence", "A", 0), piece("SpecialToken", "[SEP]", 0)}
	pair := append(slices.Clone(single), piece("Sequence", "B", 1), piece("SpecialToken", "[SEP]", 1))
	return map[string]any{
		"version": "1.0", "added_tokens": special,
		"normalizer":     map[string]any{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": nil, "lowercase": true},
		"pre_tokenizer":  map[string]any{"type": "BertPreTokenizer"},
		"post_processor": map[string]any{"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": map[string]any{"[CLS]": token("[CLS]"), "[SEP]": token("[SEP]")}},
		"decoder":        map[string]any{"type": "WordPiece", "prefix": "##", "cleanup": true},
		"model":          map[string]any{"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": vocabulary},
	}
}
