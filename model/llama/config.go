package llama

import (
	"errors"
	"fmt"
	"math"
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

// check returns ErrConfig if a number makes no sense.
func (c Config) check() error {
	const most = 1 << 24 // of Config's sizes
	for _, n := range []int{c.Layers, c.Hidden, c.FFN, c.Heads, c.KeyHeads, c.HeadDim, c.Vocabulary, c.Context} {
		if n < 1 || n > most {
			return fmt.Errorf("%w: %+v", ErrConfig, c)
		}
	}
	if c.Heads%c.KeyHeads != 0 || c.Rotary < 0 || c.Rotary > c.HeadDim || c.Rotary%2 != 0 || !(c.Base > 0) || !(c.Epsilon >= 0) || !(c.Linear > 0) || math.IsInf(c.Base, 0) {
		return fmt.Errorf("%w: %+v", ErrConfig, c)
	}
	if s := c.Scaling; s != nil && (!(s.Factor > 0) || !(s.Low > 0) || !(s.High > s.Low) || s.Context < 1) {
		return fmt.Errorf("%w: the scaling %+v of the rotary embedding", ErrConfig, *s)
	}
	return nil
}
