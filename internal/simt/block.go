package simt

import (
	"slices"
	"sync"
	"unsafe"
)

// Block is one block of threads. A tier calls Begin for a launch, and reuses the Block for
// many blocks of the grid, one after another, by calling Enter for each.
type Block struct {
	Index [3]int // of the block in the grid
	Dim   [3]int // threads in the block
	Grid  [3]int // blocks in the grid

	// Cluster has b at place Rank; nil where b is alone. ClusterDim is its blocks along each axis.
	Cluster    *Cluster
	Rank       int
	ClusterDim [3]int

	// Dynamic is the bytes of dynamic shared memory, which a tier sets before it calls Begin.
	Dynamic int

	// Meet suspends the calling thread, named by its linear index, until every thread of
	// its block or warp that has not left the kernel has called Meet with the same kind, and
	// returns what they brought. The meeting is good until the thread's next one. A tier
	// sets Meet before it runs a kernel whose threads wait for each other.
	Meet func(thread int, k Kind, v uint64) *Meeting

	// Await suspends the calling thread until ready holds, which it may call at any time, from
	// any thread of the block; Notify says that something has changed that it may look at. A tier sets both
	// where it sets Meet.
	Await  func(thread int, ready func() bool)
	Notify func()

	// Print takes a line that a thread printed. It may be called from several goroutines.
	Print func(line Line)

	mu      sync.Mutex
	shared  []variable
	next    []int    // next[t] is how many shared variables thread t has asked for
	dynamic []uint64 // the dynamic shared memory, once a thread has asked for it
}

// Line is one call of gpu.Printf.
type Line struct {
	Block, Thread [3]int
	Text          string
}

// variable is a shared variable: its address and, to poison it, its size.
type variable struct {
	typed   any
	bytes   []byte
	another func() variable // returns one for another block
}

// newVariable returns a variable of type T.
func newVariable[T any]() variable {
	p := new(T)
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(p)), unsafe.Sizeof(*p))
	poison(bytes)
	return variable{p, bytes, newVariable[T]}
}

// Begin readies b for a launch of grid blocks of dim threads. The kernel may be another
// than before, so shared variables are forgotten.
func (b *Block) Begin(dim, grid [3]int) {
	b.Dim, b.Grid = dim, grid
	clear(b.shared)
	b.shared = b.shared[:0]
	b.next = b.next[:0]
	b.dynamic = b.dynamic[:0]
}

// Threads returns the number of threads in the block.
func (b *Block) Threads() int { return b.Dim[0] * b.Dim[1] * b.Dim[2] }

// Enter makes b the block at index: no thread has run, and shared variables hold garbage,
// as they do on a GPU.
func (b *Block) Enter(index [3]int) {
	b.Index = index
	poison(bytesOf(b.dynamic))
	if len(b.shared) == 0 {
		return
	}
	clear(b.next)
	for _, v := range b.shared {
		poison(v.bytes)
	}
}

// Shared returns the shared variable that the thread with this linear index asks for.
// All threads must ask for the same variables in the same order; the compiler enforces
// it for kernels, and a thread that breaks it panics here.
func Shared[T any](b *Block, thread int) *T {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.next) == 0 {
		b.next = slices.Grow(b.next, b.Threads())[:b.Threads()]
		clear(b.next)
	}
	i := b.next[thread]
	b.next[thread]++
	if i == len(b.shared) {
		b.shared = append(b.shared, newVariable[T]())
	}
	p, ok := b.shared[i].typed.(*T)
	if !ok {
		panic("gpu.Shared: the threads of a block asked for different shared variables")
	}
	return p
}

// DynamicShared returns the dynamic shared memory as numbers or structs of type T, which has no
// pointers: as many as it holds. All threads get the same memory, whatever the type.
func DynamicShared[T any](b *Block) []T {
	var zero T
	size := int(unsafe.Sizeof(zero))
	if size == 0 || b.Dynamic < size {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.dynamic) == 0 {
		words := (b.Dynamic + 7) / 8
		b.dynamic = slices.Grow(b.dynamic, words)[:words]
		poison(bytesOf(b.dynamic))
	}
	// The words stay where they are for as long as the slice keeps them alive.
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b.dynamic))), b.Dynamic/size)
}

func bytesOf(words []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))
}

// poison fills memory with a pattern that is a quiet NaN in every float type.
func poison(p []byte) {
	for i := range p {
		p[i] = 0xff
	}
}
