package gpu

import (
	"unsafe"

	"github.com/gopherwarp/gopherwarp/dtype"
)

// Multiplicand is a number that tensor cores multiply. Of a float32 they read the upper 19 bits (TF32).
type Multiplicand interface {
	dtype.F16 | dtype.BF16 | float32 | dtype.F8E4M3 | dtype.F8E5M2
}

// PanelRows is the number of rows of a Panel, PanelBytes its size.
const (
	PanelRows  = 64
	PanelBytes = PanelRows * panelWidth
)

const (
	panelWidth = 128 // bytes of a row
	panelChunk = 16  // bytes that stay together
)

// Panel is a part of a matrix in shared memory, in the layout that bulk copies write and tensor cores
// read: 64 rows of 128 bytes, which are 64 elements of two bytes, 32 of four or 128 of one. Of
// row i the 16 bytes that would be number j lie at j ^ i%8, so that eight of them, one below
// the other, lie in different banks.
type Panel[T Multiplicand] struct {
	_     [0]T
	words [PanelRows][panelWidth / 8]uint64
}

// At returns the address of an element. A row has 128 bytes, so that columns run up to 64 for elements of two bytes.
func (p *Panel[T]) At(row, column int) *T {
	at := panelOffset(row, column, int(unsafe.Sizeof(*new(T))))
	return (*T)(unsafe.Add(unsafe.Pointer(&p.words[row]), at))
}

// panelOffset returns where an element lies in its row.
func panelOffset(row, column, size int) int {
	if uint(column) >= uint(panelWidth/size) {
		panic("gpu.Panel: no such column")
	}
	return column*size ^ row%8*panelChunk
}
