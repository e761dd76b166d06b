package llama

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/weights"
)

// ofMetadata returns the Config of a GGUF file.
func ofMetadata(f *weights.File) (Config, error) {
	m := f.Metadata
	name, err := weights.Get[string](m, "general.architecture")
	if err != nil {
		return Config{}, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if name != "llama" && name != "qwen2" && name != "qwen3" {
		return Config{}, fmt.Errorf("%w: %q", ErrArchitecture, name)
	}
	r := reader{m: m, prefix: name + "."}
	c := Config{
		Layers: r.number("block_count"), Hidden: r.number("embedding_length"), FFN: r.number("feed_forward_length"),
		Heads: r.number("attention.head_count"), Context: r.number("context_length"),
		Epsilon: r.float("attention.layer_norm_rms_epsilon", 1e-5), Base: r.float("rope.freq_base", 10000),
	}
	c.KeyHeads = r.optional("attention.head_count_kv", c.Heads)
	c.HeadDim = r.optional("attention.key_length", c.Hidden/max(c.Heads, 1))
	c.Rotary = r.optional("rope.dimension_count", c.HeadDim)
	c.Linear = r.scaling()
	c.Vocabulary = r.vocabulary()
	if window := r.optional("attention.sliding_window", most); window < 1 {
		r.fail("attention.sliding_window", window)
	} else {
		c.Context = min(c.Context, window)
	}
	has := func(name string) bool { _, err := f.Tensor(name); return err == nil }
	c.QueryBias, c.OutputBias = name == "qwen2" || has("blk.0.attn_q.bias"), has("blk.0.attn_output.bias")
	c.MLPBias, c.HeadNorms, c.Tied = has("blk.0.ffn_down.bias"), name == "qwen3", !has("output.weight")
	c.interleaved = name == "llama"
	if r.err == nil {
		r.err = c.check(r.prefix)
	}
	return c, r.err
}

// reader reads metadata and keeps the first error.
type reader struct {
	m      weights.Metadata
	prefix string
	err    error
}

func (r *reader) number(key string) int {
	n, err := r.m.Int(r.prefix + key)
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return n
}

// optional returns the value of a key, or otherwise if there is none.
func (r *reader) optional(key string, otherwise int) int {
	if _, ok := r.m.Value(r.prefix + key); !ok {
		return otherwise
	}
	return r.number(key)
}

func (r *reader) float(key string, otherwise float64) float64 {
	v, ok := r.m.Value(r.prefix + key)
	switch v := v.(type) {
	case float32:
		return float64(v)
	case float64:
		return v
	}
	if ok {
		r.fail(key, v)
	}
	return otherwise
}

// fail is for a key with an invalid value.
func (r *reader) fail(key string, v any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s is %v", ErrConfig, r.prefix+key, v)
	}
}

// vocabulary returns the number of tokens.
func (r *reader) vocabulary() int {
	if tokens, err := weights.Get[[]string](r.m, "tokenizer.ggml.tokens"); err == nil {
		return len(tokens)
	}
	return r.number("vocab_size")
}

// scaling returns the number by which positions are divided.
func (r *reader) scaling() float64 {
	name, ok := r.m.Value(r.prefix + "rope.scaling.type")
	switch {
	case !ok || name == "none":
		return 1
	case name == "linear":
		return r.float("rope.scaling.factor", 1)
	}
	if r.err == nil {
		r.err = fmt.Errorf("%w: the scaling %v of the rotary embedding is not supported", ErrConfig, name)
	}
	return 1
}
