package attentionback

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/prefill"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/math32"
)

// linesOf stores for each query and head the logarithm to base 2 of the sum of the exponentials of the scores, and the product of the
// result and its derivative. If p is the weight of a key, and dp the derivative with respect to it, p*(dp - product) is the derivative
// with respect to the key's score.
//
//gpu:kernel
//gpu:assume nothing
//gpu:twin off
//gpu:instance linesOf32 = linesOf[float32, row.F32]
//gpu:instance linesOfBF16 = linesOf[dtype.BF16, row.BF16]
func linesOf[T any, F row.Format[T]](t gpu.Thread, o, do []T, states []prefill.State, lines [][2]float32, dim uint32) {
	var f F
	i := t.GlobalX()
	if i >= len(lines) {
		return
	}
	a, b := o[i*int(dim):][:dim], do[i*int(dim):][:dim]
	var product float32
	for k := range a {
		product = math32.FMA(f.Float32(a[k]), f.Float32(b[k]), product)
	}
	state := states[i]
	lines[i] = [2]float32{state.Top + math32.Log2(state.Sum), product}
}

// widen converts elements to float32.
//
//gpu:kernel
//gpu:assume nothing
//gpu:twin off
func widen(t gpu.Thread, x []dtype.BF16, y []float32) {
	if i := t.GlobalX(); i < len(y) {
		y[i] = x[i].Float32()
	}
}

// addHeads adds the rows of a group of heads, of dim elements.
//
//gpu:kernel
//gpu:assume nothing
//gpu:twin off
func addHeads(t gpu.Thread, x, y []float32, group, dim uint32) {
	if i := t.GlobalX(); i < len(y) {
		y[i] = sumOfHeads(x, uint32(i), group, dim)
	}
}

// addHeadsHalf is addHeads with results rounded to bfloat16.
//
//gpu:kernel
//gpu:assume nothing
//gpu:twin off
func addHeadsHalf(t gpu.Thread, x []float32, y []dtype.BF16, group, dim uint32) {
	if i := t.GlobalX(); i < len(y) {
		y[i] = dtype.BF16From32(sumOfHeads(x, uint32(i), group, dim))
	}
}

// sumOfHeads returns the sum for an element of the result.
func sumOfHeads(x []float32, i, group, dim uint32) (sum float32) {
	at := i/dim*group*dim + i%dim
	for range group {
		sum += x[at]
		at += dim
	}
	return sum
}
