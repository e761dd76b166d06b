package llama

import (
	"errors"
	"fmt"
	"math"

	"github.com/gopherwarp/gopherwarp/internal/kernels/attention"
)

// Errors of Load.
var (
	// ErrArchitecture is the error of a file with a model of another kind.
	ErrArchitecture = errors.New("llama: unknown architecture")
	// ErrConfig is the error of a model whose metadata or config.json lacks a value or has an invalid value.
	ErrConfig = errors.New("llama: invalid metadata")
)

// Config has the sizes of a model, and the features in which models of the family differ.
type Config struct {
	Layers, Hidden, FFN      int
	Heads, KeyHeads, HeadDim int
	Vocabulary, Context      int      // Context is the number of tokens that the model was trained for, or the size of its attention window if that is smaller
	Rotary                   int      // the number of elements of a head that are rotated
	Base                     float64  // the base of the wavelengths of the rotary embedding
	Linear                   float64  // the number by which positions are divided
	Scaling                  *Scaling // the scaling of the wavelengths, or nil
	Epsilon                  float64  // the epsilon of the norms

	QueryBias  bool // whether queries, keys and values have biases, as in Qwen2
	OutputBias bool // whether the output of the attention has a bias
	MLPBias    bool // whether gate, up and down have biases
	HeadNorms  bool // whether the heads of queries and keys are normalized, as in Qwen3
	Tied       bool // whether the output uses the embedding table of the input

	interleaved bool // the file has the two elements of a rotated pair next to each other
}

// Scaling stretches the wavelengths of the rotary embedding, as Llama 3.1 defines it. The model was first trained on sequences of Context
// tokens. Wavelengths above Context/Low are multiplied by Factor, wavelengths below Context/High do not change, and those in between are
// interpolated.
type Scaling struct {
	Factor, Low, High float64
	Context           int
}

// most is the largest of Config's sizes.
const most = 1 << 24

// lanes is the number of which the elements of a head, and those that are rotated, are a multiple: see attention.Turn.
const lanes = 16

// rule is a condition for a value of the metadata.
type rule struct {
	gguf, json string // the names of the value in GGUF metadata, without the architecture, and in config.json
	value      any
	ok         bool
	want       string
}

// sized returns the rule for a size.
func sized(gguf, json string, n int) rule {
	return rule{gguf, json, n, n >= 1 && n <= most, fmt.Sprintf("1 to %d", most)}
}

// rules returns the conditions for a Config. Later ones assume earlier ones.
func (c Config) rules() []rule {
	list := []rule{
		sized("block_count", "num_hidden_layers", c.Layers),
		sized("embedding_length", "hidden_size", c.Hidden),
		sized("feed_forward_length", "intermediate_size", c.FFN),
		sized("attention.head_count", "num_attention_heads", c.Heads),
		sized("attention.head_count_kv", "num_key_value_heads", c.KeyHeads),
		{"attention.key_length", "head_dim", c.HeadDim, c.HeadDim >= lanes && c.HeadDim <= attention.MaxDim && c.HeadDim%lanes == 0, fmt.Sprintf("a multiple of %d up to %d", lanes, attention.MaxDim)},
		sized("vocab_size", "vocab_size", c.Vocabulary),
		sized("context_length", "max_position_embeddings", c.Context),
		{"rope.dimension_count", "partial_rotary_factor * head_dim", c.Rotary, c.Rotary >= lanes && c.Rotary <= c.HeadDim && c.Rotary%lanes == 0, fmt.Sprintf("a multiple of %d up to %d, the size of a head", lanes, c.HeadDim)},
		{"rope.freq_base", "rope_theta", c.Base, c.Base > 0 && !math.IsInf(c.Base, 0), "a positive number"},
		{"rope.scaling.factor", "rope_scaling.factor", c.Linear, c.Linear > 0, "a positive number"},
		{"attention.layer_norm_rms_epsilon", "rms_norm_eps", c.Epsilon, c.Epsilon >= 0, "at least 0"},
	}
	if c.KeyHeads > 0 {
		list = append(list, rule{"attention.head_count_kv", "num_key_value_heads", c.KeyHeads, c.Heads%c.KeyHeads == 0, fmt.Sprintf("a divisor of %d, the number of heads", c.Heads)})
	}
	return list
}

// check returns ErrConfig with the name and the value of the first number that makes no sense. The prefix is that of the names in GGUF metadata;
// without a prefix, the names are those of config.json.
func (c Config) check(prefix string) error {
	for _, r := range c.rules() {
		name := r.json
		if prefix != "" {
			name = prefix + r.gguf
		}
		if !r.ok {
			return fmt.Errorf("%w: %s is %v, want %s", ErrConfig, name, r.value, r.want)
		}
	}
	if s := c.Scaling; s != nil && (!(s.Factor > 0) || !(s.Low > 0) || !(s.High > s.Low) || s.Context < 1) {
		return fmt.Errorf("%w: the scaling %+v of the rotary embedding", ErrConfig, *s)
	}
	return nil
}
