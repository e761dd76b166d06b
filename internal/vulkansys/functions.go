package vulkansys

import (
	"runtime"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/internal/dl"
)

// function is an index in the tables of functions.
type function int

const (
	fnGetInstanceProcAddr function = iota
	fnCreateInstance
	fnEnumeratePhysicalDevices
	fnDestroyInstance
	fnGetPhysicalDeviceProperties2
	fnGetPhysicalDeviceFeatures2
	fnGetPhysicalDeviceMemoryProperties
	fnGetPhysicalDeviceQueueFamilyProperties
	fnEnumerateDeviceExtensionProperties
	fnCreateDevice
	fnDestroyDevice
	fnDeviceWaitIdle
	fnGetDeviceQueue
	fnQueueSubmit
	fnCreateFence
	fnDestroyFence
	fnResetFences
	fnWaitForFences
	fnCreateCommandPool
	fnDestroyCommandPool
	fnResetCommandPool
	fnAllocateCommandBuffers
	fnBeginCommandBuffer
	fnEndCommandBuffer
	fnCmdBindPipeline
	fnCmdPushConstants
	fnCmdDispatch
	fnCmdPipelineBarrier
	fnCmdCopyBuffer
	fnCmdFillBuffer
	fnCmdResetQueryPool
	fnCmdWriteTimestamp
	fnCreateBuffer
	fnDestroyBuffer
	fnGetBufferMemoryRequirements
	fnAllocateMemory
	fnFreeMemory
	fnBindBufferMemory
	fnMapMemory
	fnGetBufferDeviceAddress
	fnCreateShaderModule
	fnDestroyShaderModule
	fnCreatePipelineLayout
	fnDestroyPipelineLayout
	fnCreateComputePipelines
	fnDestroyPipeline
	fnCreateQueryPool
	fnDestroyQueryPool
	fnGetQueryPoolResults
	functions
)

var names = [functions]string{
	"GetInstanceProcAddr", "CreateInstance", "EnumeratePhysicalDevices", "DestroyInstance", "GetPhysicalDeviceProperties2",
	"GetPhysicalDeviceFeatures2", "GetPhysicalDeviceMemoryProperties", "GetPhysicalDeviceQueueFamilyProperties", "EnumerateDeviceExtensionProperties", "CreateDevice",
	"DestroyDevice", "DeviceWaitIdle", "GetDeviceQueue", "QueueSubmit", "CreateFence", "DestroyFence", "ResetFences", "WaitForFences",
	"CreateCommandPool", "DestroyCommandPool", "ResetCommandPool", "AllocateCommandBuffers", "BeginCommandBuffer", "EndCommandBuffer",
	"CmdBindPipeline", "CmdPushConstants", "CmdDispatch", "CmdPipelineBarrier", "CmdCopyBuffer", "CmdFillBuffer",
	"CmdResetQueryPool", "CmdWriteTimestamp", "CreateBuffer", "DestroyBuffer", "GetBufferMemoryRequirements", "AllocateMemory", "FreeMemory", "BindBufferMemory", "MapMemory",
	"GetBufferDeviceAddress", "CreateShaderModule", "DestroyShaderModule", "CreatePipelineLayout", "DestroyPipelineLayout",
	"CreateComputePipelines", "DestroyPipeline", "CreateQueryPool", "DestroyQueryPool", "GetQueryPoolResults",
}

// escape makes the compiler place on the heap what it is given: C sees its address, and stacks move.
var escape atomic.Pointer[byte]

// heap returns p, whose target it moves to the heap.
func heap[T any](p *T) *T {
	if p != nil && uintptr(unsafe.Pointer(p)) == 0 {
		escape.Store((*byte)(unsafe.Pointer(p)))
	}
	return p
}

func keep[T any](p *T) { runtime.KeepAlive(p) }

func at[T any](p *T) uintptr { return uintptr(unsafe.Pointer(heap(p))) }

func (d *Driver) call(f function, args ...uintptr) Result {
	return Result(int32(dl.Call(d.functions[f], args...)))
}

// create calls a function that makes an object.
func create[H ~uint64, I any](d *Driver, f function, dev Device, info *I) (H, error) {
	out := new(H)
	err := d.call(f, uintptr(dev), at(info), 0, at(out)).Err(f)
	keep(info)
	return *out, err
}

// CreateInstance makes an instance.
func (d *Driver) CreateInstance(info *InstanceInfo) (Instance, error) {
	out := new(Instance)
	err := d.call(fnCreateInstance, at(info), 0, at(out)).Err(fnCreateInstance)
	keep(info)
	return *out, err
}

// DestroyInstance frees an instance.
func (d *Driver) DestroyInstance(i Instance) { d.call(fnDestroyInstance, uintptr(i), 0) }

// PhysicalDevices lists the devices.
func (d *Driver) PhysicalDevices(i Instance) ([]PhysicalDevice, error) {
	n := new(uint32)
	if err := d.call(fnEnumeratePhysicalDevices, uintptr(i), at(n), 0).Err(fnEnumeratePhysicalDevices); err != nil || *n == 0 {
		return nil, err
	}
	list := make([]PhysicalDevice, *n)
	err := d.call(fnEnumeratePhysicalDevices, uintptr(i), at(n), at(&list[0])).Err(fnEnumeratePhysicalDevices)
	return list[:*n], err
}

// Properties fills a device's properties and those chained to them.
func (d *Driver) Properties(p PhysicalDevice, out *Properties2) {
	d.call(fnGetPhysicalDeviceProperties2, uintptr(p), at(out))
	keep(out)
}

// Features fills a device's features and those chained to them.
func (d *Driver) Features(p PhysicalDevice, out *Features2) {
	d.call(fnGetPhysicalDeviceFeatures2, uintptr(p), at(out))
	keep(out)
}

// Memories returns the memory types and heaps of a device.
func (d *Driver) Memories(p PhysicalDevice) *MemoryProperties {
	out := new(MemoryProperties)
	d.call(fnGetPhysicalDeviceMemoryProperties, uintptr(p), at(out))
	return out
}

// Families lists the families of queues of a device.
func (d *Driver) Families(p PhysicalDevice) []QueueFamily {
	n := new(uint32)
	d.call(fnGetPhysicalDeviceQueueFamilyProperties, uintptr(p), at(n), 0)
	if *n == 0 {
		return nil
	}
	list := make([]QueueFamily, *n)
	d.call(fnGetPhysicalDeviceQueueFamilyProperties, uintptr(p), at(n), at(&list[0]))
	return list[:*n]
}

// HasExtension reports whether a device has an extension.
func (d *Driver) HasExtension(p PhysicalDevice, name string) bool {
	n := new(uint32)
	d.call(fnEnumerateDeviceExtensionProperties, uintptr(p), 0, at(n), 0)
	if *n == 0 {
		return false
	}
	list := make([]ExtensionProperties, *n)
	d.call(fnEnumerateDeviceExtensionProperties, uintptr(p), 0, at(n), at(&list[0]))
	return slices.ContainsFunc(list[:*n], func(e ExtensionProperties) bool {
		return string(e.Name[:len(name)+1]) == name+"\x00"
	})
}

// CreateDevice makes a logical device.
func (d *Driver) CreateDevice(p PhysicalDevice, info *DeviceInfo) (Device, error) {
	out := new(Device)
	err := d.call(fnCreateDevice, uintptr(p), at(info), 0, at(out)).Err(fnCreateDevice)
	keep(info)
	return *out, err
}

// DestroyDevice frees a device.
func (d *Driver) DestroyDevice(dev Device) { d.call(fnDestroyDevice, uintptr(dev), 0) }

// WaitIdle waits for all work of a device.
func (d *Driver) WaitIdle(dev Device) error {
	return d.call(fnDeviceWaitIdle, uintptr(dev)).Err(fnDeviceWaitIdle)
}

// Queue returns a queue of a device.
func (d *Driver) Queue(dev Device, family, index uint32) Queue {
	out := new(Queue)
	d.call(fnGetDeviceQueue, uintptr(dev), uintptr(family), uintptr(index), at(out))
	return *out
}

// Submit starts a command buffer and signals the fence after it. Only one goroutine at a time may use a queue.
func (d *Driver) Submit(q Queue, info *SubmitInfo, f Fence) error {
	err := d.call(fnQueueSubmit, uintptr(q), 1, at(info), uintptr(f)).Err(fnQueueSubmit)
	keep(info)
	return err
}

// CreateFence makes a fence that is not signalled.
func (d *Driver) CreateFence(dev Device) (Fence, error) {
	return create[Fence](d, fnCreateFence, dev, &ObjectInfo{Type: typeFence})
}

// WaitFence waits for a fence, at most for a time in nanoseconds. It reports false if the time was not enough.
func (d *Driver) WaitFence(dev Device, f Fence, limit uint64) (bool, error) {
	list := &f
	r := d.call(fnWaitForFences, uintptr(dev), 1, at(list), 1, uintptr(limit))
	keep(list)
	return r == 0, r.Err(fnWaitForFences)
}

// ResetFence makes a fence not signalled.
func (d *Driver) ResetFence(dev Device, f Fence) error {
	list := &f
	err := d.call(fnResetFences, uintptr(dev), 1, at(list)).Err(fnResetFences)
	keep(list)
	return err
}

// CreateCommandPool makes a pool for command buffers of a family.
func (d *Driver) CreateCommandPool(dev Device, family uint32) (CommandPool, error) {
	return create[CommandPool](d, fnCreateCommandPool, dev, &CommandPoolInfo{Type: typeCommandPool, Family: family})
}

// ResetCommandPool empties the command buffers of a pool.
func (d *Driver) ResetCommandPool(dev Device, p CommandPool) error {
	return d.call(fnResetCommandPool, uintptr(dev), uintptr(p), 0).Err(fnResetCommandPool)
}

// AllocateCommandBuffer makes a command buffer.
func (d *Driver) AllocateCommandBuffer(dev Device, p CommandPool) (CommandBuffer, error) {
	info, out := &CommandBufferInfo{Type: typeCommandBuffer, Pool: p, Count: 1}, new(CommandBuffer)
	err := d.call(fnAllocateCommandBuffers, uintptr(dev), at(info), at(out)).Err(fnAllocateCommandBuffers)
	keep(info)
	return *out, err
}

// Begin starts recording.
func (d *Driver) Begin(c CommandBuffer) error {
	info := &BeginInfo{Type: typeBegin, Flags: 1} // is submitted once
	err := d.call(fnBeginCommandBuffer, uintptr(c), at(info)).Err(fnBeginCommandBuffer)
	keep(info)
	return err
}

// End ends recording.
func (d *Driver) End(c CommandBuffer) error {
	return d.call(fnEndCommandBuffer, uintptr(c)).Err(fnEndCommandBuffer)
}

// BindPipeline selects the pipeline of the next dispatches.
func (d *Driver) BindPipeline(c CommandBuffer, p Pipeline) {
	d.call(fnCmdBindPipeline, uintptr(c), 1, uintptr(p))
}

// PushConstants sets the push constants of the next dispatches.
func (d *Driver) PushConstants(c CommandBuffer, l PipelineLayout, values []byte) {
	p := &values[0]
	d.call(fnCmdPushConstants, uintptr(c), uintptr(l), StageCompute, 0, uintptr(len(values)), at(p))
	keep(p)
}

// Dispatch records a launch.
func (d *Driver) Dispatch(c CommandBuffer, x, y, z uint32) {
	d.call(fnCmdDispatch, uintptr(c), uintptr(x), uintptr(y), uintptr(z))
}

// Barrier makes all later commands wait for all earlier ones and see what they wrote. It names the stages of kernels and of copies, which is all that command
// buffers contain: on an H200, a kernel after such a barrier starts 2 us earlier than after one for all stages.
func (d *Driver) Barrier(c CommandBuffer) {
	d.barrier(c, stagesUsed, accessShaderRead|accessShaderWrite|accessCopyRead|accessCopyWrite)
}

// HostBarrier lets the host see what all earlier commands wrote, when the fence is signalled.
func (d *Driver) HostBarrier(c CommandBuffer) { d.barrier(c, stageHost, accessHostRead) }

// barrier makes what all earlier commands wrote visible to accesses of stages.
func (d *Driver) barrier(c CommandBuffer, stages uintptr, access uint32) {
	b := &MemoryBarrier{Type: typeMemoryBarrier, Source: accessShaderWrite | accessCopyWrite, Target: access}
	d.call(fnCmdPipelineBarrier, uintptr(c), stagesUsed, stages, 0, 1, at(b), 0, 0, 0, 0)
	keep(b)
}

// CopyBuffer records a copy.
func (d *Driver) CopyBuffer(c CommandBuffer, from, to Buffer, r BufferCopy) {
	p := &r
	d.call(fnCmdCopyBuffer, uintptr(c), uintptr(from), uintptr(to), 1, at(p))
	keep(p)
}

// ClearBuffer records the clearing of n bytes; offset and n are multiples of 4.
func (d *Driver) ClearBuffer(c CommandBuffer, b Buffer, offset, n uint64) {
	d.call(fnCmdFillBuffer, uintptr(c), uintptr(b), uintptr(offset), uintptr(n), 0)
}

// ResetQueries records the reset of the first n queries of a pool.
func (d *Driver) ResetQueries(c CommandBuffer, p QueryPool, n int) {
	d.call(fnCmdResetQueryPool, uintptr(c), uintptr(p), 0, uintptr(n))
}

// WriteTimestamp records a timestamp, which is taken when all earlier commands are done.
func (d *Driver) WriteTimestamp(c CommandBuffer, p QueryPool, query uint32) {
	d.call(fnCmdWriteTimestamp, uintptr(c), stageBottom, uintptr(p), uintptr(query))
}

// CreateBuffer makes a buffer of a size that commands and kernels may read and write.
func (d *Driver) CreateBuffer(dev Device, size uint64) (Buffer, error) {
	return create[Buffer](d, fnCreateBuffer, dev, &BufferInfo{Type: typeBuffer, Size: size, Usage: usageTransfer | usageStorage | usageAddress})
}

// Requirements returns what memory a buffer needs.
func (d *Driver) Requirements(dev Device, b Buffer) *Requirements {
	out := new(Requirements)
	d.call(fnGetBufferMemoryRequirements, uintptr(dev), uintptr(b), at(out))
	return out
}

// AllocateMemory allocates memory of a type, whose buffers have addresses.
func (d *Driver) AllocateMemory(dev Device, size uint64, memoryType uint32) (Memory, error) {
	flags := &AllocateFlags{Type: typeAllocateFlags, Flags: 2}
	info := &MemoryInfo{Type: typeMemory, Next: unsafe.Pointer(flags), Size: size, Index: memoryType}
	return create[Memory](d, fnAllocateMemory, dev, info)
}

// BindBuffer places a buffer in memory.
func (d *Driver) BindBuffer(dev Device, b Buffer, m Memory) error {
	return d.call(fnBindBufferMemory, uintptr(dev), uintptr(b), uintptr(m), 0).Err(fnBindBufferMemory)
}

// Map returns the host's view of memory, which lives until FreeMemory.
func (d *Driver) Map(dev Device, m Memory, size uint64) ([]byte, error) {
	out := new(unsafe.Pointer)
	if err := d.call(fnMapMemory, uintptr(dev), uintptr(m), 0, uintptr(size), 0, at(out)).Err(fnMapMemory); err != nil {
		return nil, err
	}
	return unsafe.Slice((*byte)(*out), size), nil
}

// Address returns the address of a buffer for kernels.
func (d *Driver) Address(dev Device, b Buffer) uint64 {
	info := &AddressInfo{Type: typeAddress, Buffer: b}
	a := dl.Call(d.functions[fnGetBufferDeviceAddress], uintptr(dev), at(info))
	keep(info)
	return uint64(a)
}

// CreateShaderModule makes a shader of SPIR-V.
func (d *Driver) CreateShaderModule(dev Device, code []uint32) (ShaderModule, error) {
	return create[ShaderModule](d, fnCreateShaderModule, dev, &ShaderInfo{Type: typeShader, Size: uint64(4 * len(code)), Code: &code[0]})
}

// CreatePipelineLayout makes a layout with push bytes of push constants.
func (d *Driver) CreatePipelineLayout(dev Device, push uint32) (PipelineLayout, error) {
	r := &PushRange{Stages: StageCompute, Size: push}
	return create[PipelineLayout](d, fnCreatePipelineLayout, dev, &LayoutInfo{Type: typeLayout, Ranges: 1, Range: r})
}

// CreatePipeline compiles the entry point "main" of a shader, for subgroups of the given size unless that is 0.
func (d *Driver) CreatePipeline(dev Device, l PipelineLayout, m ShaderModule, lanes int) (Pipeline, error) {
	name := []byte("main\x00")
	info := &PipelineInfo{Type: typePipeline, Stage: StageInfo{Type: typeStage, Stage: StageCompute, Module: m, Name: &name[0]}, Layout: l, Index: -1}
	if lanes > 0 {
		info.Stage.Next = unsafe.Pointer(&SubgroupSize{Type: typeSubgroupSize, Lanes: uint32(lanes)})
	}
	out := new(Pipeline)
	err := d.call(fnCreateComputePipelines, uintptr(dev), 0, 1, at(info), 0, at(out)).Err(fnCreateComputePipelines)
	keep(info)
	return *out, err
}

// CreateQueryPool makes a pool of n queries for timestamps.
func (d *Driver) CreateQueryPool(dev Device, n uint32) (QueryPool, error) {
	return create[QueryPool](d, fnCreateQueryPool, dev, &QueryPoolInfo{Type: typeQueryPool, Kind: queryTimestamp, Count: n})
}

// QueryResults returns the timestamps of the first n queries of a pool. It waits until they are available.
func (d *Driver) QueryResults(dev Device, p QueryPool, n int) ([]uint64, error) {
	stamps := make([]uint64, n)
	err := d.call(fnGetQueryPoolResults, uintptr(dev), uintptr(p), 0, uintptr(n), uintptr(8*n), at(&stamps[0]), 8, query64|queryWait).Err(fnGetQueryPoolResults)
	return stamps, err
}

// destroy frees an object of a device.
func (d *Driver) destroy(f function, dev Device, object uint64) {
	if object != 0 {
		d.call(f, uintptr(dev), uintptr(object), 0)
	}
}

// DestroyFence frees a fence.
func (d *Driver) DestroyFence(dev Device, f Fence) { d.destroy(fnDestroyFence, dev, uint64(f)) }

// DestroyCommandPool frees a pool and its command buffers.
func (d *Driver) DestroyCommandPool(dev Device, p CommandPool) {
	d.destroy(fnDestroyCommandPool, dev, uint64(p))
}

// DestroyQueryPool frees a pool of queries.
func (d *Driver) DestroyQueryPool(dev Device, p QueryPool) {
	d.destroy(fnDestroyQueryPool, dev, uint64(p))
}

// DestroyBuffer frees a buffer, but not its memory.
func (d *Driver) DestroyBuffer(dev Device, b Buffer) { d.destroy(fnDestroyBuffer, dev, uint64(b)) }

// FreeMemory frees memory.
func (d *Driver) FreeMemory(dev Device, m Memory) { d.destroy(fnFreeMemory, dev, uint64(m)) }

// DestroyShaderModule frees a shader; pipelines made of it live on.
func (d *Driver) DestroyShaderModule(dev Device, m ShaderModule) {
	d.destroy(fnDestroyShaderModule, dev, uint64(m))
}

// DestroyPipelineLayout frees a layout.
func (d *Driver) DestroyPipelineLayout(dev Device, l PipelineLayout) {
	d.destroy(fnDestroyPipelineLayout, dev, uint64(l))
}

// DestroyPipeline frees a pipeline.
func (d *Driver) DestroyPipeline(dev Device, p Pipeline) {
	d.destroy(fnDestroyPipeline, dev, uint64(p))
}
