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

const team = 16 // threads for a line of prepareTiled, of up to eight elements each

// prepareTiled is linesOf for rows whose elements a team multiplies. It also clears derivatives in rows of no sequence, which no block computes.
//
//gpu:kernel
//gpu:assume narrow,aligned
//gpu:twin off
//gpu:block 256
func prepareTiled(t gpu.Thread, o, do [][8]dtype.BF16, states []prefill.State, spans []prefill.Span, lines [][2]float32, dq, dk, dv [][8]dtype.BF16, l layout) {
	line, part := t.GlobalX()/team, t.GlobalX()%team
	width := int(l.Dim) / 8
	var product float32
	if at := line*width + part; line < len(lines) && part < width {
		a, b := o[at], do[at]
		for k := range a {
			product = math32.FMA(a[k].Float32(), b[k].Float32(), product)
		}
		row, head := int(uint32(line)/uint32(l.Heads)), int(uint32(line)%uint32(l.Heads))
		if !l.covered(spans, row) {
			dq[row*int(l.QueryStep)+head*width+part] = [8]dtype.BF16{}
			if head < int(l.KeyHeads) {
				at := row*int(l.KeyStep) + head*width + part
				dk[at], dv[at] = [8]dtype.BF16{}, [8]dtype.BF16{}
			}
		}
	}
	for mask := 1; mask < team; mask *= 2 {
		product += gpu.ShuffleXor(t, product, mask)
	}
	if part == 0 && line < len(lines) {
		state := states[line]
		lines[line] = [2]float32{state.Top + math32.Log2(state.Sum), product}
	}
}

// covered reports whether a row is one of a sequence.
func (l *layout) covered(spans []prefill.Span, row int) bool {
	low, high := 0, len(spans)
	for low < high {
		if middle := int(uint(low+high) / 2); int(spans[middle].Row) <= row {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low == 0 {
		return false
	}
	s := spans[low-1]
	end := int(s.Row) + int(s.Count)
	return s.Row >= 0 && s.First == 0 && s.Keys == s.Row && row < end && end <= int(l.Rows)
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
