package gpu

import (
	"unsafe"

	"github.com/gopherwarp/gopherwarp/dtype"
)

// Multiplicand is an element type of the matrices that tensor cores multiply. Tensor cores use only
// the upper 19 bits of a float32 (TF32).
type Multiplicand interface {
	dtype.F16 | dtype.BF16 | float32 | dtype.F8E4M3 | dtype.F8E5M2
}

// PanelRows is the number of rows of a Panel, and PanelBytes is its size in bytes.
const (
	PanelRows  = 64
	PanelBytes = PanelRows * panelWidth
)

const (
	panelWidth = 128 // bytes of a row
	panelChunk = 16  // bytes that the swizzle keeps together
)

// Panel is a tile of a matrix in shared memory, in the layout that bulk copies write and tensor
// cores read: 64 rows of 128 bytes. A row has 128 elements of one byte, 64 of two bytes or 32 of
// four bytes. The layout is swizzled: the 16-byte chunk j of row i is stored at position j ^ i%8 of
// the row. So the chunks with the same j in eight consecutive rows are in different banks.
type Panel[T Multiplicand] struct {
	_     [0]T
	words [PanelRows][panelWidth / 8]uint64
}

// At returns the address of the element at the given row and column. The number of columns is 128
// divided by the size of an element.
func (p *Panel[T]) At(row, column int) *T {
	at := panelOffset(row, column, int(unsafe.Sizeof(*new(T))))
	return (*T)(unsafe.Add(unsafe.Pointer(&p.words[row]), at))
}

// panelOffset returns the offset in bytes of an element in its row.
func panelOffset(row, column, size int) int {
	if uint(column) >= uint(panelWidth/size) {
		panic("gpu.Panel: column out of range")
	}
	return column*size ^ row%8*panelChunk
}
