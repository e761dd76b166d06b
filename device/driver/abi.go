package driver

// Compiled code writes and back ends read the layouts below. All integers are little-endian.

// Offsets of the hidden parameters, which follow a kernel's own parameters. The offsets count from
// Kernel.ParamBytes-HiddenBytes in the parameter block.
const (
	HiddenEnv    = 0  // u64: address of the stream's environment in device memory
	HiddenLaunch = 8  // u32: number of the launch in its queue
	HiddenKernel = 12 // u32: number of the kernel in its context
	HiddenBytes  = 16
)

// TensorMapBytes and TensorMapAlign are the size and the alignment of a tensor map in the parameter block. If the back
// end is a TensorMapper, the tensor map is in the device's encoding, such as CUtensorMap; otherwise, it is a
// gpu.TensorMap.
const (
	TensorMapBytes = 128
	TensorMapAlign = 64
)

// CoarseBytes is the size of a coarse variant's extra parameter, at offset Kernel.ParamBytes: a
// u64, the number of threads along x that the launch requested.
const CoarseBytes = 8

// TestBytes is the size of the extra parameter of a variant with a LaunchTest: a u64, which is 1 if the launch passes
// the test. The parameter's offset is Kernel.ParamBytes+CoarseBytes, even if the variant is not coarse.
const TestBytes = 8

// SliceAlign is the size in bytes of a thread's widest memory access. A slice of a whole buffer
// starts at a multiple of SliceAlign.
const SliceAlign = 16

// Offsets in an environment. Each queue and each graph has one.
//
// A thread that faults swaps EnvClaim from 0 to 1. If the swap succeeds, the thread writes the fault record. A thread
// that prints adds the size of its record to EnvPrintHead. If the sum exceeds EnvPrintSize, the thread increments
// EnvPrintLost and writes nothing. EnvGrid counts the blocks that arrive at a grid barrier; between two barriers, it is
// a multiple of 1<<31. When a back end reads a fault record, it clears EnvClaim and EnvGrid, because blocks may have
// left a barrier early.
const (
	EnvClaim     = 0  // u32
	EnvGrid      = 4  // u32
	EnvRecord    = 8  // u64: address of the fault record
	EnvPrints    = 16 // u64: address of the print records
	EnvPrintSize = 24 // u32: capacity for print records, in bytes
	EnvPrintHead = 28 // u32: total size of the print records requested, in bytes
	EnvPrintLost = 32 // u32: number of print records dropped
	EnvBytes     = 64
)

// Offsets in a record. A record describes a fault or one print.
const (
	RecordSize   = 0  // u32: size of the record in bytes, written last; 0 while incomplete
	RecordLaunch = 4  // u32
	RecordKernel = 8  // u32
	RecordSite   = 12 // u32: index in Kernel.Sites
	RecordBlock  = 16 // 3 x u32
	RecordThread = 28 // 3 x u32
	RecordArgs   = 40 // u64 each: integers sign-extended, floats as their bits
	RecordMax    = RecordArgs + 8*MaxSiteArgs
	MaxSiteArgs  = 11
)
