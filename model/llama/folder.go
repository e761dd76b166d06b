package llama

import (
	"encoding/json"
	"fmt"
	"slices"
)

// file is the contents of a config.json. Values that are not there, or null, are nil or keep their default.
type file struct {
	Architectures []string `json:"architectures"`
	Layers        int      `json:"num_hidden_layers"`
	Hidden        int      `json:"hidden_size"`
	FFN           int      `json:"intermediate_size"`
	Heads         int      `json:"num_attention_heads"`
	KeyHeads      *int     `json:"num_key_value_heads"`
	HeadDim       *int     `json:"head_dim"`
	Vocabulary    int      `json:"vocab_size"`
	Context       int      `json:"max_position_embeddings"`
	Window        *int     `json:"sliding_window"`
	UseWindow     *bool    `json:"use_sliding_window"`
	Epsilon       float64  `json:"rms_norm_eps"`
	Activation    string   `json:"hidden_act"`
	Tied          *bool    `json:"tie_word_embeddings"`
	AttentionBias bool     `json:"attention_bias"`
	MLPBias       bool     `json:"mlp_bias"`
	Base          *float64 `json:"rope_theta"`
	Rotary        *float64 `json:"partial_rotary_factor"`
	Scaling       *scaling `json:"rope_scaling"`
	Rope          *scaling `json:"rope_parameters"` // newer files have it in place of rope_theta and rope_scaling
	Quantization  any      `json:"quantization_config"`
}

// scaling is how a config.json describes the rotary embedding.
type scaling struct {
	Type    string   `json:"rope_type"`
	OldType string   `json:"type"`
	Base    *float64 `json:"rope_theta"`
	Factor  float64  `json:"factor"`
	Low     float64  `json:"low_freq_factor"`
	High    float64  `json:"high_freq_factor"`
	Context int      `json:"original_max_position_embeddings"`
}

// architectures are the models of the family as config.json names them.
var architectures = []string{"LlamaForCausalLM", "MistralForCausalLM", "Qwen2ForCausalLM", "Qwen3ForCausalLM"}

// ParseConfig returns the Config in the text of a config.json of a Hugging Face model. Names of architectures are those of the Python
// package transformers. The errors match ErrArchitecture and ErrConfig.
func ParseConfig(text []byte) (Config, error) {
	f := file{Epsilon: 1e-6, Activation: "silu"}
	if err := json.Unmarshal(text, &f); err != nil {
		return Config{}, fmt.Errorf("%w: config.json: %w", ErrConfig, err)
	}
	if len(f.Architectures) != 1 || !slices.Contains(architectures, f.Architectures[0]) {
		return Config{}, fmt.Errorf("%w: %q in config.json", ErrArchitecture, f.Architectures)
	}
	switch {
	case f.Activation != "silu":
		return Config{}, fmt.Errorf("%w: config.json has the activation %q; only silu is supported", ErrConfig, f.Activation)
	case f.Quantization != nil:
		return Config{}, fmt.Errorf("%w: config.json has a quantization_config; only F32, F16 and BF16 are supported", ErrConfig)
	}
	c, err := f.config(f.Architectures[0])
	if err == nil {
		err = c.check("")
	}
	return c, err
}

// or returns the value that p points to, or otherwise if p is nil.
func or[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

// config returns the Config of a model with an architecture.
func (f file) config(architecture string) (Config, error) {
	c := Config{
		Layers: f.Layers, Hidden: f.Hidden, FFN: f.FFN, Heads: f.Heads, Vocabulary: f.Vocabulary, Context: f.Context,
		KeyHeads: or(f.KeyHeads, f.Heads), HeadDim: or(f.HeadDim, f.Hidden/max(f.Heads, 1)), Epsilon: f.Epsilon, Linear: 1,
		QueryBias: f.AttentionBias, OutputBias: f.AttentionBias, MLPBias: f.MLPBias, Tied: or(f.Tied, false),
	}
	windowed := architecture == "MistralForCausalLM"
	switch architecture {
	case "Qwen2ForCausalLM":
		c.QueryBias, c.OutputBias, c.MLPBias, windowed = true, false, false, or(f.UseWindow, false)
	case "Qwen3ForCausalLM":
		c.HeadNorms, c.MLPBias, c.HeadDim, windowed = true, false, or(f.HeadDim, 128), or(f.UseWindow, false)
	case "MistralForCausalLM":
		c.QueryBias, c.OutputBias, c.MLPBias = false, false, false
	}
	if windowed {
		c.Context = min(c.Context, or(f.Window, c.Context)) // within the window, attention sees all tokens
	}
	c.Rotary = int(or(f.Rotary, 1) * float64(c.HeadDim))
	c.Base = or(f.Base, 10000)
	for _, s := range []*scaling{f.Scaling, f.Rope} {
		if s == nil {
			continue
		}
		c.Base = or(s.Base, c.Base)
		if err := c.scale(*s); err != nil {
			return c, err
		}
	}
	return c, nil
}

// scale sets how wavelengths are scaled.
func (c *Config) scale(s scaling) error {
	if s.Type == "" {
		s.Type = s.OldType
	}
	switch s.Type {
	case "", "default":
	case "linear":
		c.Linear = s.Factor
	case "llama3":
		c.Scaling = &Scaling{s.Factor, s.Low, s.High, s.Context}
	default:
		return fmt.Errorf("%w: the scaling %s of the rotary embedding is not supported", ErrConfig, s.Type)
	}
	return nil
}
