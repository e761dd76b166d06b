package device

// The interfaces below are what a backend can do beyond what it must. Package device asks for
// each with a type assertion; where a backend lacks one, it does the same in a simpler way if
// there is one, or else returns ErrUnsupported.

// Asynchronous is a Queue whose work goes on after the call that enqueued it. One that is not
// does its work inside the call. Its Launch asks Plan.Closed with a lock held that freeing memory
// behind the queue's work takes (see PooledMemory): plans for it do not keep memory from being freed.
type Asynchronous interface {
	// Done returns a channel that is closed when all work so far is done or has failed.
	Done() (<-chan struct{}, error)
	// Peek returns the fault that the next Take will return, as far as it is known, and its
	// FaultLaunch. It does not wait.
	Peek() (*Fault, uint32)
	// Launches returns how many launches the queue was given: the next has this number.
	Launches() uint32
	// WaitFor makes later work wait for a mark of a queue of the same backend. It does not
	// wait itself.
	WaitFor(m Mark) error
	// Follow makes later work wait for what another queue of the same backend was given so
	// far. It does not wait itself.
	Follow(other Queue) error
}

// Prioritizer is a Backend whose queues can be more or less urgent.
type Prioritizer interface {
	// NewUrgentQueue is NewQueue with a priority: 0 is usual, more is more urgent. It takes the
	// nearest that the backend has.
	NewUrgentQueue(priority int) (Queue, error)
}

// Pooler is a Backend that allocates in the order of queues, without waiting.
type Pooler interface {
	// AllocateFor returns memory for work that is enqueued on q from now on. The memory is a
	// PooledMemory.
	AllocateFor(q Queue, size int) (Memory, error)
	// Drain waits until memory that was freed is there again, and gives what is not in use
	// back to the system.
	Drain() error
	// Pool returns how many bytes the pool has taken from the device.
	Pool() (reserved int64, err error)
}

// PooledMemory is Memory of a Pooler.
type PooledMemory interface {
	// FreeAfter frees the memory when the work is done that the queues have so far. It does
	// not wait.
	FreeAfter(queues []Queue) error
}

// Access says which memory of the host is wanted.
type Access struct {
	Mapped bool // kernels can use it
}

// HostAllocator is a Backend that copies from and to some memory of the host by itself while
// the program goes on. Queues of it are HostCopiers.
type HostAllocator interface {
	// AllocateHost returns size bytes of such memory, with arbitrary contents.
	AllocateHost(size int, a Access) (HostMemory, error)
	// RegisterHost makes memory of the program such memory until it is freed. The caller
	// keeps it alive.
	RegisterHost(host []byte, a Access) (HostMemory, error)
}

// HostMemory is pinned memory of the host. No work uses it when it is freed.
type HostMemory interface {
	Memory // Address is 0 where it is not mapped
	Bytes() []byte
}

// HostCopier is a Queue that copies from and to HostMemory. The memory is neither changed nor
// freed until the work is done.
type HostCopier interface {
	UploadFrom(dst uintptr, src []byte) error
	DownloadTo(dst []byte, src uintptr) error
}

// Manager is a Backend with memory that moves between host and device by itself. Its queues
// are Prefetchers.
type Manager interface {
	// AllocateManaged returns memory whose Bytes and Address are the same place. It fails
	// with ErrMemory rather than promise more than the device has free.
	AllocateManaged(size int) (HostMemory, error)
	// Advise tells how n bytes of such memory will be used.
	Advise(address uintptr, n int, a Advice) error
}

// Prefetcher is a Queue that moves managed memory ahead of its use.
type Prefetcher interface {
	Prefetch(address uintptr, n int, toHost bool) error
}

// Advice says how managed memory will be used.
type Advice int

// What can be advised.
const (
	ReadMostly   Advice = iota + 1 // it is read often and written seldom: both sides keep copies
	PreferDevice                   // it should stay on the device, the host may read it from there
	PreferHost                     // it should stay on the host, kernels may read it from there
)

// Filler is a Queue that fills memory with values.
type Filler interface {
	// Fill enqueues the filling of n bytes with a value of 1, 2 or 4 bytes. Address and n are
	// multiples of its size.
	Fill(dst uintptr, value []byte, n int) error
}

// Rows is a stretch of memory in rows of equal width: a side of a copy.
type Rows struct {
	Address uintptr
	Pitch   int // bytes from the start of a row to that of the next
}

// StridedCopier is a Queue that copies rows.
type StridedCopier interface {
	// CopyRows enqueues a copy of rows of width bytes.
	CopyRows(dst, src Rows, width, rows int) error
}

// PeerCopier is a Queue that copies from a queue of another device. It returns ErrUnsupported
// where the other is of another kind.
type PeerCopier interface {
	// CopyFrom enqueues a copy of n bytes of the other's device, behind the work of both
	// so far. What the other is given later waits for it.
	CopyFrom(dst uintptr, other Queue, src uintptr, n int) error
}

// Loader is a Backend that has to prepare kernels before it can launch them.
type Loader interface {
	// Load prepares a kernel, unless that is done.
	Load(k *Kernel) error
	// Occupancy says how a kernel fits the device, for blocks of the given number of threads
	// that have so many bytes of dynamic shared memory; 0 threads are as many as fit best.
	Occupancy(k *Kernel, threads, shared int) (Occupancy, error)
}

// Occupancy says how a kernel fits a device.
type Occupancy struct {
	Threads   int // of a block
	Blocks    int // that a multiprocessor (or core) runs at once
	Cores     int // multiprocessors (or cores)
	Registers int // of a thread, where it is known
	Stack     int // bytes of local memory of a thread, where it is known
}

// Grapher is a Backend that runs a graph of work faster than the pieces one by one.
type Grapher interface {
	NewGraph() (GraphBackend, error)
}

// GraphBackend is a graph of a Grapher: first nodes are added, in an order in which each
// comes behind those it waits for, then it is enqueued any number of times. Nodes are numbered
// from 0 as they are added.
type GraphBackend interface {
	AddLaunch(p *Plan, after []int) error
	AddCopy(dst, src uintptr, n int, after []int) error
	AddFill(dst uintptr, value []byte, n int, after []int) error
	// AddHostCopy adds a copy from or to pinned memory.
	AddHostCopy(device uintptr, host []byte, upload bool, after []int) error
	// AddForeign adds work that a package that knows the device's kind has recorded.
	AddForeign(work any, after []int) error
	// Instantiate makes the graph ready to be enqueued.
	Instantiate() error
	// Update changes the arguments and the grid of a launch, for enqueuings from now on.
	Update(node int, p *Plan) error
	// Enqueue enqueues the graph. Its faults and prints come with the queue's Wait; the number
	// of their launch is the node's.
	Enqueue(q Queue) error
	// Close frees the graph when the work of the queues that it was enqueued on is done. It
	// does not wait.
	Close() error
}
