package driver

import "time"

// A back end may implement the interfaces in this file. Package device finds them by type
// assertion. Without one it uses a simpler method if there is one, or returns ErrUnsupported.

// Asynchronous is a Queue whose work continues after the call that enqueued the work. Any other
// Queue does its work inside the call.
//
// A Plan for an Asynchronous queue protects the memory of its buffers from the garbage collector, but
// not from Close. So the queue's Launch holds a lock that PooledMemory.FreeAfter also takes, and calls
// Plan.Closed under the lock: a buffer that was closed before makes the launch fail, and the memory of
// a buffer that is closed later is freed after the launch.
type Asynchronous interface {
	// Done returns a channel that is closed when all work so far is done or has failed.
	Done() (<-chan struct{}, error)
	// Peek returns the fault that the next Take returns, if it is already known. It does not wait.
	Peek() *Fault
	// Launches returns the number of launches so far. The next launch has this number.
	Launches() uint32
	// WaitFor makes later work wait for a mark on a queue of the same back end. The call does not
	// wait.
	WaitFor(m Mark) error
	// Follow makes later work wait for the work enqueued so far on another queue of the same back
	// end. The call does not wait.
	Follow(other Queue) error
}

// Patient is a Backend that runs a kernel on the goroutine that launches the kernel.
type Patient interface {
	// Patience returns how long closing a stream waits for the stream's work. If the work is not done by
	// then, Queue.Close stops it, or returns ErrRunning if it cannot.
	Patience() time.Duration
}

// Prioritizer is a Backend whose queues have priorities.
type Prioritizer interface {
	// NewUrgentQueue returns a queue with a priority. 0 is the default; a higher priority is more
	// urgent. The back end uses the nearest priority that it supports.
	NewUrgentQueue(priority int) (Queue, error)
}

// Pooler is a Backend that allocates in the order of queues, without waiting.
type Pooler interface {
	// AllocateFor returns memory for work that is enqueued on q after the call. If q is nil, work
	// of any queue may use the memory. The result is a PooledMemory.
	AllocateFor(q Queue, size int) (Memory, error)
	// Drain waits until freed memory is available again, and returns unused memory to the
	// system.
	Drain() error
	// Pool returns the number of bytes that the pool has reserved on the device.
	Pool() (reserved int64, err error)
}

// Zeroer is a Backend that may return memory of zeros, so that package device need not clear it.
type Zeroer interface {
	// Zeroes reports whether all bytes of new memory are 0.
	Zeroes() bool
}

// Gauge is a Backend that knows how much of the device's memory is free.
type Gauge interface {
	// FreeMemory returns the number of bytes that no program uses.
	FreeMemory() (int64, error)
}

// PooledMemory is Memory of a Pooler.
type PooledMemory interface {
	// FreeAfter frees the memory when the work enqueued so far on the queues is done. It does not
	// wait.
	FreeAfter(queues []Queue) error
}

// If a Backend is a Recycler, package device reuses the memory of closed buffers for later buffers
// without calling the back end. A back end that reports every use of freed memory must not be a
// Recycler.
type Recycler interface {
	// Recyclable returns an error if the device's memory is lost.
	Recyclable() error
}

// Access selects a kind of host memory.
type Access struct {
	Mapped bool // kernels can access the memory
}

// HostAllocator is a Backend with pinned memory. Its queues are HostCopiers, which copy this memory
// while the program continues.
type HostAllocator interface {
	// AllocateHost returns size bytes of pinned memory, with arbitrary contents.
	AllocateHost(size int, a Access) (HostMemory, error)
	// RegisterHost pins memory of the program until the result is freed. The caller keeps host
	// alive.
	RegisterHost(host []byte, a Access) (HostMemory, error)
}

// HostMemory is pinned or managed memory. The caller frees it only when no work uses it.
type HostMemory interface {
	Memory // Address is 0 if the memory is not mapped
	Bytes() []byte
}

// HostCopier is a Queue that copies from and to HostMemory. The caller must not change or free the
// memory until the work is done.
type HostCopier interface {
	UploadFrom(dst uintptr, src []byte) error
	DownloadTo(dst []byte, src uintptr) error
}

// Manager is a Backend with managed memory, which migrates between host and device on demand. Its
// queues are Prefetchers.
type Manager interface {
	// AllocateManaged returns managed memory, with the same address on the host and on the device.
	// It returns ErrMemory if the device has less than size bytes free.
	AllocateManaged(size int) (HostMemory, error)
	// Advise describes the future use of n bytes of managed memory.
	Advise(address uintptr, n int, a Advice) error
}

// Prefetcher is a Queue that can move managed memory before a kernel uses it.
type Prefetcher interface {
	Prefetch(address uintptr, n int, toHost bool) error
}

// Advice describes how managed memory will be used.
type Advice int

// The kinds of advice.
const (
	ReadMostly   Advice = iota + 1 // often read, seldom written: the device and the host keep copies
	PreferDevice                   // the memory should stay on the device; the host may read it there
	PreferHost                     // the memory should stay on the host; kernels may read it there
)

// Filler is a Queue that fills memory with a value.
type Filler interface {
	// Fill enqueues the filling of n bytes with a value of 1, 2 or 4 bytes. The address and n are
	// multiples of the value's size.
	Fill(dst uintptr, value []byte, n int) error
}

// Rows is memory in rows of equal width: the source or the destination of a copy.
type Rows struct {
	Address uintptr
	Pitch   int // bytes from the start of a row to the start of the next
}

// StridedCopier is a Queue that copies rows.
type StridedCopier interface {
	// CopyRows enqueues a copy of rows of width bytes.
	CopyRows(dst, src Rows, width, rows int) error
}

// PeerCopier is a Queue that copies from another device.
type PeerCopier interface {
	// CopyFrom enqueues a copy of n bytes from the device of the queue other. The copy waits for
	// the work enqueued so far on both queues, and later work of both queues waits for the copy.
	// CopyFrom returns ErrUnsupported if the devices are of different kinds.
	CopyFrom(dst uintptr, other Queue, src uintptr, n int) error
}

// Loader is a Backend that prepares kernels before it launches them.
type Loader interface {
	// Load prepares a kernel, unless the kernel is already prepared.
	Load(k *Kernel) error
	// Occupancy returns how many blocks of a kernel the device runs at once, for blocks with the given
	// number of threads and bytes of dynamic shared memory. If threads is 0, Occupancy chooses the
	// best block size.
	Occupancy(k *Kernel, threads, shared int) (Occupancy, error)
}

// Occupancy describes how many blocks of a kernel a device runs at once. A core is a multiprocessor
// of a GPU, or a CPU core.
type Occupancy struct {
	Threads   int // the number of threads in a block
	Blocks    int // the number of blocks that a core runs at once
	Cores     int
	Registers int // the registers of a thread; 0 if unknown
	Stack     int // the bytes of local memory of a thread; 0 if unknown
}

// TensorMapper is a Backend whose kernels need tensor maps in an encoding of the device.
type TensorMapper interface {
	// EncodeTensorMap writes the map to dst.
	EncodeTensorMap(dst *[TensorMapBytes]byte, p TensorPlan) error
}

// Grapher is a Backend with graphs. Launching a graph takes less time than launching its operations one by one.
type Grapher interface {
	NewGraph() (GraphBackend, error)
}

// GraphBackend is a graph of a Grapher. Package device adds all nodes, instantiates the graph, and
// then enqueues it any number of times. Nodes are numbered from 0 in the order of the calls. The
// parameter dependencies lists the existing nodes that the new node waits for.
type GraphBackend interface {
	AddLaunch(p *Plan, dependencies []int) error
	AddCopy(dst, src uintptr, n int, dependencies []int) error
	AddFill(dst uintptr, value []byte, n int, dependencies []int) error
	// AddHostCopy adds a copy from or to pinned memory.
	AddHostCopy(device uintptr, host []byte, upload bool, dependencies []int) error
	// AddForeign adds work that was recorded with Stream.RecordForeign.
	AddForeign(work Foreign, dependencies []int) error
	// Instantiate prepares the graph for Enqueue.
	Instantiate() error
	// Update changes the arguments and the grid of a launch in later runs of the graph.
	Update(node int, p *Plan) error
	// Enqueue enqueues the graph on q. Later, q.Take returns the graph's faults and prints. In these prints, Launch is
	// the number of a node.
	Enqueue(q Queue) error
	// Close frees the graph when its enqueued runs are done. It does not wait.
	Close() error
}

// Foreign is a vendor library's work, recorded for a graph by a package that knows the back end.
type Foreign interface {
	// Close frees the recording. A graph that contains the work has a copy of its own.
	Close() error
}
