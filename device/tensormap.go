package device

import (
	"fmt"
	"reflect"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// TensorMap is a matrix in a buffer's memory, or a stack of matrices. A kernel copies tiles of type Part to and from it
// (see gpu.TensorMap). A TensorMap is small, so pass it by value.
type TensorMap[Part any] struct {
	in   Slice[byte]
	plan driver.TensorPlan
	err  error
}

// Extent is the size of a stack of matrices: Depth matrices of Height rows of Width elements. Row is the number of elements from the
// start of a row to the start of the next row; 0 means Width. The matrices of a stack are Height rows apart.
type Extent struct{ Width, Height, Depth, Row int }

// MapTensor returns a tensor map of x, as a stack of matrices in row-major order. Part must consist of elements of type T. The distance between rows
// in bytes and the address of x must be multiples of 16. If the arguments are invalid, using the tensor map is an error.
func MapTensor[Part, T any](x Slice[T], e Extent) TensorMap[Part] {
	plan, err := e.plan(span(x), reflect.TypeFor[T](), reflect.TypeFor[Part]())
	return TensorMap[Part]{View[byte](x), plan, err}
}

// plan returns the plan of a tensor map of values of type t with tiles of type part.
func (e Extent) plan(in span, t, part reflect.Type) (driver.TensorPlan, error) {
	tile, err := gpu.TileOf(part)
	if e.Row == 0 {
		e.Row = e.Width
	}
	elem := int(t.Size())
	row := e.Row * elem
	switch {
	case err != nil:
		err = fmt.Errorf("tensor map: %w: %w", err, ErrMismatch)
	case tile.Element != t:
		err = fmt.Errorf("tensor map of %v with a tile of %v: %w", t, tile.Element, ErrMismatch)
	case !e.fits(in.len):
		err = fmt.Errorf("tensor map of %d x %d x %d elements, rows %d apart, in %d: %w", e.Width, e.Height, e.Depth, e.Row, in.len, ErrRange)
	case row%tensorAlign != 0 || in.offset%tensorAlign != 0:
		err = fmt.Errorf("tensor map: rows of %d bytes at offset %d, which must be multiples of %d: %w", row, in.offset, tensorAlign, ErrRange)
	}
	return driver.TensorPlan{
		Element: elem, Size: [3]int{e.Width, e.Height, e.Depth}, Stride: [2]int{row, row * e.Height},
		Box: tile.Box, Panels: tile.Panels,
	}, err
}

// fits reports whether n elements hold the matrices. The product of the sizes may overflow.
func (e Extent) fits(n int) bool {
	if e.Width < 1 || e.Height < 1 || e.Depth < 1 || e.Row < e.Width {
		return false
	}
	rows := (n-e.Width)/e.Row + 1 // the last row needs no gap
	return n >= e.Width && e.Depth <= rows/e.Height
}

// tensorAlign is the alignment of addresses and strides in bytes (CUDA driver API, cuTensorMapEncodeTiled).
const tensorAlign = 16
