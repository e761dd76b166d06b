package simt

import (
	"slices"
	"sync/atomic"
	"unsafe"
)

// Walk runs over blocks of a grid, one after another, for code that runs each as a whole. A
// tier calls Begin for a launch and Range for blocks of it.
type Walk struct {
	Block *Block
	// Fault takes the fault of a thread in the block with the given number.
	Fault func(number int64, f Fault)

	// Lanes is how many threads the machine's vector code takes at once; 0 where it must not be used.
	Lanes int

	number, end int64
	last        *atomic.Int64
	index       [3]int // of the next block
	begun       int    // threads of the next block that are done
	shared      []byte
	scratch     [][]byte // of every array that was asked for
	asked       int      // how many of them, since Range
}

// Fault is what a thread of code that runs blocks as a whole did wrong.
type Fault struct {
	File   string // base name
	Line   int
	Format string // of the message
	Args   []any
	Thread [3]int
}

// Range readies w for the blocks with the numbers from first to end, x counting fastest. It
// ends before that behind the block that last holds, which may change meanwhile.
func (w *Walk) Range(first, end int64, last *atomic.Int64) {
	x, y := int64(w.Block.Grid[0]), int64(w.Block.Grid[1])
	w.index = [3]int{int(first % x), int(first / x % y), int(first / x / y)}
	w.number, w.end, w.last, w.begun = first-1, end, last, 0
	w.asked, w.shared = 0, w.shared[:0]
}

// Next moves to the next block and reports whether there is one. Shared memory holds
// garbage then, as on a GPU.
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

// advance adds to the index of the next block, which stays in its row of the grid or comes to the next one's start.
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

// maxSpan bounds the threads that are taken as one row: their numbers have 31 bits.
const maxSpan = 1 << 30

// Span returns how many threads the block's row has, and those of the blocks that follow it along x as far as they
// are w's, where a block is one row.
func (w *Walk) Span() int {
	d := &w.Block.Dim
	blocks := int64(1)
	if d[1] == 1 && d[2] == 1 {
		blocks = max(1, min(w.end-w.number, int64(w.Block.Grid[0]-w.Block.Index[0]), int64(maxSpan/d[0])))
	}
	return d[0] * int(blocks)
}

// Done says that the first n threads of the span have run. It returns how many of the block's threads that are; the next
// block is the first that has not run as a whole, and Begun says what it has done.
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

// Begun returns how many threads of the block had run before it was come to, once.
func (w *Walk) Begun() int {
	n := w.begun
	w.begun = 0
	return n
}

// Number returns the number of the block that Next moved to.
func (w *Walk) Number() int64 { return w.number }

// Shared returns memory that the threads of a block share, the dynamic shared memory behind so
// many bytes. There is one such memory.
func (w *Walk) Shared(bytes int) unsafe.Pointer {
	w.shared = grown(w.shared, bytes+w.Block.Dynamic)
	return unsafe.Pointer(unsafe.SliceData(w.shared))
}

// Scratch returns memory with so many bytes for each thread of a block, of any contents. It
// is another one for every call since Range.
func (w *Walk) Scratch(bytes int) unsafe.Pointer {
	if w.asked == len(w.scratch) {
		w.scratch = append(w.scratch, nil)
	}
	m := &w.scratch[w.asked]
	w.asked++
	*m = grown(*m, bytes*w.Block.Threads())
	return unsafe.Pointer(unsafe.SliceData(*m))
}

// memoryAlign is the alignment of what Shared and Scratch return, and how much more is there: an
// address just behind it then lies in the same object.
const memoryAlign = 64

// grown returns p with n bytes, or other memory.
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
