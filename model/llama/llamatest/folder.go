package llamatest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/safetensors"
)

// FolderOptions are the options of WriteFolder.
type FolderOptions struct {
	Seed         uint64
	Architecture string       // such as Qwen2ForCausalLM
	Matrices     weights.Type // the type of matrices: F32, F16 or BF16; BF16 by default
	Shards       bool         // write two files with an index
	// Change may change the config.json.
	Change func(config map[string]any)
}

// names are the names of tensors in GGUF files and in folders of Hugging Face.
var names = strings.NewReplacer(
	"token_embd", "model.embed_tokens", "output_norm", "model.norm", "blk.", "model.layers.", "attn_norm", "input_layernorm", "attn_q_norm", "self_attn.q_norm",
	"attn_k_norm", "self_attn.k_norm", "attn_q", "self_attn.q_proj", "attn_k", "self_attn.k_proj", "attn_v", "self_attn.v_proj", "attn_output", "self_attn.o_proj",
	"ffn_norm", "post_attention_layernorm", "ffn_gate", "mlp.gate_proj", "ffn_up", "mlp.up_proj", "ffn_down", "mlp.down_proj", "output", "lm_head",
)

// HuggingFace returns the name that a tensor of a GGUF file has in a folder of Hugging Face.
func HuggingFace(name string) string { return names.Replace(name) }

// WriteFolder writes a model to a temporary folder in the form of Hugging Face's models: config.json, tokenizer.json,
// tokenizer_config.json and safetensors files. It returns the folder's path. The model has an output matrix, unless the
// name of its architecture begins with Qwen.
func WriteFolder(tb testing.TB, o FolderOptions) string {
	tb.Helper()
	if o.Matrices == weights.Invalid {
		o.Matrices = weights.BF16
	}
	qwen := strings.HasPrefix(o.Architecture, "Qwen")
	w := writer{tb: tb, r: rand.New(rand.NewPCG(o.Seed, 2)), matrices: o.Matrices, table: o.Matrices, size: sizeOf(false), rename: HuggingFace}
	w.all(!qwen)
	if o.Architecture == "Qwen2ForCausalLM" {
		w.biases()
	}
	if o.Architecture == "Qwen3ForCausalLM" {
		w.headNorms()
	}
	config := map[string]any{
		"architectures": []string{o.Architecture}, "model_type": strings.ToLower(strings.TrimSuffix(o.Architecture, "ForCausalLM")), "num_hidden_layers": Layers, "hidden_size": Hidden, "intermediate_size": FFN,
		"num_attention_heads": Heads, "num_key_value_heads": KeyHeads, "head_dim": HeadDim, "vocab_size": Vocabulary, "max_position_embeddings": Context,
		"rms_norm_eps": 1e-5, "rope_theta": Base, "hidden_act": "silu", "tie_word_embeddings": qwen, "eos_token_id": 257, "sliding_window": nil,
	}
	if o.Change != nil {
		o.Change(config)
	}
	folder := tb.TempDir()
	writeJSON(tb, filepath.Join(folder, "config.json"), config)
	writeJSON(tb, filepath.Join(folder, "tokenizer.json"), tokenizerFile())
	writeJSON(tb, filepath.Join(folder, "tokenizer_config.json"), map[string]any{"chat_template": Template, "eos_token": "<|im_end|>"})
	if o.Shards {
		w.shards(folder)
	} else {
		w.save(filepath.Join(folder, "model.safetensors"), w.list)
	}
	return folder
}

// biases adds those of queries, keys and values.
func (w *writer) biases() {
	for i := range Layers {
		for name, n := range map[string]int{"q": Heads * HeadDim, "k": KeyHeads * HeadDim, "v": KeyHeads * HeadDim} {
			name := w.rename(fmt.Sprintf("blk.%d.attn_%s", i, name)) + ".bias"
			w.add(weights.Spec{Name: name, Type: w.matrices, Shape: []int{n}}, w.numbers(n, 0.3, 0))
		}
	}
}

// headNorms adds the norms of the heads of queries and keys.
func (w *writer) headNorms() {
	for i := range Layers {
		w.vector(fmt.Sprintf("blk.%d.attn_q_norm", i), HeadDim)
		w.vector(fmt.Sprintf("blk.%d.attn_k_norm", i), HeadDim)
	}
}

// save writes a file of tensors.
func (w *writer) save(name string, list []*weights.Tensor) {
	w.tb.Helper()
	f, err := weights.New(weights.Contents{Tensors: list})
	if err == nil {
		err = safetensors.Save(name, f)
	}
	if err != nil {
		w.tb.Fatal(err)
	}
}

// shards writes two files and their index.
func (w *writer) shards(folder string) {
	w.tb.Helper()
	index := map[string]string{}
	half := len(w.list) / 2
	for i, list := range [][]*weights.Tensor{w.list[:half], w.list[half:]} {
		name := fmt.Sprintf("model-%05d-of-00002.safetensors", i+1)
		w.save(filepath.Join(folder, name), list)
		for _, t := range list {
			index[t.Name()] = name
		}
	}
	writeJSON(w.tb, filepath.Join(folder, "model.safetensors.index.json"), map[string]any{"metadata": map[string]any{}, "weight_map": index})
}

// writeJSON writes a file.
func writeJSON(tb testing.TB, name string, value any) {
	tb.Helper()
	text, err := json.Marshal(value)
	if err == nil {
		err = os.WriteFile(name, text, 0o600)
	}
	if err != nil {
		tb.Fatal(err)
	}
}

// tokenizerFile returns the contents of a tokenizer.json with a token for each byte.
func tokenizerFile() map[string]any {
	vocabulary := map[string]int{}
	for i, token := range ByteTokens() {
		vocabulary[token] = i
	}
	special := func(id int, text string) map[string]any {
		return map[string]any{"id": id, "content": text, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false, "special": true}
	}
	bytes := map[string]any{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true}
	return map[string]any{
		"version": "1.0", "added_tokens": []any{special(256, "<|im_start|>"), special(257, "<|im_end|>")}, "pre_tokenizer": bytes, "decoder": bytes,
		"model": map[string]any{"type": "BPE", "vocab": vocabulary, "merges": []string{}},
	}
}
