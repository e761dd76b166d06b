package gpu

import (
	"path/filepath"
	"runtime"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/internal/simt"
)

// Blocks iterates over the blocks that a CPU device runs one after another, each as a whole.
// Generated code uses Blocks; kernels do not.
//
//	for b.Next() {
//		x, _, _ := b.Index()
//		...
//	}
type Blocks struct{ walk *simt.Walk }

// WalkBlocks returns an iterator over the blocks of w.
func WalkBlocks(w *simt.Walk) Blocks { return Blocks{w} }

// Next advances to the next block and reports whether there is one. The contents of its shared
// memory are arbitrary.
func (b *Blocks) Next() bool { return b.walk.Next() }

// Index returns the index of the current block in the grid.
func (b *Blocks) Index() (x, y, z int) {
	i := &b.walk.Block.Index
	return i[0], i[1], i[2]
}

// Dim returns the number of threads in a block along each axis.
func (b *Blocks) Dim() (x, y, z int) {
	d := &b.walk.Block.Dim
	return d[0], d[1], d[2]
}

// Grid returns the number of blocks in the grid along each axis.
func (b *Blocks) Grid() (x, y, z int) {
	g := &b.walk.Block.Grid
	return g[0], g[1], g[2]
}

// Lanes returns the number of threads that vector code processes at once, or 0 if vector code must
// not be used.
func (b *Blocks) Lanes() int { return b.walk.Lanes }

// Span returns how many consecutive threads along x the caller may run at once: a row of the current
// block or, if blocks are one-dimensional, the current block and the blocks that follow it along x.
func (b *Blocks) Span() int { return b.walk.Span() }

// Done records that the first n threads of the span (see Span) have run, and returns how many of
// them belong to the current block.
func (b *Blocks) Done(n int) int { return b.walk.Done(n) }

// Begun returns the number of threads of the current block that had already run when Next reached
// the block, because they belonged to the span of an earlier block (see Span). A second call for the same block
// returns 0.
func (b *Blocks) Begun() int { return b.walk.Begun() }

// Threads returns the number of threads in a block.
func (b *Blocks) Threads() int { return b.walk.Block.Threads() }

// Shared returns the shared memory of a block: the given number of bytes, followed by the dynamic
// shared memory of the launch. All blocks use the same memory, so Shared is called once.
func (b *Blocks) Shared(bytes int) unsafe.Pointer { return b.walk.Shared(bytes) }

// Dynamic returns the size in bytes of the dynamic shared memory of the launch.
func (b *Blocks) Dynamic() int { return b.walk.Block.Dynamic }

// Scratch returns memory with the given number of bytes for each thread of a block. Each call
// returns different memory, which keeps its contents from block to block.
func (b *Blocks) Scratch(bytes int) unsafe.Pointer { return b.walk.Scratch(bytes) }

// Thread returns the thread with the given index in the current block.
func (b *Blocks) Thread(x, y, z int) Thread {
	return Thread{b.walk.Block, int32(x), int32(y), int32(z)}
}

// ThreadX returns the index along x of the thread with the given linear index in the block.
func (b *Blocks) ThreadX(thread int) int {
	if n := b.walk.Block.Dim[0]; thread >= n {
		return thread % n
	}
	return thread
}

// ThreadY returns the index along y of the thread with the given linear index in the block.
func (b *Blocks) ThreadY(thread int) int {
	d := &b.walk.Block.Dim
	if thread < d[0] {
		return 0
	}
	return thread / d[0] % d[1]
}

// ThreadZ returns the index along z of the thread with the given linear index in the block.
func (b *Blocks) ThreadZ(thread int) int {
	d := &b.walk.Block.Dim
	if thread < d[0] {
		return 0
	}
	return thread / d[0] / d[1]
}

// Fault records a fault of t at the caller's line. The fault ends the launch. The caller must return.
func (b *Blocks) Fault(t Thread, format string, args ...any) { b.fault(t, format, args) }

// OutOfRange is Fault with the arguments x and limit. Unlike Fault, it needs no memory for the
// arguments.
//
//go:noinline
func (b *Blocks) OutOfRange(t Thread, format string, x, limit int) {
	b.fault(t, format, []any{x, limit})
}

//go:noinline
func (b *Blocks) fault(t Thread, format string, args []any) {
	_, file, line, _ := runtime.Caller(2)
	b.walk.Fault(b.walk.Number(), simt.Fault{
		File: filepath.Base(file), Line: line,
		Format: format, Args: args, Thread: [3]int{int(t.x), int(t.y), int(t.z)},
	})
}
