package device

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/gpu"
)

// TensorMap is a matrix in a buffer's memory, or a stack of them, of which a kernel copies parts of
// the size of Part: see gpu.TensorMap. It is a small value to copy.
type TensorMap[Part any] struct {
	in   Slice[byte]
	plan TensorPlan
	err  error
}

// TensorPlan is what a tensor map says.
type TensorPlan struct {
	Address uintptr
	Element int    // bytes of one
	Size    [3]int // elements along x, y and z
	Stride  [2]int // bytes from row to row, from layer to layer
	Box     [2]int // elements along x and y that a copy moves
	Panels  bool   // the tile is made of gpu.Panels
}

// Extent is the size of a stack of matrices: elements of a row, rows, matrices.
type Extent struct{ Width, Height, Depth int }

// MapTensor returns the map of in as a stack of matrices, row by row and without anything between
// them. Rows have a multiple of 16 bytes and begin at such addresses; T is the type of Part's
// elements. Mistakes make using it an error.
func MapTensor[Part, T any](in Slice[T], e Extent) TensorMap[Part] {
	tile, err := gpu.TileOf(reflect.TypeFor[Part]())
	size := sizeOf[T]()
	m := TensorMap[Part]{in: View[byte](in), plan: TensorPlan{
		Element: size, Size: [3]int{e.Width, e.Height, e.Depth}, Stride: [2]int{e.Width * size, e.Width * e.Height * size},
		Box: tile.Box, Panels: tile.Panels,
	}}
	switch {
	case err != nil:
		m.err = fmt.Errorf("tensor map: %w: %w", err, ErrMismatch)
	case tile.Element != reflect.TypeFor[T]():
		m.err = fmt.Errorf("tensor map of %v with a tile of %v: %w", reflect.TypeFor[T](), tile.Element, ErrMismatch)
	case e.Width < 1 || e.Height < 1 || e.Depth < 1 || e.Width*e.Height*e.Depth > in.Len():
		m.err = fmt.Errorf("tensor map of %d x %d x %d elements in %d: %w", e.Width, e.Height, e.Depth, in.Len(), ErrRange)
	case e.Width*size%tensorAlign != 0 || in.offset%tensorAlign != 0:
		m.err = fmt.Errorf("tensor map: rows of %d bytes from byte %d on, both must be multiples of %d: %w", e.Width*size, in.offset, tensorAlign, ErrRange)
	}
	return m
}

// tensorAlign is what addresses and strides are multiples of (CUDA driver API, cuTensorMapEncodeTiled).
const tensorAlign = 16

// TensorMapper is a Backend whose kernels take tensor maps in a form of its own.
type TensorMapper interface {
	// EncodeTensorMap writes the map to dst.
	EncodeTensorMap(dst *[TensorMapBytes]byte, p TensorPlan) error
}

// PutTensorMap adds a tensor map as the next argument.
func PutTensorMap[Part any](p *Plan, m TensorMap[Part]) {
	at, ok := p.tensorParameter()
	if !ok {
		return
	}
	address, err := p.lend(span(m.in))
	if err == nil {
		err = m.err
	}
	if err != nil {
		p.fail(err)
		return
	}
	m.plan.Address = address
	dst := (*[TensorMapBytes]byte)(unsafe.Add(p.Params(), at))
	if b, ok := p.stream.device.backend.(TensorMapper); ok {
		if err := b.EncodeTensorMap(dst, m.plan); err != nil {
			p.fail(err)
		}
		return
	}
	m.plan.put((*gpu.MapPlan)(unsafe.Pointer(dst)))
}

// put writes the map as plain Go reads it. The address stays a number for the collector: the plan pins
// the memory.
func (p TensorPlan) put(to *gpu.MapPlan) {
	*(*uintptr)(unsafe.Pointer(&to.Address)) = p.Address
	to.Size = [3]int32{int32(p.Size[0]), int32(p.Size[1]), int32(p.Size[2])}
	to.Box = [2]int32{int32(p.Box[0]), int32(p.Box[1])}
	to.Element, to.Panels = int32(p.Element), p.Panels
	to.Stride = [2]int64{int64(p.Stride[0]), int64(p.Stride[1])}
}
