package attentionback

import (
	"math"

	"github.com/gopherwarp/gopherwarp/internal/kernels/prefill"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// Tensors are operands of Backward in the memory of the host.
type Tensors[T Element] struct {
	prefill.Tensors[T]
	DO []T
}

// Gradients are derivatives in float64, with the layouts of Q, K and V.
type Gradients struct{ Q, K, V []float64 }

// newGradients returns derivatives that are 0.
func (x Tensors[T]) newGradients() Gradients {
	return Gradients{make([]float64, len(x.Q)), make([]float64, len(x.K)), make([]float64, len(x.V))}
}

// Back returns the derivatives for spans in float64. It also returns the sums of the magnitudes of the terms of each element, which bound
// the error of sums in less precision.
func (x Tensors[T]) Back(spans []prefill.Span) (g, size Gradients) {
	g, size = x.newGradients(), x.newGradients()
	for _, span := range spans {
		for i := range int(span.Count) {
			for head := range x.Heads {
				x.addQuery(span, i, head, [2]Gradients{g, size})
			}
		}
	}
	return g, size
}

// addQuery adds what query i of a span contributes, and the magnitudes.
func (x Tensors[T]) addQuery(span prefill.Span, i, head int, to [2]Gradients) {
	scores, slope := x.Scores(span, i, head), 1/math.Sqrt(float64(x.Dim))
	sum := x.LogSum(span, i, head)
	query := ((int(span.Row)+i)*x.Heads + head) * x.Dim
	dot := func(a []float64, b []T) (sum, size float64) {
		for d := range a {
			p := a[d] * row.Float64(b[d])
			sum, size = sum+p, size+math.Abs(p)
		}
		return sum, size
	}
	q, do := row.Float64s(x.Q[query:][:x.Dim]), row.Float64s(x.DO[query:][:x.Dim])
	o, sizes := x.Query(span, i, head)
	var product, products float64
	for d := range o {
		product, products = product+o[d]*do[d], products+sizes[d]*math.Abs(do[d])
	}
	for j, score := range scores {
		key := ((int(span.Keys)+j)*x.KeyHeads + head/(x.Heads/x.KeyHeads)) * x.Dim
		p := math.Exp(score - sum)
		dp, magnitude := dot(do, x.V[key:][:x.Dim])
		ds, size := p*(dp-product)*slope, p*(magnitude+products)*slope
		for d := range x.Dim {
			k := row.Float64(x.K[key+d])
			to[0].Q[query+d] += ds * k
			to[0].K[key+d] += ds * q[d]
			to[0].V[key+d] += p * do[d]
			to[1].Q[query+d] += size * math.Abs(k)
			to[1].K[key+d] += size * math.Abs(q[d])
			to[1].V[key+d] += p * math.Abs(do[d])
		}
	}
}
