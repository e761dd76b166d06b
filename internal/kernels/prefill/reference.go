package prefill

import (
	"math"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// Tensors are operands of Attend, without pages, in the memory of the host.
type Tensors[T row.Number] struct {
	Shape
	Q, K, V []T
}

// Query computes the result of query i of a span for a head in float64. It also returns the sums of the magnitudes
// of the terms of each element, which bound the error of sums in less precision.
func (x Tensors[T]) Query(span Span, i, head int) (result, size []float64) {
	scores := x.Scores(span, i, head)
	top, sum := slices.Max(scores), 0.0
	result, size = make([]float64, x.Dim), make([]float64, x.Dim)
	for j, score := range scores {
		w := math.Exp(score - top)
		sum += w
		for d, v := range x.key(x.V, span, j, head) {
			result[d] += w * row.Float64(v)
			size[d] += w * math.Abs(row.Float64(v))
		}
	}
	for d := range result {
		result[d] /= sum
		size[d] /= sum
	}
	return result, size
}

// Scores returns the scores of the keys that query i of a span sees.
func (x Tensors[T]) Scores(span Span, i, head int) []float64 {
	n := int(span.First) + int(span.Count)
	if x.Causal {
		n = int(span.First) + i + 1
	}
	q := x.Q[((int(span.Row)+i)*x.Heads+head)*x.Dim:][:x.Dim]
	scaled, scores := make([]float64, x.Dim), make([]float64, n)
	for d := range q {
		scaled[d] = row.Float64(q[d]) / math.Sqrt(float64(x.Dim))
	}
	for j := range scores {
		for d, k := range x.key(x.K, span, j, head) {
			scores[j] += scaled[d] * row.Float64(k)
		}
	}
	return scores
}

// key returns the key or value of position j of a span's sequence that a head of the queries sees.
func (x Tensors[T]) key(of []T, span Span, j, head int) []T {
	return of[((int(span.Keys)+j)*x.KeyHeads+head/(x.Heads/x.KeyHeads))*x.Dim:][:x.Dim]
}

// LogSum returns the logarithm of the sum of the exponentials of the scores of query i of a span.
func (x Tensors[T]) LogSum(span Span, i, head int) float64 {
	scores := x.Scores(span, i, head)
	top, sum := slices.Max(scores), 0.0
	for _, score := range scores {
		sum += math.Exp(score - top)
	}
	return top + math.Log(sum)
}

// LogSum returns the logarithm of the sum of the exponentials of the scores.
func (s State) LogSum() float64 { return (float64(s.Top) + math.Log2(float64(s.Sum))) * math.Ln2 }

// Tolerance is the error that is allowed in an element of a result, relative to the sum of the magnitudes of its terms: that
// of rounding weights and results, and half of it for sums; or, in float32, that of the exponential function and of sums.
func Tolerance[T row.Number]() float64 {
	relative, _ := row.Rounding[T]()
	return max(3*relative, 1e-5)
}
