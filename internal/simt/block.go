package simt

import (
	"slices"
	"sync"
	"unsafe"
)

// Block is one block of threads. A tier of package cpu calls Begin for a launch, and Enter for each
// block of the grid that it runs with the Block.
type Block struct {
	Index [3]int // of the block in the grid
	Dim   [3]int // threads in the block
	Grid  [3]int // blocks in the grid

	// Cluster contains b at index Rank; it is nil if the launch has no clusters. ClusterDim is the
	// number of its blocks along each axis.
	Cluster    *Cluster
	Rank       int
	ClusterDim [3]int

	// Dynamic is the size of the dynamic shared memory in bytes. A tier sets it before it calls
	// Begin.
	Dynamic int

	// Meet suspends the calling thread, given by its linear index, until every thread of its block
	// or warp that has not left the kernel has called Meet with the same kind. It returns the
	// values that they brought. The result is valid until the thread's next call. A tier sets Meet
	// before it runs a kernel whose threads wait for each other.
	//
	// The threads of a warp that meet are those of the given lanes, which all of them must pass alike. For meetings of
	// the block, lanes has no meaning.
	Meet func(thread int, k Kind, lanes uint32, v uint64) *Meeting

	// Await suspends the calling thread until ready returns true. It may call ready at any time,
	// from any thread of the block. Notify must be called after a change that may affect the result
	// of ready. A tier sets both when it sets Meet.
	Await  func(thread int, ready func() bool)
	Notify func()

	// Print receives a line that a thread printed. It may be called from several goroutines.
	Print func(line Line)

	mu      sync.Mutex
	shared  []variable
	dynamic []uint64 // the dynamic shared memory, after a thread has requested it
}

// Line is the output of one call of gpu.Printf.
type Line struct {
	Block, Thread [3]int
	Text          string
}

// variable is a shared variable: the call that requests it, its address and, for poisoning, its
// size.
type variable struct {
	site    uintptr
	typed   any
	bytes   []byte
	another func(site uintptr) variable // returns a variable of the same type for another block
}

// newVariable returns a variable of type T for the call at site.
func newVariable[T any](site uintptr) variable {
	p := new(T)
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(p)), unsafe.Sizeof(*p))
	poison(bytes)
	return variable{site, p, bytes, newVariable[T]}
}

// Begin prepares b for a launch of grid blocks of dim threads. The kernel may be a different one,
// so b drops its shared variables.
func (b *Block) Begin(dim, grid [3]int) {
	b.Dim, b.Grid = dim, grid
	clear(b.shared)
	b.shared = b.shared[:0]
	b.dynamic = b.dynamic[:0]
}

// Threads returns the number of threads in the block.
func (b *Block) Threads() int { return b.Dim[0] * b.Dim[1] * b.Dim[2] }

// Enter makes b the block at index, in which no thread has run. Shared variables have arbitrary
// contents, as on a GPU.
func (b *Block) Enter(index [3]int) {
	b.Index = index
	poison(bytesOf(b.dynamic))
	for _, v := range b.shared {
		poison(v.bytes)
	}
}

// Shared returns the variable of type T that the call at site requests. All threads of the block
// receive the same variable, however often they request it. The site is any number that identifies
// the call, such as its return address.
func Shared[T any](b *Block, site uintptr) *T {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, v := range b.shared {
		if p, ok := v.typed.(*T); ok && v.site == site {
			return p
		}
	}
	v := newVariable[T](site)
	b.shared = append(b.shared, v)
	return v.typed.(*T)
}

// DynamicShared returns the dynamic shared memory as a slice of T, which must have no pointers,
// with as many elements as fit. All threads get the same memory, whatever the type.
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
	// The slice keeps the memory alive.
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b.dynamic))), b.Dynamic/size)
}

func bytesOf(words []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))
}

// poison fills memory with a pattern that is a quiet NaN in every floating-point type.
func poison(p []byte) {
	for i := range p {
		p[i] = 0xff
	}
}
