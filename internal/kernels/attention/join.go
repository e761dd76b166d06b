package attention

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/math32"
)

const (
	mostParts = 288 // of a query, a multiple of joinAhead
	joinAhead = 16  // parts that a thread has requested at once
)

// joinParts adds what several blocks have stored for a query: with each block a head, with each thread an element. It leaves queries
// alone of which a block had all pages.
//
//gpu:kernel
//gpu:block 128
func joinParts[T any, F row.Format[T]](t gpu.Thread, tokens []Token, c decoding, parts uint32, sums []float32, states []state, o []T) {
	var f F
	factors := gpu.Shared[[mostParts]float32](t)
	t.StartNext()
	if !c.Settled {
		t.AwaitPrevious()
	}
	count := c.split(tokens[t.BlockX()], parts).parts
	t.AwaitPrevious()
	if count < 2 || count > mostParts {
		return
	}
	head, dim := t.BlockX()*int(c.Heads)+t.BlockY(), c.Width*8
	from := sums[head*int(parts)*int(dim):][:count*dim]
	i := min(uint32(t.ThreadX()), dim-1)
	var sum, total float32
	for first := uint32(0); first < count; first += joinAhead {
		got := joining(from[first*dim+i:], dim, count-first)
		if first == 0 { // after the first requests
			total = weighParts(t, states[head*int(parts):][:count], factors, c.Scale)
			t.Sync()
		}
		for j := range uint32(joinAhead) {
			if first+j < count {
				sum += factors[first+j] * got[j]
			}
		}
	}
	if uint32(t.ThreadX()) < dim {
		o[head*int(dim)+int(i)] = f.Of(sum / total)
	}
}

// joining requests an element of some parts, of the last one again if there are fewer.
func joining(from []float32, dim, count uint32) (got [joinAhead]float32) {
	for j := range uint32(joinAhead) {
		got[j] = from[min(j, count-1)*dim] // without a branch, so that all loads come first
	}
	return got
}

// weighParts stores the factors of the parts' sums, and returns the sum of all weights. Each warp computes it, the first one stores.
func weighParts(t gpu.Thread, states []state, factors *[mostParts]float32, scale float32) (total float32) {
	top := math32.Inf(-1)
	for i := t.Lane(); i < len(states); i += gpu.WarpSize {
		top = max(top, states[i].top)
	}
	top = gpu.WarpReduceMax(t, top)
	for i := t.Lane(); i < min(len(states), mostParts); i += gpu.WarpSize {
		x := states[i]
		factor := math32.FastExp2((x.top - top) * scale)
		total += factor * x.sum
		if t.Warp() == 0 {
			factors[i] = factor
		}
	}
	return gpu.WarpReduceAdd(t, total)
}
