package cudasys

import (
	"unsafe"

	"github.com/gopherwarp/gopherwarp/internal/dl"
)

// The structs below have the same layout as the driver's structs on 64-bit machines ("CUDA Driver
// API", section "Data types used by CUDA driver"), or contain such a struct. They must be on the
// heap, because C accesses them by address.

// Launch holds the arguments of LaunchKernel and LaunchKernelEx.
type Launch struct {
	// Context is made current on the calling thread first, in the same C call: that is cheaper than
	// two calls, and keeps the goroutine on its thread. 0 leaves the current context unchanged.
	Context     Context
	Function    Function
	Grid, Block [3]uint32
	Shared      uint32 // bytes of dynamic shared memory
	Stream      Stream
	// Params points to the value of the kernel's only parameter, which the driver copies.
	Params [1]unsafe.Pointer
	// Attributes are the attributes of LaunchKernelEx, of which it uses the first Used.
	Attributes [4]LaunchAttribute
	Used       int

	config launchConfig
	frame  dl.Frame // the frame of the call
}

// launchConfig is CUlaunchConfig.
type launchConfig struct {
	grid, block [3]uint32
	shared      uint32
	stream      Stream
	attributes  *LaunchAttribute
	n           uint32
}

// LaunchAttribute is CUlaunchAttribute: the value is a union of 64 bytes.
type LaunchAttribute struct {
	ID    int32
	_     int32
	Value [16]uint32
}

// Kinds of LaunchAttribute.
const (
	LaunchCooperative   = 2 // Value[0] is 1
	LaunchCluster       = 4 // Value[0:3] are the blocks of a cluster along x, y and z
	LaunchProgrammatic  = 6 // Value[0] is 1: may start before preceding work is done
	LaunchAttributeSize = 72
)

// PoolProps is CUmemPoolProps: the properties of a new pool.
type PoolProps struct {
	AllocType    int32 // PoolPinned
	HandleTypes  int32
	LocationType int32 // PoolOnDevice
	LocationID   int32
	_            uintptr
	MaxSize      uintptr
	_            [56]byte
}

// Values of PoolProps.
const (
	PoolPinned   = 1
	PoolOnDevice = 1
)

// PoolAccess is CUmemAccessDesc: the device that may access the memory of a pool, and how.
type PoolAccess struct {
	LocationType int32 // PoolOnDevice
	LocationID   int32
	Flags        int32 // PoolReadWrite
}

// PoolReadWrite is CU_MEM_ACCESS_FLAGS_PROT_READWRITE.
const PoolReadWrite = 3

// Memory types of Copy2D and Copy3D.
const (
	OnHost   = 1
	OnDevice = 2
)

// Side2D is one side of a CUDA_MEMCPY2D.
type Side2D struct {
	X, Y   uintptr
	Type   uint64 // OnHost or OnDevice; 4 bytes and padding in C
	Host   unsafe.Pointer
	Device uintptr
	_      uintptr // array
	Pitch  uintptr
}

// Copy2D is CUDA_MEMCPY2D: Height rows of Width bytes.
type Copy2D struct {
	Src, Dst      Side2D
	Width, Height uintptr
}

// Side3D is one side of a CUDA_MEMCPY3D.
type Side3D struct {
	X, Y, Z, LOD uintptr
	Type         uint64
	Host         unsafe.Pointer
	Device       uintptr
	_, _         uintptr // array, reserved
	Pitch        uintptr
	Height       uintptr
}

// Copy3D is CUDA_MEMCPY3D, followed by the context that GraphAddMemcpyNode takes.
type Copy3D struct {
	Src, Dst             Side3D
	Width, Height, Depth uintptr

	Context Context // not part of the driver's struct
}

// Memset is CUDA_MEMSET_NODE_PARAMS, followed by the context that GraphAddMemsetNode takes.
type Memset struct {
	Dst           uintptr
	Pitch         uintptr
	Value, Size   uint32 // Size is 1, 2 or 4 bytes
	Width, Height uintptr

	Context Context // not part of the driver's struct
}

// KernelNode is CUDA_KERNEL_NODE_PARAMS_v2.
type KernelNode struct {
	Function    Function
	Grid, Block [3]uint32
	Shared      uint32
	params      *[1]unsafe.Pointer
	_, _        uintptr // extra, kern
	_           uintptr // context: the current one

	// Params points to the value of the kernel's only parameter. It is not part of the driver's
	// struct, which contains the address of this array.
	Params [1]unsafe.Pointer
}

// GraphEdge is an edge of a graph, with its CUgraphEdgeData.
type GraphEdge struct {
	From, To GraphNode
	Data     GraphEdgeData
}

// GraphEdgeData is CUgraphEdgeData. The zero value is an edge to a node that starts when the other one is
// done.
type GraphEdgeData struct {
	FromPort, ToPort, Type uint8
	_                      [5]uint8
}

// Values of GraphEdgeData.
const (
	PortProgrammatic = 1 // FromPort: when all blocks have called griddepcontrol.launch_dependents or are done
	EdgeProgrammatic = 1 // Type: the node waits itself, by griddepcontrol.wait
)

// PeerCopy holds the arguments of MemcpyPeerAsync.
type PeerCopy struct {
	Dst        uintptr
	DstContext Context
	Src        uintptr
	SrcContext Context
	Bytes      uintptr
}

// BestBlock holds the results of OccupancyMaxPotentialBlockSize.
type BestBlock struct{ Grid, Block int32 }
