package matvec

import (
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/math32"
)

const (
	blockRows = 8  // of a block
	threads   = 16 // of a block, as many as the lanes of AVX-512
)

//gpu:instance Rows = rows[dtype.BF16, row.BF16]
//gpu:instance Rows32 = rows[float32, row.F32]

// rows multiplies eight rows of w, of len(x) columns, by x. Each thread adds up every sixteenth column; then a thread for each
// row adds up what the threads have.
//
//gpu:kernel
//gpu:assume nothing
//gpu:block 16
func rows[T any, F row.Format[T]](t gpu.Thread, w []T, x, y []float32) {
	parts := gpu.Shared[[blockRows][threads]float32](t)
	first := t.BlockX() * blockRows
	var sums [blockRows]float32
	if first+blockRows <= len(y) {
		sums = eight[T, F](t, w[first*len(x):(first+blockRows)*len(x)], x)
	} else {
		for r := range blockRows {
			if first+r < len(y) {
				sums[r] = one[T, F](t, w[(first+r)*len(x):(first+r+1)*len(x)], x)
			}
		}
	}
	for r := range blockRows {
		parts[r][t.ThreadX()] = sums[r]
	}
	t.Sync()
	me := t.ThreadX()
	if me >= blockRows || first+me >= len(y) {
		return
	}
	var sum float32
	for i := range threads {
		sum += parts[me][i]
	}
	y[first+me] = sum
}

// eight returns the thread's part of the products of eight rows and x.
func eight[T any, F row.Format[T]](t gpu.Thread, w []T, x []float32) (sums [blockRows]float32) {
	var f F
	n := len(x)
	for k := t.ThreadX(); k < n; k += threads {
		v := x[k]
		for r := range blockRows {
			sums[r] = math32.FMA(f.Float32(w[r*n+k]), v, sums[r])
		}
	}
	return sums
}

// one returns the thread's part of the product of a row and x.
func one[T any, F row.Format[T]](t gpu.Thread, w []T, x []float32) (sum float32) {
	var f F
	for k := t.ThreadX(); k < len(x); k += threads {
		sum = math32.FMA(f.Float32(w[k]), x[k], sum)
	}
	return sum
}

// Shape is the size of a matrix.
type Shape struct{ Rows, Columns int }

// Operands are the operands of a product: Y = W X. W has its rows one after another.
type Operands[T float32 | dtype.BF16] struct {
	W    device.Slice[T]
	X, Y device.Slice[float32]
}

// ErrShape is the error of operands that do not fit a shape.
var ErrShape = errors.New("matvec: shape does not fit")

// Multiply stores the product of the matrix x.W and x.X in x.Y.
func Multiply[T float32 | dtype.BF16](s *device.Stream, shape Shape, x Operands[T]) error {
	if x.X.Len() != shape.Columns || x.Y.Len() != shape.Rows || x.W.Len() != shape.Rows*shape.Columns {
		return fmt.Errorf("%w: a matrix of %d x %d, operands of %d, %d and %d", ErrShape, shape.Rows, shape.Columns, x.W.Len(), x.X.Len(), x.Y.Len())
	}
	blocks := device.Blocks{X: (shape.Rows + blockRows - 1) / blockRows}
	if x, ok := any(x).(Operands[float32]); ok {
		return Rows32(s, blocks, x.W, x.X, x.Y)
	}
	return Rows(s, blocks, any(x).(Operands[dtype.BF16]).W, x.X, x.Y)
}
