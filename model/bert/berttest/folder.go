package berttest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/safetensors"
)

// The sizes of the models.
const (
	Layers, Hidden, FFN, Heads, Positions, Types = 2, 64, 96, 2, 40, 2
	Epsilon                                      = 1e-12
)

// Options are the options of WriteFolder.
type Options struct {
	Seed uint64
	// Type is the model_type: bert, which is the default, roberta, xlm-roberta or camembert. The tokenizer is WordPiece for bert, BPE over
	// bytes for roberta, and Unigram for the others.
	Type   string
	Prefix string // the prefix of the names of tensors, such as "bert."
	// Pooling is the flag that is set in 1_Pooling/config.json, such as "pooling_mode_mean_tokens". If it is empty, there is no modules.json.
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
	of := kindOf(o.Type)
	config := map[string]any{
		"model_type": of.name, "architectures": []string{of.class + "Model"}, "num_hidden_layers": Layers, "hidden_size": Hidden, "intermediate_size": FFN,
		"num_attention_heads": Heads, "vocab_size": of.vocabulary, "max_position_embeddings": of.positions, "type_vocab_size": of.types,
		"layer_norm_eps": Epsilon, "hidden_act": "gelu", "pad_token_id": of.padding,
	}
	if o.Labels > 0 {
		o.Prefix, config["architectures"] = of.prefix, []string{of.class + "ForSequenceClassification"}
		names := map[int]string{}
		for i := range o.Labels {
			names[i] = fmt.Sprintf("LABEL_%d", i)
		}
		config["id2label"] = names
	}
	if o.Change != nil {
		o.Change(config)
	}
	files := map[string]any{"config.json": config, "tokenizer.json": of.tokenizer(), "tokenizer_config.json": map[string]any{"tokenizer_class": of.class + "Tokenizer"}}
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
	f, err := weights.New(weights.Contents{Tensors: tensors(tb, of, o)})
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
func tensors(tb testing.TB, of kind, o Options) (list []*weights.Tensor) {
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
	add("embeddings.word_embeddings.weight", of.vocabulary, Hidden)
	add("embeddings.position_embeddings.weight", of.positions, Hidden)
	add("embeddings.token_type_embeddings.weight", of.types, Hidden)
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
	if of.pooler || o.Labels == 0 {
		pair("pooler.dense", Hidden, Hidden)
	}
	if o.Prefix = ""; o.Labels > 0 && !of.pooler {
		pair("classifier.dense", Hidden, Hidden)
	}
	if o.Labels > 0 {
		pair(of.scores, o.Labels, Hidden)
	}
	return list
}
