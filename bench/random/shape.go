package random

import (
	"encoding/json"
	"flag"
	"fmt"
)

// Shape is the shape of a model.
type Shape struct {
	Layers, Hidden, FFN      int
	Heads, KeyHeads, HeadDim int
	Vocabulary, Context      int
}

// Llama8B returns the shape of Llama 3.1 8B.
func Llama8B() Shape {
	return Shape{Layers: 32, Hidden: 4096, FFN: 14336, Heads: 32, KeyHeads: 8, HeadDim: 128, Vocabulary: 128256, Context: 131072}
}

// Flags defines a flag for each field of s. Parsing the flags sets the fields. The defaults are the present values of the fields.
func Flags(set *flag.FlagSet, s *Shape) {
	for _, f := range []struct {
		name, help string
		to         *int
	}{
		{"layers", "layers", &s.Layers}, {"hidden", "elements of the residual stream", &s.Hidden}, {"ffn", "elements between gate and down", &s.FFN},
		{"heads", "heads of queries", &s.Heads}, {"keyheads", "heads of keys", &s.KeyHeads}, {"headdim", "elements of a head", &s.HeadDim},
		{"vocabulary", "tokens", &s.Vocabulary}, {"positions", "tokens of the longest sequence", &s.Context},
	} {
		set.IntVar(f.to, f.name, *f.to, f.help)
	}
}

// The numbers of Llama 3.1 that do not depend on the size.
const (
	base    = 500000
	epsilon = 1e-5
)

// Config returns the text of the model's config.json.
func (s Shape) Config() ([]byte, error) {
	return json.Marshal(map[string]any{
		"architectures": []string{"LlamaForCausalLM"}, "model_type": "llama", "num_hidden_layers": s.Layers, "hidden_size": s.Hidden, "intermediate_size": s.FFN,
		"num_attention_heads": s.Heads, "num_key_value_heads": s.KeyHeads, "head_dim": s.HeadDim, "vocab_size": s.Vocabulary,
		"max_position_embeddings": s.Context, "rope_theta": base, "rms_norm_eps": epsilon, "hidden_act": "silu",
		"tie_word_embeddings": false, "torch_dtype": "bfloat16", "bos_token_id": s.special(begin), "eos_token_id": s.special(endOfTurn),
	})
}

// matrix is a matrix of a model. The layer of those outside all layers is -1.
type matrix struct {
	name          string // in GGUF files, without ".weight"
	layer         int
	rows, columns int
}

// walk calls f with the matrices of the model and norm with the names and lengths of its norms, in the order of the file.
func (s Shape) walk(f func(m matrix), norm func(name string, n int)) {
	f(matrix{"token_embd", -1, s.Vocabulary, s.Hidden})
	for i := range s.Layers {
		add := func(name string, rows, columns int) { f(matrix{fmt.Sprintf("blk.%d.%s", i, name), i, rows, columns}) }
		norm(fmt.Sprintf("blk.%d.attn_norm", i), s.Hidden)
		add("attn_q", s.Heads*s.HeadDim, s.Hidden)
		add("attn_k", s.KeyHeads*s.HeadDim, s.Hidden)
		add("attn_v", s.KeyHeads*s.HeadDim, s.Hidden)
		add("attn_output", s.Hidden, s.Heads*s.HeadDim)
		norm(fmt.Sprintf("blk.%d.ffn_norm", i), s.Hidden)
		add("ffn_gate", s.FFN, s.Hidden)
		add("ffn_up", s.FFN, s.Hidden)
		add("ffn_down", s.Hidden, s.FFN)
	}
	norm("output_norm", s.Hidden)
	f(matrix{"output", -1, s.Vocabulary, s.Hidden})
}
