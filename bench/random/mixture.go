package random

import (
	"fmt"
	"strings"

	"github.com/gopherwarp/gopherwarp/weights"
)

// Mixture determines the type of each matrix of a model.
type Mixture struct {
	most weights.Type
	more weights.Type // of the output matrix, and of the attn_v and ffn_down of about half of the layers
}

// Uniform returns the mixture of one type.
func Uniform(t weights.Type) Mixture { return Mixture{t, t} }

// ParseMixture returns the mixture with the given name. The name is that of a type, such as BF16 or Q8_0, or it is Q4_K_M, for the mixture
// of that name in llama.cpp.
func ParseMixture(name string) (Mixture, error) {
	if name == "Q4_K_M" {
		return Mixture{weights.Q4_K, weights.Q6_K}, nil
	}
	for _, t := range []weights.Type{
		weights.BF16, weights.F16, weights.Q4_0, weights.Q4_1, weights.Q5_0, weights.Q5_1, weights.Q8_0,
		weights.Q2_K, weights.Q3_K, weights.Q4_K, weights.Q5_K, weights.Q6_K,
	} {
		if t.String() == name {
			return Uniform(t), nil
		}
	}
	return Mixture{}, fmt.Errorf("random: no mixture %q", name)
}

// of returns the type of a matrix in a model with a number of layers. The layers whose attn_v and ffn_down have more bits are those
// that the function use_more_bits in llama-quant.cpp selects: the first and the last eighth, and every third of the others.
func (x Mixture) of(m matrix, layers int) weights.Type {
	switch {
	case m.name == "output":
		return x.more
	case !strings.HasSuffix(m.name, "attn_v") && !strings.HasSuffix(m.name, "ffn_down"):
		return x.most
	}
	if first := layers / 8; m.layer < first || m.layer >= 7*layers/8 || (m.layer-first)%3 == 2 {
		return x.more
	}
	return x.most
}
