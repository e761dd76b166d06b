package activation

import (
	"fmt"
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/math32"
)

// Element is the type of elements in training.
type Element interface {
	row.Number
	float32 | dtype.BF16
}

// Slopes are the operands of the derivative of Apply: DX becomes DY times the derivative of the function at X.
type Slopes[T Element] struct{ X, DY, DX device.Slice[T] }

//gpu:instance slope32 = slope[[4]float32, row.F32]
//gpu:instance slopeBF16 = slope[[8]float32, row.BF16]

// Fits reports whether Back computes the derivative of a function on a stream's device: that of GELU or SiLU, on GPUs, for whole vectors.
func (x Slopes[T]) Fits(s *device.Stream, f Function) bool {
	return row.FormFor(s) == row.Wide && (f == GELU || f == SiLU) && row.Fits(x.DX.Len(), x.X, x.DY, x.DX)
}

// Back computes the derivative of a function. The error is that of operands that do not fit.
func (x Slopes[T]) Back(s *device.Stream, f Function) error {
	n := x.DX.Len()
	if x.X.Len() != n || x.DY.Len() != n || !x.Fits(s, f) {
		return fmt.Errorf("%w: derivative of function %d; X has %d elements, DY %d, DX %d", ErrShape, f, x.X.Len(), x.DY.Len(), n)
	}
	if n == 0 {
		return nil
	}
	v := device.View[row.Words, T]
	grid := device.Blocks{X: (v(x.DX).Len() + threads - 1) / threads}
	if _, ok := any(x).(Slopes[float32]); ok {
		return slope32(s, grid, v(x.X), v(x.DY), v(x.DX), f)
	}
	return slopeBF16(s, grid, v(x.X), v(x.DY), v(x.DX), f)
}

// slope stores dy times the derivative of a function at x, 16 bytes at a time.
//
//gpu:kernel
//gpu:assume narrow,aligned
//gpu:twin off
//gpu:block 256
func slope[A [4]float32 | [8]float32, F row.Vectors[A]](t gpu.Thread, x, dy, dx []row.Words, f Function) {
	var format F
	for i := t.GlobalX(); i < len(dx); i += t.GridDimX() * threads {
		a, d := format.Unpack(x[i]), format.Unpack(dy[i])
		if f == GELU {
			a = each(a, geluSlope)
		} else {
			a = each(a, siluSlope)
		}
		for k := range len(a) {
			a[k] *= d[k]
		}
		dx[i] = format.Pack(a)
	}
}

// Gradients are the operands of a gated function's derivative. DY is the derivative of the loss with respect to the result, and DGate and
// DUp become those with respect to Gate and Up, in the same layout, which is not Interleaved. DGate may be Gate, and DUp may be Up.
type Gradients[T Element] struct{ Gate, Up, DY, DGate, DUp device.Slice[T] }

// SwiGLUBack computes the derivatives of SwiGLU. Those at gates that are infinite or NaN are NaN.
func SwiGLUBack[T Element](s *device.Stream, shape Shape, layout Layout, x Gradients[T]) error {
	return x.run(s, row.FormFor(s), shape, layout)
}

// check reports whether operands fit a shape.
func (x Gradients[T]) check(shape Shape, layout Layout) error {
	err := (Operands[T]{x.Gate, x.Up, x.DY}).check(shape, layout)
	if err == nil && (layout == Interleaved || x.DGate.Len() != x.Gate.Len() || x.DUp.Len() != x.Up.Len()) {
		err = fmt.Errorf("%w: layout %d; DGate has %d elements, DUp %d", ErrShape, layout, x.DGate.Len(), x.DUp.Len())
	}
	return err
}

//gpu:instance wideGLUBack32 = wideGLUBack[[4]float32, row.F32]
//gpu:instance wideGLUBackBF16 = wideGLUBack[[8]float32, row.BF16]

// run launches a kernel in a form. The Wide form is for rows of whole vectors, aligned and fewer than 1<<31; for others the Plain form runs.
func (x Gradients[T]) run(s *device.Stream, form row.Form, shape Shape, layout Layout) error {
	if err := x.check(shape, layout); err != nil || shape.Rows*shape.Columns == 0 {
		return err
	}
	columns, stride := uint32(shape.Columns), uint32(shape.Columns)
	if layout == Stacked {
		stride *= 2
		x.Up, x.DUp = x.Gate.Slice(shape.Columns, x.Gate.Len()), x.DGate.Slice(shape.Columns, x.Gate.Len())
	}
	grid := device.Blocks{X: shape.Rows}
	if n := uint32(row.Elements[T]()); form == row.Wide && shape.Rows <= math.MaxInt32/threads && row.Fits(shape.Columns, x.Gate, x.Up, x.DY, x.DGate, x.DUp) {
		v := device.View[row.Words, T]
		switch any(x).(type) {
		case Gradients[float32]:
			return wideGLUBack32(s, grid, v(x.Gate), v(x.Up), v(x.DY), v(x.DGate), v(x.DUp), columns/n, stride/n)
		case Gradients[dtype.BF16]:
			return wideGLUBackBF16(s, grid, v(x.Gate), v(x.Up), v(x.DY), v(x.DGate), v(x.DUp), columns/n, stride/n)
		}
	}
	switch x := any(x).(type) {
	case Gradients[float32]:
		return GluBack(s, grid, x.Gate, x.Up, x.DY, x.DGate, x.DUp, columns, stride)
	case Gradients[dtype.BF16]:
		return GluBackHalf(s, grid, x.Gate, x.Up, x.DY, x.DGate, x.DUp, columns, stride)
	}
	panic("BUG: activation: no such element type")
}

// gluBack stores the derivatives of a row with each block. Rows are stride elements apart, except those of dy.
//
//gpu:kernel
//gpu:assume nothing
//gpu:block 16
func gluBack(t gpu.Thread, gate, up, dy, dgate, dup []float32, columns, stride uint32) {
	gatedRow[float32, row.F32](t, gradientRows[float32]{gate, up, dy, dgate, dup}, columns, stride)
}

// gluBackHalf is gluBack for bfloat16, which has fast code only for GPUs.
//
//gpu:kernel
//gpu:assume nothing
//gpu:twin off
//gpu:block 16
func gluBackHalf(t gpu.Thread, gate, up, dy, dgate, dup []dtype.BF16, columns, stride uint32) {
	gatedRow[dtype.BF16, row.BF16](t, gradientRows[dtype.BF16]{gate, up, dy, dgate, dup}, columns, stride)
}

// gradientRows are the operands of a derivative in a kernel.
type gradientRows[T any] struct{ gate, up, dy, dgate, dup []T }

// gatedRow stores the derivatives of a block's row.
func gatedRow[T any, F row.Format[T]](t gpu.Thread, x gradientRows[T], columns, stride uint32) {
	var f F
	n, at := int(columns), t.BlockX()*int(stride)
	gate, up, dgate, dup := x.gate[at:][:n], x.up[at:][:n], x.dgate[at:][:n], x.dup[at:][:n]
	dy := x.dy[t.BlockX()*n:][:n]
	for i := t.ThreadX(); i < n; i += row.Lanes {
		a, b := gatedBack(f.Float32(gate[i]), f.Float32(up[i]), f.Float32(dy[i]))
		dgate[i], dup[i] = f.Of(a), f.Of(b)
	}
}

// wideGLUBack is gluBack for 16 bytes at a time.
//
//gpu:kernel
//gpu:assume narrow,aligned
//gpu:twin off
//gpu:block 256
func wideGLUBack[A [4]float32 | [8]float32, F row.Vectors[A]](t gpu.Thread, gate, up, dy, dgate, dup []row.Words, columns, stride uint32) {
	var f F
	n, at := int(columns), t.BlockX()*int(stride)
	gate, up, dgate, dup = gate[at:][:n], up[at:][:n], dgate[at:][:n], dup[at:][:n]
	dy = dy[t.BlockX()*n:][:n]
	for i := t.ThreadX(); i < n; i += threads {
		a, b, d := f.Unpack(gate[i]), f.Unpack(up[i]), f.Unpack(dy[i])
		for k := range len(a) {
			a[k], b[k] = gatedBack(a[k], b[k], d[k])
		}
		dgate[i], dup[i] = f.Pack(a), f.Pack(b)
	}
}

// gatedBack returns the derivatives of a loss with respect to the operands of gated, given the one with respect to its result.
func gatedBack(gate, up, dy float32) (dgate, dup float32) {
	s := math32.FastDiv(1, 1+math32.FastExp(-gate))
	return dy * up * s * (1 + gate*(1-s)), dy * gate * s
}
