package sampling

import (
	"math"

	"github.com/gopherwarp/gopherwarp/gpu"
)

const (
	scoutThreads = 256
	spanTokens   = 8 * scoutThreads
	topIntegers  = 2 // size of a top, in integers
)

// scout adjusts a span of a row with each block, and stores the greatest key and its first token unless a histogram of all keys follows,
// for which all are read again. BlockX is the row.
//
//gpu:kernel
//gpu:twin off
//gpu:block 256
//gpu:contract off
func scout(t gpu.Thread, logits []float32, best []top, params []Params, counts []uint16, mask []uint32, biases []Bias, offsets []int32, vocabulary uint32) {
	parts := gpu.Shared[[scoutThreads / gpu.WarpSize]int64](t)
	n, at := int(vocabulary), t.BlockX()
	p := params[at]
	if p.Skip {
		return
	}
	row, o := logits[at*n:at*n+n], options{counts, mask, biases, offsets}
	in := span{t.BlockY() * spanTokens, min((t.BlockY()+1)*spanTokens, n), team{t.ThreadX(), scoutThreads}}
	o.adjust(t, row, p, in)
	if p.cuts(n) {
		return
	}
	greatest := int64(math.MinInt64)
	for k := range spanTokens / scoutThreads {
		if i := in.from + k*scoutThreads + t.ThreadX(); i < in.to {
			greatest = max(greatest, orderOf(row[i], i))
		}
	}
	if greatest = maxOfBlock(t, parts[:], greatest); t.ThreadX() == 0 {
		best[at*t.GridDimY()+t.BlockY()] = top{int32(greatest >> 32), int32(^uint32(greatest))}
	}
}
