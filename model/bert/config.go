package bert

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Errors of ParseConfig and Load.
var (
	// ErrArchitecture is the error of a config.json of another kind of model.
	ErrArchitecture = errors.New("bert: unknown architecture")
	// ErrConfig is the error of a config.json that lacks a value, or has an invalid or unsupported value.
	ErrConfig = errors.New("bert: invalid config.json")
)

// Config has the architecture and the sizes of a model.
type Config struct {
	Type                string // the model_type: bert (the default), roberta, xlm-roberta or camembert
	Layers, Hidden, FFN int
	Heads               int
	Vocabulary          int
	Positions           int // the largest number of tokens of a text
	Types               int // the number of token types; all tokens of a single text have type 0
	Epsilon             float64
	// Shift is the position of a text's first token. It is 0 for BERT. For the other architectures, it is the ID of the padding token plus
	// 1, and a padding token in a text has the position Shift-1.
	Shift  int
	Labels int // the number of scores of a Classifier, or 0 for a model without a classification head
}

// ParseConfig parses the contents of a config.json. The errors match ErrArchitecture and ErrConfig.
func ParseConfig(text []byte) (Config, error) {
	var f struct {
		Type       string  `json:"model_type"`
		Layers     int     `json:"num_hidden_layers"`
		Hidden     int     `json:"hidden_size"`
		FFN        int     `json:"intermediate_size"`
		Heads      int     `json:"num_attention_heads"`
		Vocabulary int     `json:"vocab_size"`
		Positions  int     `json:"max_position_embeddings"`
		Types      int     `json:"type_vocab_size"`
		Epsilon    float64 `json:"layer_norm_eps"`
		Activation string  `json:"hidden_act"`
		Embedding  string  `json:"position_embedding_type"`
		Padding    *int    `json:"pad_token_id"`
		head
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return Config{}, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	of, ok := familyOf(f.Type)
	switch {
	case !ok || f.Type == "":
		return Config{}, fmt.Errorf("%w: config.json has the model_type %q and the architectures %q; the model_types %s are supported",
			ErrArchitecture, f.Type, f.Architectures, kinds())
	case f.Activation != "gelu":
		return Config{}, fmt.Errorf("%w: the activation %q; only gelu is supported", ErrConfig, f.Activation)
	case f.Embedding != "absolute" && f.Embedding != "":
		return Config{}, fmt.Errorf("%w: the position_embedding_type %q; only absolute is supported", ErrConfig, f.Embedding)
	}
	c := Config{
		Type: f.Type, Layers: f.Layers, Hidden: f.Hidden, FFN: f.FFN, Heads: f.Heads, Vocabulary: f.Vocabulary, Positions: f.Positions, Types: f.Types,
		Epsilon: f.Epsilon, Labels: f.labels(of.classifier),
	}
	if of.shifted {
		c.Shift = 2 // as in transformers, if config.json does not name the padding token
		if f.Padding != nil {
			c.Shift = *f.Padding + 1
		}
		c.Positions -= c.Shift
	}
	return c, c.check()
}

// head is what a config.json says of a classification head.
type head struct {
	Architectures []string                   `json:"architectures"`
	Names         map[string]json.RawMessage `json:"id2label"`
	Labels        *int                       `json:"num_labels"`
}

// labels returns the number of labels, as the Python package transformers finds it, or 0 if the architecture is not the one with a head.
func (h head) labels(classifier string) int {
	switch {
	case !slices.Contains(h.Architectures, classifier):
		return 0
	case len(h.Names) > 0:
		return len(h.Names)
	case h.Labels != nil:
		return *h.Labels
	}
	return 2
}

// maxDim is the largest number of elements of a head.
const maxDim = 128

// check returns ErrConfig if a number makes no sense.
func (c Config) check() error {
	const most = 1 << 24 // of Config's sizes
	for _, n := range []int{c.Layers, c.Hidden, c.FFN, c.Heads, c.Vocabulary, c.Positions, c.Types} {
		if n < 1 || n > most {
			return fmt.Errorf("%w: %+v", ErrConfig, c)
		}
	}
	if c.Labels < 0 || c.Labels > most {
		return fmt.Errorf("%w: %d labels", ErrConfig, c.Labels)
	}
	if c.Shift < 0 || c.Shift > most {
		return fmt.Errorf("%w: the first position is %d", ErrConfig, c.Shift)
	}
	if _, ok := familyOf(c.Type); !ok {
		return fmt.Errorf("%w: the type %q", ErrArchitecture, c.Type)
	}
	if c.Hidden%c.Heads != 0 || c.dim()%16 != 0 || c.dim() > maxDim || !(c.Epsilon >= 0 && c.Epsilon < 1) {
		return fmt.Errorf("%w: %+v: heads have a multiple of 16 elements, at most %d", ErrConfig, c, maxDim)
	}
	return nil
}

// Supports reports whether ParseConfig supports the model_type of a config.json.
func Supports(text []byte) bool {
	var f struct {
		Type string `json:"model_type"`
	}
	err := json.Unmarshal(text, &f)
	_, known := familyOf(f.Type)
	return err == nil && known && f.Type != ""
}

// Classifier returns the entry of "architectures" in the config.json of a model of this Type with a classification head, such as
// BertForSequenceClassification for the Type bert.
func (c Config) Classifier() string {
	of, _ := familyOf(c.Type)
	return of.classifier
}

// HasTypes reports whether the types of tokens distinguish the texts of a pair. Otherwise, all types are 0.
func (c Config) HasTypes() bool {
	of, _ := familyOf(c.Type)
	return !of.shifted
}

// dim returns the number of elements of a head.
func (c Config) dim() int { return c.Hidden / c.Heads }
