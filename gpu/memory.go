package gpu

// Memory says how an atomic operation or a fence orders the accesses to memory around it, or
// between which threads: it is one of the constants below. An operation takes at most one
// order and one scope, which are constants where a kernel names them.
//
//	gpu.AtomicStore(&ready[0], 1, gpu.Release, gpu.SystemScope)
//
// On the CPU every operation is sequentially consistent, among all threads.
type Memory uint8

// The orders. They are those of C++; what a kernel needs them for is to hand data to another
// block: it writes the data and then a flag with Release, and the reader reads the flag with
// Acquire and then the data.
const (
	Relaxed        Memory = 1 + iota // indivisible, and nothing else
	Acquire                          // accesses behind it stay behind it
	Release                          // accesses in front of it stay in front of it
	AcquireRelease                   // both
	Sequential                       // both, and all threads see all such operations in one order
)

// The scopes: between which threads the operation is indivisible and the order holds.
const (
	BlockScope   Memory = 16 + iota // of one block
	ClusterScope                    // of one cluster of blocks
	DeviceScope                     // of one device
	SystemScope                     // of all devices, and of the host
)

// Fence orders the accesses to memory in front of it before those behind it, as other threads
// that also use a fence or an atomic operation see them. Without arguments it is
// AcquireRelease in the DeviceScope; Sequential is the other order that a fence can have.
//
// It waits for nobody: threads of a block meet at Thread.Sync, which orders memory too.
func Fence(...Memory) {}
