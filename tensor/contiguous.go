package tensor

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/strided"
)

// Contiguous returns t if its elements are consecutive in memory, and otherwise a copy in row-major order. The result has the shape and the
// element type of t.
func (t *Tensor) Contiguous() *Tensor {
	if t == nil || t.err != nil || t.IsContiguous() {
		return t
	}
	back := func(d *Derivative) []*Tensor { return []*Tensor{d.Grad} }
	return Op{Name: "Contiguous", In: []*Tensor{t}, DType: t.dtype, Shape: t.shape, Launch: t.copyTo, Back: back}.Apply()
}

// copyTo copies the elements to out.
func (t *Tensor) copyTo(s *device.Stream, out *Tensor) error {
	l := strided.Layout{Shape: t.shape, Strides: t.strides, Offset: t.offset}
	switch t.dtype.Size() {
	case 1:
		return strided.Copy(s, device.View[uint8](out.memory.bytes), device.View[uint8](t.memory.bytes), l)
	case 2:
		return strided.Copy(s, device.View[uint16](out.memory.bytes), device.View[uint16](t.memory.bytes), l)
	case 4:
		return strided.Copy(s, device.View[uint32](out.memory.bytes), device.View[uint32](t.memory.bytes), l)
	case 8:
		return strided.Copy(s, device.View[uint64](out.memory.bytes), device.View[uint64](t.memory.bytes), l)
	}
	return fmt.Errorf("%w: elements of %d bytes", ErrDType, t.dtype.Size())
}
