package array

import (
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// lanes are the elements of 16 bytes.
type lanes interface{ [4]float32 | [8]uint16 }

// vector converts elements to float32 and back.
type vector[V lanes, A [4]float32 | [8]float32] interface {
	unpack(v V) A
	pack(a A) V
}

// four is the vector of float32.
type four struct{}

func (four) unpack(v [4]float32) [4]float32 { return v }
func (four) pack(a [4]float32) [4]float32   { return a }

// eight is the vector of bfloat16.
type eight struct{}

func (eight) unpack(v [8]uint16) (a [8]float32) {
	for i := range a {
		a[i] = widened(v[i])
	}
	return a
}

func (eight) pack(a [8]float32) (v [8]uint16) {
	for i := range a {
		v[i] = bfloat16(a[i])
	}
	return v
}

// wide applies an operation of few instructions to 16 bytes of contiguous elements at a time, for GPUs. The vectors of y begin again at its
// end; if y is empty, the scalar takes their place.
//
//gpu:kernel
//gpu:block 128
func wide[V lanes, A [4]float32 | [8]float32, C vector[V, A]](t gpu.Thread, x, y, out []V, op Op, scalar float32, n uint32) {
	var c C
	for i := first(t); i < n; i += uint32(t.GridDimX()) * block {
		a := c.unpack(x[i])
		var b A
		if m := uint32(len(y)); m > 0 {
			at := i
			if m < n {
				at = i % m
			}
			b = c.unpack(y[at])
		} else {
			for k := range len(b) {
				b[k] = scalar
			}
		}
		out[i] = c.pack(cheapAll(op, a, b))
	}
}

// cheapAll is cheap32 for each element. It chooses the operation once.
func cheapAll[A [4]float32 | [8]float32](op Op, x, y A) A {
	switch op {
	case Neg:
		for i := range len(x) {
			x[i] = -x[i]
		}
	case Square:
		for i := range len(x) {
			x[i] *= x[i]
		}
	case ReLU:
		for i := range len(x) {
			x[i] = greater(x[i], 0)
		}
	case Add:
		for i := range len(x) {
			x[i] += y[i]
		}
	case Sub:
		for i := range len(x) {
			x[i] -= y[i]
		}
	case Mul:
		for i := range len(x) {
			x[i] *= y[i]
		}
	case Div:
		for i := range len(x) {
			x[i] /= y[i]
		}
	case ReLUBack:
		for i := range len(x) {
			x[i] = cheap32(ReLUBack, x[i], y[i])
		}
	}
	return x
}

//gpu:instance wideF32 = wide[[4]float32, [4]float32, four]
//gpu:instance wideBF16 = wide[[8]uint16, [8]float32, eight]

// wide launches wide if the operands permit it, and reports whether they do.
func (x *Operands) wide(s *device.Stream, p places) (bool, error) {
	size := uint32(x.X.Type.Size())
	of := x.X.Type
	count := 16 / size
	if of != dtype.Float32 && of != dtype.BFloat16 || x.Out.Type != of || row.FormFor(s) == row.Plain || !x.Op.wide() || p.N%count != 0 {
		return false, nil
	}
	r, ok := x.flat(p)
	if !ok || r.inner != 1 && r.period != 1 || x.Y.Type != dtype.Invalid && (x.Y.Type != of || r.period%count != 0) || (p.Offset[0]|p.Offset[1]|p.Offset[2])%count != 0 {
		return false, nil
	}
	n := p.N / count
	g := blocksFor(s, n)
	if of == dtype.Float32 {
		return true, wideF32(s, g, vectors[[4]float32](&x.X, p.N), vectorsOfY[[4]float32](x, r), vectors[[4]float32](&x.Out, p.N), x.Op, float32(x.Scalar), n)
	}
	return true, wideBF16(s, g, vectors[[8]uint16](&x.X, p.N), vectorsOfY[[8]uint16](x, r), vectors[[8]uint16](&x.Out, p.N), x.Op, float32(x.Scalar), n)
}

// vectors returns n elements of an array.
func vectors[V lanes](a *Array, n uint32) device.Slice[V] {
	size := a.Type.Size()
	return device.View[V](a.Bytes.Slice(a.Offset*size, (a.Offset+int(n))*size))
}

// vectorsOfY returns those of Y, or none.
func vectorsOfY[V lanes](x *Operands, r repeated) device.Slice[V] {
	if x.Y.Type == dtype.Invalid {
		return device.None[V]()
	}
	return vectors[V](&x.Y, r.period)
}
