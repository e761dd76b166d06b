package attention

import (
	"math"

	"github.com/gopherwarp/gopherwarp/dtype"
)

// Tensors are operands in the memory of the host.
type Tensors struct{ Q, K, V []dtype.BF16 }

// Row computes the result for one query of a head in float64. It also returns the sums of the
// magnitudes of the terms of each element, which bound the error of sums in less precision.
func (x Tensors) Row(s Shape, head, row int) (result, size [Dim]float64) {
	base := head / (s.Heads / s.KeyHeads) * s.Length
	n := s.Length
	if s.Causal {
		n = row + 1
	}
	scores, top := make([]float64, n), math.Inf(-1)
	query := x.Q[(head*s.Length+row)*Dim:][:Dim]
	for j := range scores {
		for i, k := range x.K[(base+j)*Dim:][:Dim] {
			scores[j] += query[i].Float64() * k.Float64() / math.Sqrt(Dim)
		}
		top = max(top, scores[j])
	}
	sum := 0.0
	for j, score := range scores {
		w := math.Exp(score - top)
		sum += w
		for i, v := range x.V[(base+j)*Dim:][:Dim] {
			result[i] += w * v.Float64()
			size[i] += w * math.Abs(v.Float64())
		}
	}
	for i := range result {
		result[i] /= sum
		size[i] /= sum
	}
	return result, size
}

// Tolerance is the error that is allowed in an element of the result, relative to the sum of the magnitudes of its
// terms: that of rounding weights and results to bfloat16, and half of it for the sums.
const Tolerance = 3.0 / 256
