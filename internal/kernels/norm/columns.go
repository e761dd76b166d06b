package norm

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

const (
	vectorColumns = 32                            // vectors of a row that a block of sumVectors adds
	vectorRows    = columnThreads / vectorColumns // rows that it adds at a time; also the elements of a vector
)

// sumAligned launches sumVectors. The factors and means of rows are at the beginning of the workspace.
func sumAligned(s *device.Stream, shape Shape, x Gradients[dtype.BF16], parts device.Slice[float32]) error {
	n, rows := shape.chunks()
	vectors, v := shape.Columns/vectorRows, device.View[row.Words, dtype.BF16]
	blocks := device.Blocks{X: (vectors + vectorColumns - 1) / vectorColumns, Y: n}
	lines := device.View[[2]float32](x.Workspace.Slice(0, 2*shape.Rows))
	return SumVectors(s, blocks, v(x.X), v(x.DY), lines, device.View[[vectorRows]float32](parts), uint32(rows), uint32(vectors))
}

// vectorSums is the sums of a block's threads: of each row, the elements of vectors for the weights and then for the biases.
type vectorSums [vectorRows][2][8][vectorColumns]float32

// sumVectors is sumHalves for aligned rows of whole vectors, which GPUs load at once.
//
//gpu:kernel
//gpu:assume narrow,aligned
//gpu:twin off
//gpu:block 256
func sumVectors(t gpu.Thread, x, dy []row.Words, lines [][2]float32, parts [][vectorRows]float32, rows, width uint32) {
	sums := gpu.Shared[vectorSums](t)
	column, me := uint32(t.ThreadX())%vectorColumns, uint32(t.ThreadX())/vectorColumns
	at, number := uint32(t.BlockX())*vectorColumns+column, uint32(t.BlockY())
	k, end := number*rows+me, min(number*rows+rows, uint32(len(lines)))
	if at >= width {
		end = 0
	}
	var v vectorSum
	for ; k+3*vectorRows < end; k += 4 * vectorRows {
		var a, b [4]row.Words
		for i := range a {
			from := (k+uint32(i)*vectorRows)*width + at
			a[i], b[i] = x[from], dy[from]
		}
		for i := range a {
			v.add(a[i], b[i], lines[k+uint32(i)*vectorRows])
		}
	}
	for ; k < end; k += vectorRows {
		v.add(x[k*width+at], dy[k*width+at], lines[k])
	}
	for i := range v.weight {
		sums[me][0][i][column], sums[me][1][i][column] = v.weight[i], v.bias[i]
	}
	t.Sync()
	if at >= width {
		return
	}
	// A thread has element me of a vector.
	w, b := sums[0][0][me][column], sums[0][1][me][column]
	for i := 1; i < vectorRows; i++ {
		w, b = w+sums[i][0][me][column], b+sums[i][1][me][column]
	}
	parts[number*width+at][me], parts[(uint32(t.GridDimY())+number)*width+at][me] = w, b
}

// vectorSum is sums of a thread.
type vectorSum struct{ weight, bias [8]float32 }

// add adds the products of derivatives and normalized elements, and the derivatives.
func (v *vectorSum) add(x, dy row.Words, line [2]float32) {
	a, b := row.BF16{}.Unpack(x), row.BF16{}.Unpack(dy)
	for i := range a {
		v.weight[i] += b[i] * ((a[i] - line[1]) * line[0])
		v.bias[i] += b[i]
	}
}
