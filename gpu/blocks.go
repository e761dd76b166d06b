package gpu

import (
	"path/filepath"
	"runtime"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/internal/simt"
)

// Blocks walks over blocks of threads that a CPU device wants run as a whole, one after
// another. Generated code uses it; kernels do not.
//
//	for b.Next() {
//		x, _, _ := b.Index()
//		...
//	}
type Blocks struct{ walk *simt.Walk }

// WalkBlocks returns the blocks of w.
func WalkBlocks(w *simt.Walk) Blocks { return Blocks{w} }

// Next moves to the next block and reports whether there is one. Its shared memory holds garbage.
func (b *Blocks) Next() bool { return b.walk.Next() }

// Index returns the index of the block in the grid.
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

// Lanes returns for how many threads at once vector code may be called; 0 where it may not.
func (b *Blocks) Lanes() int { return b.walk.Lanes }

// Span returns how many threads the block's row has together with the blocks behind it that continue it.
func (b *Blocks) Span() int { return b.walk.Span() }

// Done says that the first n threads of the span have run, and returns how many of the block's own that are.
func (b *Blocks) Done(n int) int { return b.walk.Done(n) }

// Begun returns how many of the block's threads had run before it was come to; 0 when it is asked again.
func (b *Blocks) Begun() int { return b.walk.Begun() }

// Threads returns the number of threads in a block.
func (b *Blocks) Threads() int { return b.walk.Block.Threads() }

// Shared returns the memory that the threads of a block share: so many bytes, and behind them
// those that the launch adds. Every block has the same; it is called once.
func (b *Blocks) Shared(bytes int) unsafe.Pointer { return b.walk.Shared(bytes) }

// Dynamic returns how many bytes of shared memory the launch adds.
func (b *Blocks) Dynamic() int { return b.walk.Block.Dynamic }

// Scratch returns memory with so many bytes for each thread of a block, another one for
// every call. It keeps its contents from block to block.
func (b *Blocks) Scratch(bytes int) unsafe.Pointer { return b.walk.Scratch(bytes) }

// Thread returns a thread of the block.
func (b *Blocks) Thread(x, y, z int) Thread {
	return Thread{b.walk.Block, int32(x), int32(y), int32(z)}
}

// ThreadX returns the index along x of the thread with a linear index in the block.
func (b *Blocks) ThreadX(thread int) int {
	if n := b.walk.Block.Dim[0]; thread >= n {
		return thread % n
	}
	return thread
}

// ThreadY returns the index along y of the thread with a linear index in the block.
func (b *Blocks) ThreadY(thread int) int {
	d := &b.walk.Block.Dim
	if thread < d[0] {
		return 0
	}
	return thread / d[0] % d[1]
}

// ThreadZ returns the index along z of the thread with a linear index in the block.
func (b *Blocks) ThreadZ(thread int) int {
	d := &b.walk.Block.Dim
	if thread < d[0] {
		return 0
	}
	return thread / d[0] / d[1]
}

// Fault says that t did something wrong in the caller's line: the launch ends. The caller must return.
func (b *Blocks) Fault(t Thread, format string, args ...any) { b.fault(t, format, args) }

// OutOfRange is Fault with two numbers. A caller needs no memory for them, and so no registers
// where nothing is wrong.
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
