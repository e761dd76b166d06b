package attention

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/math32"
)

const decodeThreads = decodeWarps * gpu.WarpSize

// nearby is the shared memory of a block that decodes.
type nearby struct {
	states [decodeWarps][tileHeads]state
	sums   [decodeWarps][tileHeads][MaxDim]float32 // of weighted values
}

// keep stores the sums of a warp whose lanes have what weighted says.
func (n *nearby) keep(t gpu.Thread, acc *[maxSteps][4]float32, steps int) {
	to := &n.sums[t.Warp()]
	head := t.Lane() % 4 * 2
	for i := range 2 {
		for j := range steps {
			at := j*stepDims + t.Lane()/4
			to[head+i][at] = acc[j][i]
			to[head+i][at+8] = acc[j][2+i]
		}
	}
}

// eight returns the sums over the block's warps of eight elements of a head, and the state of the head's softmax.
func (n *nearby) eight(head, first uint32, scale float32) (sum [8]float32, x state) {
	x.top = n.states[0][head].top
	for w := 1; w < decodeWarps; w++ {
		x.top = max(x.top, n.states[w][head].top)
	}
	for w := range decodeWarps {
		factor := math32.FastExp2((n.states[w][head].top - x.top) * scale)
		x.sum += factor * n.states[w][head].sum
		from := n.sums[w][head][first:][:8]
		for i := range sum {
			sum[i] += factor * from[i]
		}
	}
	return sum, x
}

// clearHeads stores zeros if the query is outside the table.
func clearHeads[T any](t gpu.Thread, b *part, o [][8]T) {
	if i := uint32(t.ThreadX()); b.length == 0 && t.BlockZ() == 0 && i < b.heads*b.c.Width {
		o[int(b.firstHead)*int(b.c.Width)+int(i)] = [8]T{}
	}
}

// results is where blocks store what they have computed: results, or sums and states that joinParts joins.
type results[T any, F row.Format[T]] struct {
	sums   [][8]float32
	states []state
	o      [][8]T
}

// deliver stores the results of a block that has all pages of a query, and the sums of any other.
func (r results[T, F]) deliver(t gpu.Thread, b *part, near *nearby) {
	width, item := b.c.Width, uint32(t.ThreadX())
	if item >= b.heads*width {
		return
	}
	head, i := item/width, item%width
	sum, x := near.eight(head, i*8, b.c.Scale)
	if b.parts == 1 {
		r.o[int(b.firstHead+head)*int(width)+int(i)] = divided[T, F](sum, x.sum)
		return
	}
	at := int(b.firstHead+head)*t.GridDimZ() + t.BlockZ()
	r.sums[at*int(width)+int(i)] = sum
	if i == 0 {
		r.states[at] = x
	}
}

// divided returns sums divided by the sum of the weights.
func divided[T any, F row.Format[T]](sum [8]float32, by float32) (r [8]T) {
	var f F
	for i, x := range sum {
		r[i] = f.Of(x / by)
	}
	return r
}
