package attention

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/math32"
)

// joinAhead is the number of parts that a thread has requested at once.
const joinAhead = 32

// joinParts adds what several blocks have stored for a query: with each block a head, with each thread an element. It leaves queries
// alone of which a block had all pages.
//
//gpu:kernel
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
	head, i, dim := t.BlockX()*int(c.Heads)+t.BlockY(), uint32(t.ThreadX()), c.Width*8
	all := states[head*int(parts):][:count]
	from := sums[head*int(parts)*int(dim):][:count*dim]
	x := state{top: math32.Inf(-1)}
	var sum float32
	for first := uint32(0); first < count; first += joinAhead {
		var got [joinAhead]float32
		var of [joinAhead]state
		for j := range uint32(joinAhead) {
			at := min(first+j, count-1) // without a branch, so that all loads come first
			got[j], of[j] = from[at*dim+i], all[at]
		}
		top := x.top
		for j := range joinAhead {
			top = max(top, of[j].top)
		}
		factor := math32.FastExp2((x.top - top) * c.Scale)
		x.top, x.sum, sum = top, x.sum*factor, sum*factor
		for j := range uint32(joinAhead) {
			if first+j < count {
				factor := math32.FastExp2((of[j].top - top) * c.Scale)
				x.sum += factor * of[j].sum
				sum += factor * got[j]
			}
		}
	}
	o[head*int(dim)+int(i)] = f.Of(sum / x.sum)
}
