package cudasys

import "unsafe"

// Handles of the driver's objects. Their values are opaque.
type (
	Device    int32
	Context   uintptr
	Module    uintptr
	Function  uintptr
	Stream    uintptr
	Event     uintptr
	Pool      uintptr
	Graph     uintptr
	GraphExec uintptr
	GraphNode uintptr
)

// Driver is the CUDA driver. Each field is the C function of the same name with the prefix cu. It takes the
// same arguments, with slices instead of pointers with lengths; the driver's own documentation describes them.
// Addresses of device memory are of type uintptr.
//
// Lifetimes: the functions keep the memory that their arguments point to alive until they return. A variable
// whose address is passed is on the heap, because it escapes through the function value. If the driver uses
// memory after the return (asynchronous copies), the caller keeps it alive.
//
// Threads: a function acts on the context that is current on the calling thread.
type Driver struct {
	// Library is the name under which the driver's library was found.
	Library string

	setCurrent address // of cuCtxSetCurrent

	Init               func(flags uint32) Status
	DriverGetVersion   func(version *int32) Status // 1000*major + 10*minor of the CUDA version
	DeviceGetCount     func(n *int32) Status
	DeviceGet          func(d *Device, index int32) Status
	DeviceGetName      func(name []byte, d Device) Status // NUL-terminated
	DeviceGetPCIBusId  func(id []byte, d Device) Status   // NUL-terminated
	DeviceGetAttribute func(v *int32, a Attribute, d Device) Status
	DeviceTotalMem     func(n *uintptr, d Device) Status

	DevicePrimaryCtxRetain    func(c *Context, d Device) Status
	DevicePrimaryCtxRelease   func(d Device) Status
	CtxSetCurrent             func(c Context) Status
	DeviceCanAccessPeer       func(can *int32, d, peer Device) Status
	CtxEnablePeerAccess       func(peer Context, flags uint32) Status
	CtxGetStreamPriorityRange func(least, greatest *int32) Status

	MemAlloc                func(p *uintptr, n uintptr) Status
	MemFree                 func(p uintptr) Status
	MemGetInfo              func(free, total *uintptr) Status
	MemHostAlloc            func(p *unsafe.Pointer, n uintptr, flags uint32) Status
	MemHostGetDevicePointer func(p *uintptr, host unsafe.Pointer, flags uint32) Status
	MemFreeHost             func(p unsafe.Pointer) Status
	MemHostRegister         func(host []byte, flags uint32) Status
	MemHostUnregister       func(host []byte) Status
	MemAllocManaged         func(p *unsafe.Pointer, n uintptr, flags uint32) Status
	MemPrefetchAsync        func(p, n uintptr, to Device, s Stream) Status
	MemAdvise               func(p, n uintptr, a Advice, d Device) Status

	MemPoolCreate         func(p *Pool, props *PoolProps) Status
	MemPoolDestroy        func(p Pool) Status
	MemPoolSetAttribute   func(p Pool, a PoolAttribute, v *uint64) Status
	MemPoolGetAttribute   func(p Pool, a PoolAttribute, v *uint64) Status
	MemPoolSetAccess      func(p Pool, a *PoolAccess) Status
	MemPoolTrimTo         func(p Pool, keep uintptr) Status
	MemAllocFromPoolAsync func(p *uintptr, n uintptr, pool Pool, s Stream) Status
	MemFreeAsync          func(p uintptr, s Stream) Status

	MemcpyHtoDAsync func(dst uintptr, src []byte, s Stream) Status
	MemcpyDtoHAsync func(dst []byte, src uintptr, s Stream) Status
	MemcpyDtoDAsync func(dst, src, n uintptr, s Stream) Status
	MemcpyPeerAsync func(c *PeerCopy, s Stream) Status
	Memcpy2DAsync   func(c *Copy2D, s Stream) Status
	MemsetD8Async   func(dst uintptr, v byte, n uintptr, s Stream) Status
	MemsetD16Async  func(dst uintptr, v uint16, n uintptr, s Stream) Status // n values
	MemsetD32Async  func(dst uintptr, v uint32, n uintptr, s Stream) Status // n values

	StreamCreateWithPriority func(s *Stream, flags uint32, priority int32) Status
	StreamQuery              func(s Stream) Status
	StreamWaitEvent          func(s Stream, e Event, flags uint32) Status
	StreamDestroy            func(s Stream) Status

	EventCreate      func(e *Event, flags uint32) Status
	EventRecord      func(e Event, s Stream) Status
	EventQuery       func(e Event) Status
	EventSynchronize func(e Event) Status
	EventElapsedTime func(milliseconds *float32, start, end Event) Status
	EventDestroy     func(e Event) Status

	ModuleLoadDataEx  func(m *Module, image []byte, log *Log) Status  // image: PTX and a NUL
	ModuleGetFunction func(f *Function, m Module, name []byte) Status // NUL-terminated
	ModuleUnload      func(m Module) Status
	FuncGetAttribute  func(v *int32, a FunctionAttribute, f Function) Status
	FuncSetAttribute  func(f Function, a FunctionAttribute, v int32) Status
	LaunchKernel      func(l *Launch) Status
	LaunchKernelEx    func(l *Launch) Status // with the launch's attributes

	TensorMapEncodeTiled func(m *TensorMap) Status

	OccupancyMaxActiveBlocksPerMultiprocessor func(blocks *int32, f Function, block int32, shared uintptr) Status
	OccupancyMaxPotentialBlockSize            func(o *BestBlock, f Function, shared uintptr, limit int32) Status

	GraphCreate                  func(g *Graph, flags uint32) Status
	GraphDestroy                 func(g Graph) Status
	GraphAddKernelNode           func(n *GraphNode, g Graph, after []GraphNode, p *KernelNode) Status
	GraphAddDependencies         func(g Graph, e *GraphEdge) Status // of one edge; nil before CUDA 12.3
	GraphKernelNodeSetAttribute  func(n GraphNode, a *LaunchAttribute) Status
	GraphAddMemcpyNode           func(n *GraphNode, g Graph, after []GraphNode, c *Copy3D) Status // of c.Context
	GraphAddMemsetNode           func(n *GraphNode, g Graph, after []GraphNode, m *Memset) Status // of m.Context
	GraphAddChildGraphNode       func(n *GraphNode, g Graph, after []GraphNode, child Graph) Status
	GraphInstantiateWithFlags    func(x *GraphExec, g Graph, flags uint64) Status
	GraphExecKernelNodeSetParams func(x GraphExec, n GraphNode, p *KernelNode) Status
	GraphUpload                  func(x GraphExec, s Stream) Status
	GraphLaunch                  func(c Context, x GraphExec, s Stream) Status // c as Launch.Context
	GraphExecDestroy             func(x GraphExec) Status
	StreamBeginCapture           func(s Stream, mode uint32) Status
	StreamEndCapture             func(s Stream, g *Graph) Status
}

// Log receives the output of the driver's compiler for a module, as text up to the first NUL.
type Log struct {
	Info, Error [8192]byte

	options [4]int32
	values  [4]uintptr
}

// Attribute is a CUdevice_attribute.
type Attribute int32

// The attributes that this project reads.
const (
	MaxThreadsPerBlock           Attribute = 1
	MaxBlockDimX                 Attribute = 2 // and Y, Z
	MaxGridDimX                  Attribute = 5 // and Y, Z
	MaxSharedMemoryPerBlock      Attribute = 8
	MultiprocessorCount          Attribute = 16
	MaxThreadsPerMultiprocessor  Attribute = 39
	CapabilityMajor              Attribute = 75
	CapabilityMinor              Attribute = 76
	ManagedMemory                Attribute = 83
	ConcurrentManagedAccess      Attribute = 89
	CooperativeLaunch            Attribute = 95
	MaxSharedMemoryPerBlockOptin Attribute = 97
	MemoryPoolsSupported         Attribute = 115
)

// FunctionAttribute is a CUfunction_attribute.
type FunctionAttribute int32

// The attributes of functions that this project reads and sets.
const (
	FuncMaxThreadsPerBlock   FunctionAttribute = 0
	FuncSharedBytes          FunctionAttribute = 1
	FuncLocalBytes           FunctionAttribute = 3
	FuncRegisters            FunctionAttribute = 4
	FuncMaxDynamicShared     FunctionAttribute = 8
	FuncNonPortableClusterOK FunctionAttribute = 14
)

// PoolAttribute is a CUmemPool_attribute.
type PoolAttribute int32

// The attributes of pools that this project reads and sets. Values are in bytes.
const (
	PoolReleaseThreshold PoolAttribute = 4
	PoolReservedCurrent  PoolAttribute = 5
	PoolReservedHigh     PoolAttribute = 6
	PoolUsedCurrent      PoolAttribute = 7
	PoolUsedHigh         PoolAttribute = 8
)

// Advice is a CUmem_advise.
type Advice int32

// The kinds of advice about managed memory.
const (
	AdviseReadMostly   Advice = 1
	UnadviseReadMostly Advice = 2
	AdvisePreferred    Advice = 3
	AdviseAccessedBy   Advice = 5
)

// CPU denotes the host in arguments of type Device (CU_DEVICE_CPU).
const CPU Device = -1

// Flags.
const (
	StreamNonBlocking    = 1 // StreamCreateWithPriority: does not wait for the legacy default stream
	MemHostAllocPortable = 1 // pinned for every context; MemHostRegister too
	MemHostAllocMapped   = 2 // has an address on the device; MemHostRegister too
	MemAttachGlobal      = 1 // MemAllocManaged: any stream may use it
	EventDisableTiming   = 2 // EventCreate
	CaptureRelaxed       = 2 // StreamBeginCapture: unrelated calls remain allowed
)
