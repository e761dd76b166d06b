package gpu

// Memory is the memory order or the scope of an atomic operation or a fence. An operation takes at
// most one order and at most one scope, which must be constants in a kernel.
//
//	gpu.AtomicStore(&ready[0], 1, gpu.Release, gpu.SystemScope)
//
// On the CPU, every operation is sequentially consistent among all threads.
type Memory uint8

// The memory orders, as in C++. They let a kernel pass data to another block: the writer writes the
// data and then sets a flag with Release; the reader loads the flag with Acquire and then reads the data.
const (
	Relaxed        Memory = 1 + iota // the operation is atomic and orders no other access
	Acquire                          // later accesses are not moved before the operation
	Release                          // earlier accesses are not moved after the operation
	AcquireRelease                   // both Acquire and Release
	Sequential                       // AcquireRelease, and all threads observe all Sequential operations in the same order
)

// The scopes. A scope is the set of threads among which an operation is atomic and its memory order
// holds.
const (
	BlockScope   Memory = 16 + iota // the threads of the block
	ClusterScope                    // the threads of the cluster of blocks
	DeviceScope                     // all threads of the device
	SystemScope                     // all threads of all devices and of the host
)

// Fence orders memory accesses. For example, suppose that one thread writes data, calls Fence, and
// then sets a flag with AtomicStore. If another thread loads the flag with AtomicLoad, finds it
// set, and then calls Fence, that thread also sees the data. The default is AcquireRelease with
// DeviceScope; the only other order of a fence is Sequential.
//
// Fence does not wait for other threads. Use Thread.Sync, which also orders memory, to synchronize
// the threads of a block.
func Fence(...Memory) {}
