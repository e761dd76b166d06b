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
	// ErrConfig is the error of a model whose metadata or config.json lacks a value or has one that makes no sense.
	ErrConfig = errors.New("llama: invalid metadata")
)

// Config is the size of a model, and what distinguishes the models of the family.
type Config struct {
	Layers, Hidden, FFN      int
	Heads, KeyHeads, HeadDim int
	Vocabulary, Context      int      // Context is the number of tokens that the model was trained for, at most those that its attention sees
	Rotary                   int      // elements of a head that turn with the position
	Base                     float64  // of the wavelengths of the rotary embedding
	Linear                   float64  // by which positions are divided
	Scaling                  *Scaling // of the wavelengths, or nil
	Epsilon                  float64  // of the norms

	QueryBias  bool // queries, keys and values have biases, as in Qwen2
	OutputBias bool // the output of the attention has a bias
	MLPBias    bool // gate, up and down have biases
	HeadNorms  bool // the heads of queries and keys are normalized, as in Qwen3
	Tied       bool // the output uses the table of the input

	interleaved bool // the file has the two elements of a rotated pair next to each other
}

// Scaling stretches the wavelengths of the rotary embedding of a model that was trained on sequences of Context tokens, as Llama 3.1
// defines it: by Factor those longer than Context/Low, not at all those shorter than Context/High.
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
