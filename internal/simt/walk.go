package simt

import (
	"slices"
	"sync/atomic"
	"unsafe"
)

// Walk iterates over blocks of a grid, for code that runs whole blocks. A tier of package cpu calls
// Begin of the Block for a launch and Range for a range of its blocks.
type Walk struct {
	Block *Block
	// Fault receives the fault of a thread in the block with the given number.
	Fault func(number int64, f Fault)

	// Lanes is the number of threads that the machine's vector code runs at a time; 0 if it must
	// not be used.
	Lanes int

	number, end int64
	last        *atomic.Int64
	index       [3]int // of the next block
	begun       int    // threads of the next block that have run
	shared      []byte
	scratch     [][]byte // one for each call of Scratch
	asked       int      // calls of Scratch since Range
}

// Fault is a fault of a thread in code that runs whole blocks.
type Fault struct {
	File   string // base name
	Line   int
	Format string // of the message
	Args   []any
	Thread [3]int
}

// Range prepares w for the blocks with numbers from first to end-1, x counting fastest. The walk
// stops after the block whose number is in last, which may change during the walk.
func (w *Walk) Range(first, end int64, last *atomic.Int64) {
	x, y := int64(w.Block.Grid[0]), int64(w.Block.Grid[1])
	w.index = [3]int{int(first % x), int(first / x % y), int(first / x / y)}
	w.number, w.end, w.last, w.begun = first-1, end, last, 0
	w.asked, w.shared = 0, w.shared[:0]
}

// Next moves to the next block and reports whether there is one. Shared memory then has arbitrary
// contents, as on a GPU.
func (w *Walk) Next() bool {
	w.number++
	if w.number >= w.end || w.number > w.last.Load() {
		return false
	}
	b := w.Block
	b.Index = w.index
	w.advance(1)
	if len(w.shared) > 0 {
		fill(w.shared)
	}
	return true
}

// advance moves the index of the next block by a number of blocks, which must not pass the start of
// the next row of the grid.
func (w *Walk) advance(blocks int) {
	if w.index[0] += blocks; w.index[0] < w.Block.Grid[0] {
		return
	}
	w.index[0] = 0
	if w.index[1]++; w.index[1] == w.Block.Grid[1] {
		w.index[1] = 0
		w.index[2]++
	}
}

// maxSpan bounds the threads of a span: their numbers have 31 bits.
const maxSpan = 1 << 30

// Span returns the number of threads in the block's row. If blocks are one-dimensional, the span
// also includes the following blocks along x that belong to the walk.
func (w *Walk) Span() int {
	d := &w.Block.Dim
	blocks := int64(1)
	if d[1] == 1 && d[2] == 1 {
		blocks = max(1, min(w.end-w.number, int64(w.Block.Grid[0]-w.Block.Index[0]), int64(maxSpan/d[0])))
	}
	return d[0] * int(blocks)
}

// Done records that the first n threads of the span have run, and returns how many of them belong
// to the current block. The next block is the first one that has not run completely; Begun returns
// how many of its threads have run.
func (w *Walk) Done(n int) int {
	width := w.Block.Dim[0]
	if n < width {
		return n
	}
	if more := n/width - 1; more > 0 {
		w.number += int64(more)
		w.advance(more)
	}
	w.begun = n % width
	return width
}

// Begun returns how many threads of the block had run before Next moved to it. A second call
// returns 0.
func (w *Walk) Begun() int {
	n := w.begun
	w.begun = 0
	return n
}

// Number returns the number of the block that Next moved to.
func (w *Walk) Number() int64 { return w.number }

// Shared returns memory that the threads of a block share: the given number of bytes, followed by
// the dynamic shared memory. All calls return the same memory.
func (w *Walk) Shared(bytes int) unsafe.Pointer {
	w.shared = grown(w.shared, bytes+w.Block.Dynamic)
	return unsafe.Pointer(unsafe.SliceData(w.shared))
}

// Scratch returns memory with the given number of bytes for each thread of a block, with arbitrary
// contents. Each call since Range returns different memory.
func (w *Walk) Scratch(bytes int) unsafe.Pointer {
	if w.asked == len(w.scratch) {
		w.scratch = append(w.scratch, nil)
	}
	m := &w.scratch[w.asked]
	w.asked++
	*m = grown(*m, bytes*w.Block.Threads())
	return unsafe.Pointer(unsafe.SliceData(*m))
}

// memoryAlign is the alignment of the results of Shared and Scratch. They also have that many extra
// bytes, so that an address just after the end is still in the same object.
const memoryAlign = 64

// grown returns p with n bytes, reallocated if p is too small.
func grown(p []byte, n int) []byte {
	if n <= cap(p) {
		return p[:n]
	}
	raw := make([]byte, n+2*memoryAlign)
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(raw)))) & (memoryAlign - 1)
	return slices.Clip(raw[skip : skip+n])
}

// fill is poison for memory that is filled often.
func fill(p []byte) {
	n := min(len(p), 64)
	poison(p[:n])
	for n < len(p) {
		n += copy(p[n:], p[:n])
	}
}
