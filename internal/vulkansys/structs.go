package vulkansys

import (
	"fmt"
	"unsafe"
)

// The handles of objects.
type (
	Instance       uint64
	PhysicalDevice uint64
	Device         uint64
	Queue          uint64
	CommandBuffer  uint64
	CommandPool    uint64
	Fence          uint64
	Buffer         uint64
	Memory         uint64
	ShaderModule   uint64
	PipelineLayout uint64
	Pipeline       uint64
	QueryPool      uint64
)

// Result is a VkResult.
type Result int32

// The results that callers distinguish.
const (
	OutOfHostMemory    Result = -1
	OutOfDeviceMemory  Result = -2
	InitializationFail Result = -3
	DeviceLost         Result = -4
	IncompatibleDriver Result = -9
)

// Error is a call that failed.
type Error struct {
	Function string
	Result   Result
}

// Error returns the function and the result.
func (e *Error) Error() string { return fmt.Sprintf("vk%s: %v", e.Function, e.Result) }

// String returns the name of a result in vulkan_core.h.
func (r Result) String() string {
	if i := -int(r); i > 0 && i < len(results) && results[i] != "" {
		return "VK_ERROR_" + results[i]
	}
	return fmt.Sprintf("VkResult %d", int32(r))
}

// results has the names of failures, by the number after the minus sign.
var results = [...]string{
	1: "OUT_OF_HOST_MEMORY", 2: "OUT_OF_DEVICE_MEMORY", 3: "INITIALIZATION_FAILED", 4: "DEVICE_LOST", 5: "MEMORY_MAP_FAILED", 6: "LAYER_NOT_PRESENT",
	7: "EXTENSION_NOT_PRESENT", 8: "FEATURE_NOT_PRESENT", 9: "INCOMPATIBLE_DRIVER", 10: "TOO_MANY_OBJECTS", 13: "UNKNOWN",
}

// Err returns an *Error if r is negative.
func (r Result) Err(f function) error {
	if r < 0 {
		return &Error{names[f], r}
	}
	return nil
}

// The types of structs (VkStructureType).
const (
	typeApplication   = 0
	typeInstance      = 1
	typeQueue         = 2
	typeDevice        = 3
	typeSubmit        = 4
	typeMemory        = 5
	typeFence         = 8
	typeQueryPool     = 11
	typeBuffer        = 12
	typeShader        = 16
	typeStage         = 18
	typePipeline      = 29
	typeLayout        = 30
	typeCommandPool   = 39
	typeCommandBuffer = 40
	typeBegin         = 42
	typeMemoryBarrier = 46
	typeFeatures11    = 49
	typeFeatures12    = 51
	typeFeatures2     = 1000059000
	typeProperties2   = 1000059001
	typeAllocateFlags = 1000060000
	typeSubgroup      = 1000094000
	typeDriver        = 1000196000
	typeFloatControls = 1000197000
	typeAddress       = 1000244001
	typeSubgroupSizes = 1000225000
	typeSubgroupSize  = 1000225001
	typeSizeControl   = 1000225002
	typeSharedLayout  = 1000336000
)

// StageCompute is the bit of compute shaders in sets of stages.
const StageCompute = 0x20

// Bits of flags.
const (
	stageBottom = 0x2000
	stagesUsed  = 0x800 | 0x1000 // of kernels and of copies
	stageHost   = 0x4000

	accessShaderRead  = 0x20
	accessShaderWrite = 0x40
	accessCopyRead    = 0x800
	accessCopyWrite   = 0x1000
	accessHostRead    = 0x2000

	usageTransfer = 0x3
	usageStorage  = 0x20
	usageAddress  = 0x20000

	queryTimestamp = 2
	query64        = 0x1
	queryWait      = 0x2

	FamilyCompute = 0x2 // of QueueFamily.Flags

	MemoryDeviceLocal  = 0x1 // of MemoryType.Flags
	MemoryHostVisible  = 0x2
	MemoryHostCoherent = 0x4
	MemoryHostCached   = 0x8

	KindIntegrated = 1 // of Properties2.Kind
	KindDiscrete   = 2
	KindVirtual    = 3
	KindCPU        = 4
)

// Version returns the number of an API version.
func Version(major, minor uint32) uint32 { return major<<22 | minor<<12 }

// ApplicationInfo is VkApplicationInfo.
type ApplicationInfo struct {
	Type          uint32
	Next          unsafe.Pointer
	Application   *byte
	AppVersion    uint32
	Engine        *byte
	EngineVersion uint32
	API           uint32
}

// InstanceInfo is VkInstanceCreateInfo.
type InstanceInfo struct {
	Type           uint32
	Next           unsafe.Pointer
	Flags          uint32
	Application    *ApplicationInfo
	LayerCount     uint32
	Layers         **byte
	ExtensionCount uint32
	Extensions     **byte
}

// NewInstanceInfo returns the description of an instance of an API version.
func NewInstanceInfo(version uint32) *InstanceInfo {
	return &InstanceInfo{Type: typeInstance, Application: &ApplicationInfo{Type: typeApplication, API: version}}
}

// Properties2 is VkPhysicalDeviceProperties2 with the fields of VkPhysicalDeviceProperties.
type Properties2 struct {
	Type   uint32
	Next   unsafe.Pointer
	API    uint32
	Driver uint32
	Vendor uint32
	Device uint32
	Kind   uint32
	Name   [256]byte
	UUID   [16]byte
	_      uint32
	Limits Limits
	Sparse [5]uint32
	_      uint32
}

// NewProperties2 returns properties for Driver.Properties to fill, with those of subgroups and of arithmetic chained to them.
func NewProperties2() (*Properties2, *SubgroupProperties, *FloatControls) {
	f := &FloatControls{Type: typeFloatControls}
	s := &SubgroupProperties{Type: typeSubgroup, Next: unsafe.Pointer(f)}
	return &Properties2{Type: typeProperties2, Next: unsafe.Pointer(s)}, s, f
}

// DriverProperties is VkPhysicalDeviceDriverProperties; Name and Version end with a zero byte.
type DriverProperties struct {
	Type          uint32
	Next          unsafe.Pointer
	ID            uint32
	Name, Version [256]byte
	Conformance   [4]byte
}

// DriverLLVMpipe is the ID of Mesa's software device llvmpipe.
const DriverLLVMpipe = 13

// NewDriverProperties returns properties for Driver.Properties to fill, with those of the device's driver chained to them.
func NewDriverProperties() (*Properties2, *DriverProperties) {
	d := &DriverProperties{Type: typeDriver}
	return &Properties2{Type: typeProperties2, Next: unsafe.Pointer(d)}, d
}

// FloatControls is VkPhysicalDeviceFloatControlsProperties. The elements of arrays are for float16, float32 and float64.
type FloatControls struct {
	Type                uint32
	Next                unsafe.Pointer
	_                   [2]uint32
	SignedZeroInfNan    [3]uint32
	DenormPreserve      [3]uint32
	DenormFlushToZero   [3]uint32
	RoundingToNearest   [3]uint32
	RoundingTowardsZero [3]uint32
	_                   uint32
}

// Limits is VkPhysicalDeviceLimits, of which only the limits of compute shaders and the unit of timestamps have names.
type Limits struct {
	_               [8]uint32
	PushConstants   uint32 // bytes
	_               [45]uint32
	SharedMemory    uint32
	GroupCount      [3]uint32
	Invocations     uint32
	GroupSize       [3]uint32
	_               [44]uint32
	TimestampPeriod float32 // nanoseconds
	_               [19]uint32
}

// SubgroupProperties is VkPhysicalDeviceSubgroupProperties.
type SubgroupProperties struct {
	Type       uint32
	Next       unsafe.Pointer
	Size       uint32
	Stages     uint32
	Operations uint32
	Quad       uint32
}

// Features2 is VkPhysicalDeviceFeatures2; each feature is 0 or 1.
type Features2 struct {
	Type    uint32
	Next    unsafe.Pointer
	_       [39]uint32
	Float64 uint32
	Int64   uint32
	Int16   uint32
	_       [13]uint32
}

// Features11 is VkPhysicalDeviceVulkan11Features.
type Features11 struct {
	Type      uint32
	Next      unsafe.Pointer
	Storage16 uint32 // storageBuffer16BitAccess
	_         [11]uint32
}

// Features12 is VkPhysicalDeviceVulkan12Features.
type Features12 struct {
	Type            uint32
	Next            unsafe.Pointer
	_               [2]uint32
	Storage8        uint32 // storageBuffer8BitAccess
	_               [2]uint32
	BufferAtomics64 uint32 // shaderBufferInt64Atomics
	SharedAtomics64 uint32 // shaderSharedInt64Atomics
	Float16         uint32
	Int8            uint32
	_               [29]uint32
	Addresses       uint32 // bufferDeviceAddress
	_               [9]uint32
}

// SharedLayoutFeatures is VkPhysicalDeviceWorkgroupMemoryExplicitLayoutFeaturesKHR.
type SharedLayoutFeatures struct {
	Type   uint32
	Next   unsafe.Pointer
	Layout uint32
	Scalar uint32
	Access8,
	Access16 uint32
}

// SharedLayout is the extension with SharedLayoutFeatures.
const SharedLayout = "VK_KHR_workgroup_memory_explicit_layout"

// WithSharedLayout adds SharedLayoutFeatures to features.
func (f *Features2) WithSharedLayout() *SharedLayoutFeatures {
	l := &SharedLayoutFeatures{Type: typeSharedLayout, Next: f.Next}
	f.Next = unsafe.Pointer(l)
	return l
}

// SubgroupSizeControl is the extension with which a pipeline demands a size of subgroups.
const SubgroupSizeControl = "VK_EXT_subgroup_size_control"

// SubgroupSizes is VkPhysicalDeviceSubgroupSizeControlProperties.
type SubgroupSizes struct {
	Type        uint32
	Next        unsafe.Pointer
	Least, Most uint32 // lanes of a subgroup
	Subgroups   uint32 // of a block, at most
	Stages      uint32 // that can demand a size
}

// WithSubgroupSizes adds SubgroupSizes to properties.
func (p *Properties2) WithSubgroupSizes() *SubgroupSizes {
	s := &SubgroupSizes{Type: typeSubgroupSizes, Next: p.Next}
	p.Next = unsafe.Pointer(s)
	return s
}

// SizeControlFeatures is VkPhysicalDeviceSubgroupSizeControlFeatures.
type SizeControlFeatures struct {
	Type    uint32
	Next    unsafe.Pointer
	Control uint32
	Full    uint32
}

// WithSizeControl adds SizeControlFeatures to features.
func (f *Features2) WithSizeControl() *SizeControlFeatures {
	c := &SizeControlFeatures{Type: typeSizeControl, Next: f.Next}
	f.Next = unsafe.Pointer(c)
	return c
}

// ExtensionProperties is VkExtensionProperties.
type ExtensionProperties struct {
	Name    [256]byte
	Version uint32
}

// NewFeatures returns features for Driver.Features to fill, or for CreateDevice to enable.
func NewFeatures() (*Features2, *Features11, *Features12) {
	c := &Features12{Type: typeFeatures12}
	b := &Features11{Type: typeFeatures11, Next: unsafe.Pointer(c)}
	return &Features2{Type: typeFeatures2, Next: unsafe.Pointer(b)}, b, c
}

// MemoryProperties is VkPhysicalDeviceMemoryProperties.
type MemoryProperties struct {
	TypeCount uint32
	Types     [32]MemoryType
	HeapCount uint32
	Heaps     [16]MemoryHeap
}

// MemoryType is VkMemoryType.
type MemoryType struct{ Flags, Heap uint32 }

// MemoryHeap is VkMemoryHeap.
type MemoryHeap struct {
	Size  uint64
	Flags uint32
}

// QueueFamily is VkQueueFamilyProperties.
type QueueFamily struct {
	Flags, Count, TimestampBits uint32
	Granularity                 [3]uint32
}

// QueueInfo is VkDeviceQueueCreateInfo.
type QueueInfo struct {
	Type       uint32
	Next       unsafe.Pointer
	Flags      uint32
	Family     uint32
	Count      uint32
	Priorities *float32
}

// DeviceInfo is VkDeviceCreateInfo.
type DeviceInfo struct {
	Type           uint32
	Next           unsafe.Pointer
	Flags          uint32
	QueueCount     uint32
	Queues         *QueueInfo
	LayerCount     uint32
	Layers         **byte
	ExtensionCount uint32
	Extensions     **byte
	Features       unsafe.Pointer
}

// NewDeviceInfo returns the description of a device with one queue, features and extensions.
func NewDeviceInfo(family uint32, f *Features2, extensions ...string) *DeviceInfo {
	priority := float32(1)
	q := &QueueInfo{Type: typeQueue, Family: family, Count: 1, Priorities: &priority}
	info := &DeviceInfo{Type: typeDevice, Next: unsafe.Pointer(f), QueueCount: 1, Queues: q}
	if len(extensions) > 0 {
		var list []*byte
		for _, name := range extensions {
			list = append(list, &append([]byte(name), 0)[0])
		}
		info.ExtensionCount, info.Extensions = uint32(len(list)), &list[0]
	}
	return info
}

// SubmitInfo is VkSubmitInfo.
type SubmitInfo struct {
	Type         uint32
	Next         unsafe.Pointer
	WaitCount    uint32
	Waits        unsafe.Pointer
	Stages       unsafe.Pointer
	BufferCount  uint32
	Buffers      *CommandBuffer
	SignalCount  uint32
	SignalObject unsafe.Pointer
}

// NewSubmitInfo returns the description of a submission of one command buffer.
func NewSubmitInfo(c CommandBuffer) *SubmitInfo {
	return &SubmitInfo{Type: typeSubmit, BufferCount: 1, Buffers: &c}
}

// ObjectInfo is the description of an object that has only flags.
type ObjectInfo struct {
	Type  uint32
	Next  unsafe.Pointer
	Flags uint32
}

// CommandPoolInfo is VkCommandPoolCreateInfo.
type CommandPoolInfo struct {
	Type   uint32
	Next   unsafe.Pointer
	Flags  uint32
	Family uint32
}

// CommandBufferInfo is VkCommandBufferAllocateInfo.
type CommandBufferInfo struct {
	Type  uint32
	Next  unsafe.Pointer
	Pool  CommandPool
	Level uint32
	Count uint32
}

// BeginInfo is VkCommandBufferBeginInfo.
type BeginInfo struct {
	Type        uint32
	Next        unsafe.Pointer
	Flags       uint32
	Inheritance unsafe.Pointer
}

// MemoryBarrier is VkMemoryBarrier.
type MemoryBarrier struct {
	Type           uint32
	Next           unsafe.Pointer
	Source, Target uint32
}

// BufferCopy is VkBufferCopy.
type BufferCopy struct{ From, To, Size uint64 }

// BufferInfo is VkBufferCreateInfo.
type BufferInfo struct {
	Type        uint32
	Next        unsafe.Pointer
	Flags       uint32
	Size        uint64
	Usage       uint32
	Sharing     uint32
	FamilyCount uint32
	Families    unsafe.Pointer
}

// QueryPoolInfo is VkQueryPoolCreateInfo.
type QueryPoolInfo struct {
	Type       uint32
	Next       unsafe.Pointer
	Flags      uint32
	Kind       uint32
	Count      uint32
	Statistics uint32
}

// Requirements is VkMemoryRequirements.
type Requirements struct {
	Size, Alignment uint64
	Types           uint32 // a bit for each memory type
}

// AllocateFlags is VkMemoryAllocateFlagsInfo.
type AllocateFlags struct {
	Type        uint32
	Next        unsafe.Pointer
	Flags, Mask uint32
}

// MemoryInfo is VkMemoryAllocateInfo.
type MemoryInfo struct {
	Type  uint32
	Next  unsafe.Pointer
	Size  uint64
	Index uint32
}

// AddressInfo is VkBufferDeviceAddressInfo.
type AddressInfo struct {
	Type   uint32
	Next   unsafe.Pointer
	Buffer Buffer
}

// ShaderInfo is VkShaderModuleCreateInfo.
type ShaderInfo struct {
	Type  uint32
	Next  unsafe.Pointer
	Flags uint32
	Size  uint64
	Code  *uint32
}

// PushRange is VkPushConstantRange.
type PushRange struct{ Stages, Offset, Size uint32 }

// LayoutInfo is VkPipelineLayoutCreateInfo.
type LayoutInfo struct {
	Type   uint32
	Next   unsafe.Pointer
	Flags  uint32
	Sets   uint32
	Set    unsafe.Pointer
	Ranges uint32
	Range  *PushRange
}

// StageInfo is VkPipelineShaderStageCreateInfo.
type StageInfo struct {
	Type           uint32
	Next           unsafe.Pointer
	Flags, Stage   uint32
	Module         ShaderModule
	Name           *byte
	Specialization unsafe.Pointer
}

// SubgroupSize is VkPipelineShaderStageRequiredSubgroupSizeCreateInfo.
type SubgroupSize struct {
	Type  uint32
	Next  unsafe.Pointer
	Lanes uint32
}

// PipelineInfo is VkComputePipelineCreateInfo.
type PipelineInfo struct {
	Type   uint32
	Next   unsafe.Pointer
	Flags  uint32
	Stage  StageInfo
	Layout PipelineLayout
	Base   Pipeline
	Index  int32
}
