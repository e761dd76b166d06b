package cudasys

import "unsafe"

// Handles of the driver's objects; their values mean nothing to anyone else.
type (
	Device   int32
	Context  uintptr
	Module   uintptr
	Function uintptr
	Stream   uintptr
	Event    uintptr
)

// Driver is the CUDA driver. A field is the C function of its name with "cu" before it, and
// takes what that takes, with slices for pointers with lengths; the driver's own
// documentation describes them. Addresses of device memory are uintptr.
//
// Lifetimes: the functions keep what their arguments point to alive until they return. A
// variable whose address is taken for an argument is on the heap, because calls of a function
// value are opaque to the compiler. Where the driver goes on using memory after the return
// (asynchronous copies to the host), the caller keeps it alive.
//
// Threads: a function acts on the context that is current on the calling thread.
type Driver struct {
	// Library is the name under which the driver's library was found.
	Library string

	Init               func(flags uint32) Status
	DriverGetVersion   func(version *int32) Status // 1000*major + 10*minor of the CUDA level
	DeviceGetCount     func(n *int32) Status
	DeviceGet          func(d *Device, index int32) Status
	DeviceGetName      func(name []byte, d Device) Status // NUL-terminated
	DeviceGetPCIBusId  func(id []byte, d Device) Status   // NUL-terminated
	DeviceGetAttribute func(v *int32, a Attribute, d Device) Status
	DeviceTotalMem     func(n *uintptr, d Device) Status

	DevicePrimaryCtxRetain  func(c *Context, d Device) Status
	DevicePrimaryCtxRelease func(d Device) Status
	CtxSetCurrent           func(c Context) Status

	MemAlloc                func(p *uintptr, n uintptr) Status
	MemFree                 func(p uintptr) Status
	MemHostAlloc            func(p *unsafe.Pointer, n uintptr, flags uint32) Status
	MemHostGetDevicePointer func(p *uintptr, host unsafe.Pointer, flags uint32) Status
	MemFreeHost             func(p unsafe.Pointer) Status
	MemcpyHtoDAsync         func(dst uintptr, src []byte, s Stream) Status
	MemcpyDtoHAsync         func(dst []byte, src uintptr, s Stream) Status
	MemcpyDtoDAsync         func(dst, src, n uintptr, s Stream) Status
	MemsetD8Async           func(dst uintptr, v byte, n uintptr, s Stream) Status

	StreamCreate  func(s *Stream, flags uint32) Status
	StreamQuery   func(s Stream) Status
	StreamDestroy func(s Stream) Status

	EventCreate      func(e *Event, flags uint32) Status
	EventRecord      func(e Event, s Stream) Status
	EventElapsedTime func(milliseconds *float32, start, end Event) Status
	EventDestroy     func(e Event) Status

	ModuleLoadDataEx  func(m *Module, image []byte, log *Log) Status  // image: PTX and a NUL
	ModuleGetFunction func(f *Function, m Module, name []byte) Status // NUL-terminated
	ModuleUnload      func(m Module) Status
	LaunchKernel      func(l *Launch) Status
}

// Launch has the arguments of LaunchKernel. It must be on the heap.
type Launch struct {
	Function    Function
	Grid, Block [3]uint32
	Shared      uint32 // bytes of dynamic shared memory
	Stream      Stream
	// Params points to the value of the kernel's only parameter, which the driver copies.
	Params [1]unsafe.Pointer
}

// Log takes what the driver's compiler says about a module: text up to the first NUL.
type Log struct {
	Info, Error [8192]byte

	options [4]int32
	values  [4]uintptr
}

// Attribute is a CUdevice_attribute.
type Attribute int32

// The attributes that this project asks for.
const (
	MaxThreadsPerBlock      Attribute = 1
	MaxBlockDimX            Attribute = 2 // and Y, Z
	MaxGridDimX             Attribute = 5 // and Y, Z
	MaxSharedMemoryPerBlock Attribute = 8
	MultiprocessorCount     Attribute = 16
	CapabilityMajor         Attribute = 75
	CapabilityMinor         Attribute = 76
)

// Flags of StreamCreate and MemHostAlloc.
const (
	StreamNonBlocking    = 1 // does not wait for the legacy default stream
	MemHostAllocPortable = 1 // pinned for every context
	MemHostAllocMapped   = 2 // has an address on the device
)
