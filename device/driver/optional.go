package driver

import "time"

// A back end may implement the interfaces in this file. Package device finds them by type
// assertion. Without one it uses a simpler method if there is one, or returns ErrUnsupported.

// Asynchronous is a Queue whose work continues after the call that enqueued it. Any other queue
// does its work inside the call.
//
// Plans for an Asynchronous queue do not keep the memory of their arguments from being freed. Its
// Launch calls Plan.Closed while it holds a lock that PooledMemory.FreeAfter takes too, so that
// memory which is closed later is freed after the launch.
type Asynchronous interface {
	// Done returns a channel that is closed when all work so far is done or has failed.
	Done() (<-chan struct{}, error)
	// Peek returns the fault that the next Take returns, if it is already known. It does not wait.
	Peek() *Fault
	// Launches returns the number of launches so far, which is the number of the next one.
	Launches() uint32
	// WaitFor makes later work wait for a mark of a queue of the same back end. The call does
	// not wait.
	WaitFor(m Mark) error
	// Follow makes later work wait for the present work of another queue of the same back
	// end. The call does not wait.
	Follow(other Queue) error
}

// Patient is a Backend that can neither stop a kernel nor wait for it without the goroutine that
// launched it.
type Patient interface {
	// Patience returns how long closing a stream waits for its work. If the work continues
	// after that, Queue.Close returns ErrRunning.
	Patience() time.Duration
}

// Prioritizer is a Backend whose queues have priorities.
type Prioritizer interface {
	// NewUrgentQueue is NewQueue with a priority: 0 is the default, higher is more urgent. The
	// back end uses the nearest priority that it supports.
	NewUrgentQueue(priority int) (Queue, error)
}

// Pooler is a Backend that allocates in the order of queues, without waiting.
type Pooler interface {
	// AllocateFor returns memory for work that is enqueued on q after the call, or on any queue if q
	// is nil. The memory is a PooledMemory.
	AllocateFor(q Queue, size int) (Memory, error)
	// Drain waits until freed memory is available again, and returns unused memory to the
	// system.
	Drain() error
	// Pool returns the number of bytes that the pool has reserved on the device.
	Pool() (reserved int64, err error)
}

// PooledMemory is Memory of a Pooler.
type PooledMemory interface {
	// FreeAfter frees the memory when the present work of the queues is done. It does not
	// wait.
	FreeAfter(queues []Queue) error
}

// Recycler is a Backend whose memory package device keeps when a buffer is closed, and reuses for later
// buffers without a call of the back end. A back end that reports the use of freed memory is not a Recycler.
type Recycler interface {
	// Recyclable returns an error if the device's memory is lost.
	Recyclable() error
}

// Access selects a kind of host memory.
type Access struct {
	Mapped bool // kernels can access it
}

// HostAllocator is a Backend that copies from and to certain host memory while the program
// continues. Its queues are HostCopiers.
type HostAllocator interface {
	// AllocateHost returns size bytes of such memory, with arbitrary contents.
	AllocateHost(size int, a Access) (HostMemory, error)
	// RegisterHost turns memory of the program into such memory until it is freed. The caller
	// keeps host alive.
	RegisterHost(host []byte, a Access) (HostMemory, error)
}

// HostMemory is pinned or managed memory. No work uses it when it is freed.
type HostMemory interface {
	Memory // Address is 0 if the memory is not mapped
	Bytes() []byte
}

// HostCopier is a Queue that copies from and to HostMemory. The caller neither changes nor frees
// the memory until the work is done.
type HostCopier interface {
	UploadFrom(dst uintptr, src []byte) error
	DownloadTo(dst []byte, src uintptr) error
}

// Manager is a Backend with managed memory, which migrates between host and device on demand. Its
// queues are Prefetchers.
type Manager interface {
	// AllocateManaged returns memory whose Bytes and Address are the same place. It returns
	// ErrMemory if the device has less than size bytes free.
	AllocateManaged(size int) (HostMemory, error)
	// Advise describes the future use of n bytes of such memory.
	Advise(address uintptr, n int, a Advice) error
}

// Prefetcher is a Queue that moves managed memory ahead of its use.
type Prefetcher interface {
	Prefetch(address uintptr, n int, toHost bool) error
}

// Advice describes how managed memory will be used.
type Advice int

// The kinds of advice.
const (
	ReadMostly   Advice = iota + 1 // often read, seldom written: both sides keep copies
	PreferDevice                   // it should stay on the device, where the host may read it
	PreferHost                     // it should stay on the host, where kernels may read it
)

// Filler is a Queue that fills memory with a value.
type Filler interface {
	// Fill enqueues the filling of n bytes with a value of 1, 2 or 4 bytes. The address and n
	// are multiples of its size.
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

// PeerCopier is a Queue that copies from a queue of another device.
type PeerCopier interface {
	// CopyFrom enqueues a copy of n bytes of the other queue's device, after the present work
	// of both queues. Later work of the other queue waits for the copy. CopyFrom returns
	// ErrUnsupported if the devices are of different kinds.
	CopyFrom(dst uintptr, other Queue, src uintptr, n int) error
}

// Loader is a Backend that prepares kernels before it launches them.
type Loader interface {
	// Load prepares a kernel unless it is prepared already.
	Load(k *Kernel) error
	// Occupancy returns how a kernel fits the device, for blocks of the given number of threads
	// and bytes of dynamic shared memory. For 0 threads it chooses the best block size.
	Occupancy(k *Kernel, threads, shared int) (Occupancy, error)
}

// Occupancy describes how a kernel fits a device. A core is a multiprocessor of a GPU or a CPU core.
type Occupancy struct {
	Threads   int // in a block
	Blocks    int // that a core runs at once
	Cores     int
	Registers int // of a thread; 0 if unknown
	Stack     int // bytes of local memory of a thread; 0 if unknown
}

// TensorMapper is a Backend whose kernels take tensor maps in the device's own encoding.
type TensorMapper interface {
	// EncodeTensorMap writes the map to dst.
	EncodeTensorMap(dst *[TensorMapBytes]byte, p TensorPlan) error
}

// Grapher is a Backend that runs a graph of work faster than the same work piece by piece.
type Grapher interface {
	NewGraph() (GraphBackend, error)
}

// GraphBackend is a graph of a Grapher. Package device adds all nodes, instantiates the graph, and
// then enqueues it any number of times. Nodes are numbered from 0 in the order of the calls; after
// lists the nodes that a node waits for, all of which exist already.
type GraphBackend interface {
	AddLaunch(p *Plan, after []int) error
	AddCopy(dst, src uintptr, n int, after []int) error
	AddFill(dst uintptr, value []byte, n int, after []int) error
	// AddHostCopy adds a copy from or to pinned memory.
	AddHostCopy(device uintptr, host []byte, upload bool, after []int) error
	// AddForeign adds work that was recorded with Stream.RecordForeign.
	AddForeign(work Foreign, after []int) error
	// Instantiate prepares the graph for Enqueue.
	Instantiate() error
	// Update changes the arguments and the grid of a launch in later runs of the graph.
	Update(node int, p *Plan) error
	// Enqueue enqueues the graph on q. Its faults and prints come with q's Wait; the number of
	// a launch is that of its node.
	Enqueue(q Queue) error
	// Close frees the graph when the work of the queues that it was enqueued on is done. It
	// does not wait.
	Close() error
}

// Foreign is a vendor library's work, recorded for a graph by a package that knows the back end.
type Foreign interface {
	// Close frees the recording. The graph has its own copy by then.
	Close() error
}
