package llama

import (
	"errors"
	"fmt"
	"math"

	"github.com/gopherwarp/gopherwarp/weights"
)

// Errors of Load.
var (
	// ErrArchitecture is the error of a file with a model of another kind.
	ErrArchitecture = errors.New("llama: unknown architecture")
	// ErrConfig is the error of a file whose metadata lacks a value or has one that makes no sense.
	ErrConfig = errors.New("llama: invalid metadata")
)

// Config is the size of a model.
type Config struct {
	Layers, Hidden, FFN      int
	Heads, KeyHeads, HeadDim int
	Vocabulary, Context      int     // Context is the number of tokens that the model was trained for
	Rotary                   int     // elements of a head that turn with the position
	Base                     float64 // of the wavelengths of the rotary embedding
	Linear                   float64 // by which positions are divided
	Epsilon                  float64 // of the norms
}

// configOf returns the Config in the metadata of a GGUF file.
func configOf(m weights.Metadata) (Config, error) {
	name, err := weights.Get[string](m, "general.architecture")
	if err != nil {
		return Config{}, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if name != "llama" {
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
	if r.err == nil {
		r.err = c.check()
	}
	return c, r.err
}

// check returns ErrConfig if a number makes no sense.
func (c Config) check() error {
	const most = 1 << 24
	for _, n := range []int{c.Layers, c.Hidden, c.FFN, c.Heads, c.KeyHeads, c.HeadDim, c.Vocabulary, c.Context} {
		if n < 1 || n > most {
			return fmt.Errorf("%w: %+v", ErrConfig, c)
		}
	}
	if c.Heads%c.KeyHeads != 0 || c.Rotary < 0 || c.Rotary > c.HeadDim || c.Rotary%2 != 0 || !(c.Base > 0) || !(c.Epsilon >= 0) || !(c.Linear > 0) || math.IsInf(c.Base, 0) {
		return fmt.Errorf("%w: %+v", ErrConfig, c)
	}
	return nil
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
	if ok && r.err == nil {
		r.err = fmt.Errorf("%w: %s is %v", ErrConfig, r.prefix+key, v)
	}
	return otherwise
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
