package conv

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/gemm"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// Activation is a function that is applied to each element of a result.
type Activation int32

// The activations.
const (
	None  Activation = iota
	ReLU             // the larger one of x and 0
	ReLU6            // ReLU, but at most 6
	SiLU             // x times the logistic function of x
)

// Operands are the operands of a convolution. Filters follow each other in Weights, each of shape [Kernel, Kernel, Channels]. Those of a
// depthwise convolution are one array of shape [Kernel, Kernel, Channels].
type Operands[T row.Number] struct {
	X, Weights device.Slice[T]
	Y          device.Slice[T]       // overwritten
	Bias       device.Slice[float32] // one element for each channel of Y, or empty
	Residual   device.Slice[T]       // has the shape of Y, or is empty
	Activation Activation            // is applied last
	Workspace  device.Slice[T]       // has the number of elements that the function Workspace returns, at a multiple of 16 bytes; overwritten
}

// check reports whether operands fit a shape.
func (x Operands[T]) check(d *device.Device, s Shape) error {
	if err := s.check(); err != nil {
		return err
	}
	n := s.rows() * s.filters()
	switch {
	case x.X.Len() != s.Batch*s.Height*s.Width*s.Channels, x.Weights.Len() != s.weights(), x.Y.Len() != n,
		x.Residual.Len() != 0 && x.Residual.Len() != n, x.Bias.Len() != 0 && x.Bias.Len() != s.filters(), x.Activation < None || x.Activation > SiLU:
		return fmt.Errorf("%w: %+v, activation %d; X has %d elements, Weights %d, Y %d, Bias %d, Residual %d", ErrShape, s, x.Activation, x.X.Len(), x.Weights.Len(), x.Y.Len(), x.Bias.Len(), x.Residual.Len())
	case x.Workspace.Len() < Workspace[T](d, s) || !x.Workspace.Aligned(16):
		return fmt.Errorf("%w: %+v: a workspace of %d elements, %d are needed, at a multiple of 16 bytes", ErrShape, s, x.Workspace.Len(), Workspace[T](d, s))
	}
	return nil
}

// Workspace returns the number of elements of the workspace of Forward on a device.
func Workspace[T row.Number](d *device.Device, s Shape) int {
	if s.check() != nil || s.Depthwise || s.rows() == 0 {
		return 0
	}
	return gatheredOf[T](d, s).workspace(s)
}

// gathered is the matrices of a convolution as a product.
type gathered struct {
	row     int  // elements from one row to the next, a multiple of eight unless matrices stay where they are
	x       bool // whether rows of the left matrix are gathered
	weights bool // whether rows of the weights are copied because they must be as far apart
	fuse    bool // whether Hopper's kernel runs
	border  bool // whether rows of the left matrix are places with a border
}

func gatheredOf[T row.Number](d *device.Device, s Shape) gathered {
	k := s.depth()
	g := gathered{row: k, fuse: fuses[T](d, s)}
	if s.pointwise() {
		return g
	}
	g.row, g.x = (k+7)/8*8, true
	g.weights, g.border = g.row != k, g.fuse && s.borders()
	return g
}

// left returns the shape that is gathered, and the number of elements of its matrix.
func (g gathered) left(s Shape) (Shape, int) {
	if g.border {
		b := s.border()
		return b, b.rows() * b.Channels
	}
	return s, s.rows() * g.row
}

func (g gathered) workspace(s Shape) int {
	n := 0
	if g.x {
		_, n = g.left(s)
	}
	if g.weights {
		n += s.Filters * g.row
	}
	return n
}

// Forward computes a convolution. It allocates nothing.
func Forward[T row.Number](s *device.Stream, shape Shape, x Operands[T]) error {
	if err := x.check(s.Device(), shape); err != nil || x.Y.Len() == 0 {
		return err
	}
	x = x.filled()
	if shape.depth() == 0 {
		return fmt.Errorf("%w: %+v: no channels", ErrShape, shape)
	}
	if shape.Depthwise {
		return x.depthwise(s, shape)
	}
	if fuses[T](s.Device(), shape) && !(x.X.Aligned(16) && x.Weights.Aligned(16) && x.Y.Aligned(16) && x.Residual.Aligned(16)) {
		return fmt.Errorf("%w: %+v: operands that do not begin at multiples of 16 bytes", ErrShape, shape)
	}
	return x.product(s, shape)
}

// filled returns x with empty slices for operands that are absent.
func (x Operands[T]) filled() Operands[T] {
	if x.Residual.Len() == 0 {
		x.Residual = device.None[T]()
	}
	if x.Bias.Len() == 0 {
		x.Bias = device.None[float32]()
	}
	return x
}

// product computes a convolution as a product of matrices in memory.
func (x Operands[T]) product(s *device.Stream, shape Shape) error {
	g := gatheredOf[T](s.Device(), shape)
	m, err := x.matrices(s, shape, g)
	if err != nil {
		return err
	}
	if g.fuse {
		return x.fused(s, shape, m)
	}
	o := gemm.Operands[T, T, T]{A: m.a, B: m.b, C: x.Y, Bias: x.Bias, Weights: !g.weights}
	if x.Activation == None {
		o.Residual = x.Residual
	}
	err = multiply(s, gemm.Shape{Layout: gemm.NT, M: shape.rows(), N: shape.Filters, K: shape.depth(), LDA: m.row, LDB: m.row}, o)
	if err != nil || x.Activation == None {
		return err
	}
	return x.finish(s)
}

// matrices gathers the operands of the product.
func (x Operands[T]) matrices(s *device.Stream, shape Shape, g gathered) (matrices[T], error) {
	m := matrices[T]{x.X, x.Weights, g.row}
	at := 0
	if g.weights {
		m.b = x.Workspace.Slice(0, shape.Filters*g.row)
		at = m.b.Len() // a multiple of eight
		rows := Shape{Batch: 1, Height: shape.Filters, Width: 1, Channels: shape.depth(), Kernel: 1, Stride: 1}
		if err := collect(s, rows, x.Weights, m.b); err != nil {
			return m, err
		}
	}
	if !g.x {
		return m, nil
	}
	from, n := g.left(shape)
	m.a = x.Workspace.Slice(at, at+n)
	return m, collect(s, from, x.X, m.a)
}

// multiply computes a product of matrices.
func multiply[T row.Number](s *device.Stream, shape gemm.Shape, x gemm.Operands[T, T, T]) error {
	switch x := any(x).(type) {
	case gemm.Operands[float32, float32, float32]:
		return gemm.Float32(s, shape, x)
	case gemm.Operands[dtype.BF16, dtype.BF16, dtype.BF16]:
		return gemm.Half(s, shape, x)
	case gemm.Operands[dtype.F16, dtype.F16, dtype.F16]:
		return gemm.Half(s, shape, x)
	}
	panic("BUG: conv: no such element type")
}

//gpu:instance gatherWords = gather[row.Words]
//gpu:instance gather16 = gather[uint16]
//gpu:instance gather32 = gather[uint32]
//gpu:instance gatherEight16 = gatherEight[uint16]
//gpu:instance gatherEight32 = gatherEight[uint32]

// collect gathers the left matrix of a convolution, whose rows are multiples of eight elements.
func collect[T row.Number](s *device.Stream, shape Shape, x, y device.Slice[T]) error {
	wide := 16 / int(unsafe.Sizeof(*new(T))) // elements of row.Words
	stride := y.Len() / shape.rows()
	if shape.Channels%wide == 0 && x.Aligned(16) {
		p := placesOf(shape, wide)
		p.Row = uint32(stride / wide)
		return gatherWords(s, cover(y.Len()/wide), device.View[row.Words](x), device.View[row.Words](y), p)
	}
	p := placesOf(shape, 1)
	p.Row = uint32(stride)
	switch plain := row.FormFor(s) == row.Plain; {
	case plain && wide == 4:
		return gather32(s, cover(y.Len()), device.View[uint32](x), device.View[uint32](y), p)
	case plain:
		return gather16(s, cover(y.Len()), device.View[uint16](x), device.View[uint16](y), p)
	case wide == 4:
		return gatherEight32(s, cover(y.Len()/8), device.View[uint32](x), device.View[[8]uint32](y), p)
	}
	return gatherEight16(s, cover(y.Len()/8), device.View[uint16](x), device.View[[8]uint16](y), p)
}

// placesOf returns the geometry of a shape in units of some elements.
func placesOf(s Shape, unit int) places {
	h, w := s.Places()
	return places{
		Height: uint32(s.Height), Width: uint32(s.Width), Channels: uint32(s.Channels / unit), OutHeight: uint32(h), OutWidth: uint32(w),
		Kernel: uint32(s.Kernel), Stride: uint32(s.Stride), Before: uint32(s.Before), Rows: uint32(s.rows()),
	}
}

//gpu:instance finish32 = finish[float32, row.F32]
//gpu:instance finishBF16 = finish[dtype.BF16, row.BF16]
//gpu:instance finishF16 = finish[dtype.F16, row.F16]

// finish adds the residual to Y, and applies the activation.
func (x Operands[T]) finish(s *device.Stream) error {
	grid := cover(x.Y.Len())
	switch x := any(x).(type) {
	case Operands[float32]:
		return finish32(s, grid, x.Y, x.Residual, x.Activation)
	case Operands[dtype.BF16]:
		return finishBF16(s, grid, x.Y, x.Residual, x.Activation)
	case Operands[dtype.F16]:
		return finishF16(s, grid, x.Y, x.Residual, x.Activation)
	}
	panic("BUG: conv: no such element type")
}

//gpu:instance depthwise32 = depthwise[float32, row.F32]
//gpu:instance depthwiseBF16 = depthwise[dtype.BF16, row.BF16]
//gpu:instance depthwiseF16 = depthwise[dtype.F16, row.F16]

func (x Operands[T]) depthwise(s *device.Stream, shape Shape) error {
	grid, p := device.Blocks{X: shape.rows(), Y: (shape.Channels + strip - 1) / strip}, placesOf(shape, 1)
	switch x := any(x).(type) {
	case Operands[float32]:
		return depthwise32(s, grid, x.X, x.Weights, x.Y, x.Residual, x.Bias, p, x.Activation)
	case Operands[dtype.BF16]:
		return depthwiseBF16(s, grid, x.X, x.Weights, x.Y, x.Residual, x.Bias, p, x.Activation)
	case Operands[dtype.F16]:
		return depthwiseF16(s, grid, x.X, x.Weights, x.Y, x.Residual, x.Bias, p, x.Activation)
	}
	panic("BUG: conv: no such element type")
}

// Method says what pooling stores.
type Method int32

// The methods.
const (
	Max  Method = iota // the largest element, NaN if one is NaN
	Mean               // the mean of the elements inside X
)

//gpu:instance pool32 = pool[float32, row.F32]
//gpu:instance poolBF16 = pool[dtype.BF16, row.BF16]
//gpu:instance poolF16 = pool[dtype.F16, row.F16]
//gpu:instance poolEightBF16 = poolEight[dtype.BF16, row.BF16]
//gpu:instance poolEightF16 = poolEight[dtype.F16, row.F16]

// Pooling is the operands of Pool.
type Pooling[T row.Number] struct {
	X, Y   device.Slice[T]
	Method Method
}

// Pool reduces the elements of each channel of X under a window that moves like a filter. Elements outside X do not count.
func Pool[T row.Number](s *device.Stream, shape Shape, o Pooling[T]) error {
	x, y, m := o.X, o.Y, o.Method
	shape.Depthwise = true
	if err := shape.check(); err != nil {
		return err
	}
	if x.Len() != shape.Batch*shape.Height*shape.Width*shape.Channels || y.Len() != shape.rows()*shape.Channels || m < Max || m > Mean {
		return fmt.Errorf("%w: pooling %+v, method %d; X has %d elements, Y %d", ErrShape, shape, m, x.Len(), y.Len())
	}
	if y.Len() == 0 {
		return nil
	}
	if x.Len() == 0 {
		return errors.Join(ErrShape, fmt.Errorf("conv: pooling %+v: no elements", shape))
	}
	if row.FormFor(s) == row.Wide && shape.Channels%8 == 0 && x.Aligned(16) && y.Aligned(16) {
		grid, p := cover(y.Len()/8), placesOf(shape, 8)
		switch x := any(x).(type) {
		case device.Slice[dtype.BF16]:
			return poolEightBF16(s, grid, device.View[[8]dtype.BF16](x), device.View[[8]dtype.BF16](any(y).(device.Slice[dtype.BF16])), p, m)
		case device.Slice[dtype.F16]:
			return poolEightF16(s, grid, device.View[[8]dtype.F16](x), device.View[[8]dtype.F16](any(y).(device.Slice[dtype.F16])), p, m)
		}
	}
	grid, p := device.Blocks{X: shape.rows(), Y: (shape.Channels + strip - 1) / strip}, placesOf(shape, 1)
	switch x := any(x).(type) {
	case device.Slice[float32]:
		return pool32(s, grid, x, any(y).(device.Slice[float32]), p, m)
	case device.Slice[dtype.BF16]:
		return poolBF16(s, grid, x, any(y).(device.Slice[dtype.BF16]), p, m)
	case device.Slice[dtype.F16]:
		return poolF16(s, grid, x, any(y).(device.Slice[dtype.F16]), p, m)
	}
	panic("BUG: conv: no such element type")
}

// cover returns the blocks of threads for n units.
func cover(n int) device.Blocks { return device.Blocks{X: (n + threads - 1) / threads} }
