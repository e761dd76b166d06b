package norm

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

// Narrowed are the operands of a norm of float32 rows whose results are rounded to bfloat16: Y = norm(X).
type Narrowed struct {
	X      device.Slice[float32]
	Y      device.Slice[dtype.BF16]
	Weight device.Slice[float32] // a number for each column
	Bias   device.Slice[float32] // the same, of LayerNormNarrow only
}

const narrowThreads = 256 // of a block of narrow

// RMSNormNarrow is RMSNorm of float32 rows with results rounded to bfloat16, as the layers of a model need it whose residual stream is
// float32. It has one form, for GPUs, which runs on all devices. The number of columns is a multiple of 4.
func RMSNormNarrow(s *device.Stream, shape Shape, epsilon float32, x Narrowed) error {
	n := shape.Rows * shape.Columns
	if shape.Rows < 0 || shape.Columns < 0 || shape.Columns%4 != 0 || x.X.Len() != n || x.Y.Len() != n || x.Weight.Len() != shape.Columns {
		return fmt.Errorf("%w: a matrix of %d x %d; X has %d elements, Y %d, Weight %d", ErrShape, shape.Rows, shape.Columns, x.X.Len(), x.Y.Len(), x.Weight.Len())
	}
	if n == 0 {
		return nil
	}
	return Narrow(s, device.Blocks{X: shape.Rows}, device.View[[4]float32](x.X), device.View[[4]float32](x.Weight), device.View[[4]dtype.BF16](x.Y), epsilon)
}

// narrow normalizes a row of x with each block. A thread reads its elements again in the second pass: they are in a cache.
//
//gpu:kernel
//gpu:twin off
//gpu:block 256
func narrow(t gpu.Thread, x, weight [][4]float32, y [][4]dtype.BF16, epsilon float32) {
	t.StartNext()
	parts := gpu.Shared[[narrowThreads / gpu.WarpSize]float32](t)
	n := len(weight)
	from, to := x[t.BlockX()*n:][:n], y[t.BlockX()*n:][:n]
	t.AwaitPrevious()
	var sum float32
	for i := t.ThreadX(); i < n; i += narrowThreads {
		for _, v := range from[i] {
			sum = math32.FMA(v, v, sum)
		}
	}
	sum = gpu.WarpReduceAdd(t, sum)
	if t.Lane() == 0 {
		parts[t.Warp()] = sum
	}
	t.Sync()
	sum = 0
	for i := range parts {
		sum += parts[i]
	}
	factor := 1 / math32.Sqrt(sum/float32(4*n)+epsilon)
	for i := t.ThreadX(); i < n; i += narrowThreads {
		v, w := from[i], weight[i]
		var out [4]dtype.BF16
		for k := range v {
			out[k] = dtype.BF16From32(v[k] * factor * w[k])
		}
		to[i] = out
	}
}
