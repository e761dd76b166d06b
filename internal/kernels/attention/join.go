package attention

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/math32"
)

// joinParts adds what several blocks have stored for a query: with each block a head, with each thread an element. Each lane has the
// state of one of 32 parts. It leaves queries alone of which a block had all pages.
//
//gpu:kernel
//gpu:twin off
//gpu:block 128
func joinParts[T any, F row.Format[T]](t gpu.Thread, tokens []Token, c decoding, parts uint32, sums []float32, states []state, o []T) {
	var f F
	t.StartNext()
	if !c.Settled {
		t.AwaitPrevious()
	}
	count := c.split(tokens[t.BlockX()], parts).parts
	t.AwaitPrevious()
	if count < 2 {
		return
	}
	head, dim := t.BlockX()*int(c.Heads)+t.BlockY(), c.Width*8
	from, all := sums[head*int(parts)*int(dim):][:count*dim], states[head*int(parts):][:count]
	i, lane := min(uint32(t.ThreadX()), dim-1), uint32(t.Lane())
	x := state{top: math32.Inf(-1)}
	var sum float32
	for first := uint32(0); first < count; first += gpu.WarpSize {
		got, of := joining(from[first*dim+i:], dim, count-first), all[min(first+lane, count-1)]
		if first+lane >= count {
			of = state{top: math32.Inf(-1)}
		}
		top := max(x.top, gpu.WarpReduceMax(t, of.top))
		shrink, factor := math32.FastExp2((x.top-top)*c.Scale), math32.FastExp2((of.top-top)*c.Scale)
		x.top, x.sum, sum = top, x.sum*shrink+gpu.WarpReduceAdd(t, factor*of.sum), sum*shrink
		for j := range got {
			sum += gpu.Shuffle(t, factor, j) * got[j]
		}
	}
	if uint32(t.ThreadX()) < dim {
		o[head*int(dim)+int(i)] = f.Of(sum / x.sum)
	}
}

// joining requests an element of 32 parts, of the last one again if there are fewer.
func joining(from []float32, dim, count uint32) (got [gpu.WarpSize]float32) {
	for j := range uint32(gpu.WarpSize) {
		got[j] = from[min(j, count-1)*dim] // without a branch, so that all loads come first
	}
	return got
}
