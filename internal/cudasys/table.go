package cudasys

import (
	"runtime"
	"slices"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/internal/dl"
)

// function is one row of the table: a versioned symbol of the driver's library, and the code that
// makes the corresponding field of Driver from the symbol's address.
type function struct {
	symbol string
	bind   func(d *Driver, a address)
}

// newer lists functions that drivers for CUDA 12.0 lack. Their fields of Driver may be nil.
var newer = []function{
	{"cuGraphAddDependencies_v2", func(d *Driver, a address) { d.GraphAddDependencies = a.addEdge }},
}

// functions lists the driver functions that this project uses. The version suffixes are those to
// which cuda.h of CUDA 12 and 13 defines the plain names. If the arguments of a function have
// changed since CUDA 12.0, it is the older version, which every later driver also has.
var functions = slices.Concat(deviceFunctions, memoryFunctions, copyFunctions, streamFunctions, moduleFunctions, graphFunctions)

var deviceFunctions = []function{
	{"cuInit", func(d *Driver, a address) {
		d.Init = func(flags uint32) Status { return a.call(uintptr(flags)) }
	}},
	{"cuDriverGetVersion", func(d *Driver, a address) { d.DriverGetVersion = output[int32](a) }},
	{"cuDeviceGetCount", func(d *Driver, a address) { d.DeviceGetCount = output[int32](a) }},
	{"cuDeviceGet", func(d *Driver, a address) { d.DeviceGet = output1[Device, int32](a) }},
	{"cuDeviceGetName", func(d *Driver, a address) { d.DeviceGetName = deviceText(a) }},
	{"cuDeviceGetPCIBusId", func(d *Driver, a address) { d.DeviceGetPCIBusId = deviceText(a) }},
	{"cuDeviceGetAttribute", func(d *Driver, a address) {
		d.DeviceGetAttribute = output2[int32, Attribute, Device](a)
	}},
	{"cuDeviceTotalMem_v2", func(d *Driver, a address) { d.DeviceTotalMem = output1[uintptr, Device](a) }},

	{"cuDevicePrimaryCtxRetain", func(d *Driver, a address) { d.DevicePrimaryCtxRetain = output1[Context, Device](a) }},
	{"cuDevicePrimaryCtxRelease_v2", func(d *Driver, a address) { d.DevicePrimaryCtxRelease = input[Device](a) }},
	{"cuCtxSetCurrent", func(d *Driver, a address) { d.CtxSetCurrent, d.setCurrent = input[Context](a), a }},
	{"cuDeviceCanAccessPeer", func(d *Driver, a address) { d.DeviceCanAccessPeer = output2[int32, Device, Device](a) }},
	{"cuCtxEnablePeerAccess", func(d *Driver, a address) { d.CtxEnablePeerAccess = input2[Context, uint32](a) }},
	{"cuCtxGetStreamPriorityRange", func(d *Driver, a address) { d.CtxGetStreamPriorityRange = outputs[int32, int32](a) }},
}

var streamFunctions = []function{
	{"cuStreamCreateWithPriority", func(d *Driver, a address) {
		d.StreamCreateWithPriority = output2[Stream, uint32, int32](a)
	}},
	{"cuStreamQuery", func(d *Driver, a address) { d.StreamQuery = input[Stream](a) }},
	{"cuStreamWaitEvent", func(d *Driver, a address) {
		d.StreamWaitEvent = func(s Stream, e Event, flags uint32) Status {
			return a.call(uintptr(s), uintptr(e), uintptr(flags))
		}
	}},
	{"cuStreamDestroy_v2", func(d *Driver, a address) { d.StreamDestroy = input[Stream](a) }},

	{"cuEventCreate", func(d *Driver, a address) { d.EventCreate = output1[Event, uint32](a) }},
	{"cuEventRecord", func(d *Driver, a address) { d.EventRecord = input2[Event, Stream](a) }},
	{"cuEventQuery", func(d *Driver, a address) { d.EventQuery = input[Event](a) }},
	{"cuEventSynchronize", func(d *Driver, a address) { d.EventSynchronize = input[Event](a) }},
	{"cuEventElapsedTime", func(d *Driver, a address) { d.EventElapsedTime = output2[float32, Event, Event](a) }},
	{"cuEventDestroy_v2", func(d *Driver, a address) { d.EventDestroy = input[Event](a) }},
}

var moduleFunctions = []function{
	{"cuModuleLoadDataEx", func(d *Driver, a address) { d.ModuleLoadDataEx = a.loadModule }},
	{"cuModuleGetFunction", func(d *Driver, a address) {
		d.ModuleGetFunction = func(f *Function, m Module, name []byte) Status {
			defer runtime.KeepAlive(f)
			defer runtime.KeepAlive(name)
			return a.call(pointer(f), uintptr(m), bytes(name))
		}
	}},
	{"cuModuleUnload", func(d *Driver, a address) { d.ModuleUnload = input[Module](a) }},
	{"cuFuncGetAttribute", func(d *Driver, a address) {
		d.FuncGetAttribute = output2[int32, FunctionAttribute, Function](a)
	}},
	{"cuFuncSetAttribute", func(d *Driver, a address) {
		d.FuncSetAttribute = func(f Function, at FunctionAttribute, v int32) Status {
			return a.call(uintptr(f), uintptr(at), uintptr(v))
		}
	}},
	{"cuLaunchKernel", func(d *Driver, a address) {
		d.LaunchKernel = func(l *Launch) Status { return a.launch(d.Current(l.Context), l) }
	}},
	{"cuLaunchKernelEx", func(d *Driver, a address) {
		d.LaunchKernelEx = func(l *Launch) Status { return a.launchEx(d.Current(l.Context), l) }
	}},
	{"cuTensorMapEncodeTiled", func(d *Driver, a address) { d.TensorMapEncodeTiled = a.encodeTensorMap }},
	{"cuOccupancyMaxActiveBlocksPerMultiprocessor", func(d *Driver, a address) {
		d.OccupancyMaxActiveBlocksPerMultiprocessor = func(blocks *int32, f Function, block int32, shared uintptr) Status {
			defer runtime.KeepAlive(blocks)
			return a.call(pointer(blocks), uintptr(f), uintptr(block), shared)
		}
	}},
	{"cuOccupancyMaxPotentialBlockSize", func(d *Driver, a address) {
		d.OccupancyMaxPotentialBlockSize = func(o *BestBlock, f Function, shared uintptr, limit int32) Status {
			defer runtime.KeepAlive(o)
			return a.call(pointer(&o.Grid), pointer(&o.Block), uintptr(f), 0, shared, uintptr(limit))
		}
	}},
}

var graphFunctions = []function{
	{"cuGraphCreate", func(d *Driver, a address) { d.GraphCreate = output1[Graph, uint32](a) }},
	{"cuGraphDestroy", func(d *Driver, a address) { d.GraphDestroy = input[Graph](a) }},
	{"cuGraphAddKernelNode_v2", func(d *Driver, a address) { d.GraphAddKernelNode = a.addKernel }},
	{"cuGraphKernelNodeSetAttribute", func(d *Driver, a address) { d.GraphKernelNodeSetAttribute = a.setAttribute }},
	{"cuGraphAddMemcpyNode", func(d *Driver, a address) { d.GraphAddMemcpyNode = a.addCopy }},
	{"cuGraphAddMemsetNode", func(d *Driver, a address) { d.GraphAddMemsetNode = a.addMemset }},
	{"cuGraphAddChildGraphNode", func(d *Driver, a address) { d.GraphAddChildGraphNode = a.addChild }},
	{"cuGraphInstantiateWithFlags", func(d *Driver, a address) {
		d.GraphInstantiateWithFlags = func(x *GraphExec, g Graph, flags uint64) Status {
			defer runtime.KeepAlive(x)
			return a.call(pointer(x), uintptr(g), uintptr(flags))
		}
	}},
	{"cuGraphExecKernelNodeSetParams_v2", func(d *Driver, a address) { d.GraphExecKernelNodeSetParams = a.setKernel }},
	{"cuGraphUpload", func(d *Driver, a address) { d.GraphUpload = input2[GraphExec, Stream](a) }},
	{"cuGraphLaunch", func(d *Driver, a address) {
		d.GraphLaunch = func(c Context, x GraphExec, s Stream) Status {
			return a.callAfter(d.Current(c), uintptr(x), uintptr(s))
		}
	}},
	{"cuGraphExecDestroy", func(d *Driver, a address) { d.GraphExecDestroy = input[GraphExec](a) }},
	{"cuStreamBeginCapture_v2", func(d *Driver, a address) { d.StreamBeginCapture = input2[Stream, uint32](a) }},
	{"cuStreamEndCapture", func(d *Driver, a address) {
		d.StreamEndCapture = func(s Stream, g *Graph) Status {
			defer runtime.KeepAlive(g)
			return a.call(uintptr(s), pointer(g))
		}
	}},
}

// address is the address of a driver function.
type address uintptr

func (a address) call(args ...uintptr) Status { return Status(dl.Call(uintptr(a), args...)) }

// callAfter is call, after another call on the same thread.
func (a address) callAfter(before dl.Before, args ...uintptr) Status {
	return Status(dl.CallAfter(before, uintptr(a), args...))
}

// Before is a C call that precedes another on the same thread.
type Before = dl.Before

// Current returns the call that makes c current, for use before another call, or no call if c is 0.
func (d *Driver) Current(c Context) Before {
	if c == 0 {
		return dl.Before{}
	}
	return dl.Before{Function: uintptr(d.setCurrent), Argument: uintptr(c)}
}

// word is a type whose values are passed as one argument without conversion.
type word interface{ ~int32 | ~uint32 | ~uintptr }

// input makes a function with one argument.
func input[A word](a address) func(A) Status {
	return func(x A) Status { return a.call(uintptr(x)) }
}

// input2 makes a function with two arguments.
func input2[A, B word](a address) func(A, B) Status {
	return func(x A, y B) Status { return a.call(uintptr(x), uintptr(y)) }
}

// output makes a function that stores a T.
func output[T any](a address) func(*T) Status {
	return func(p *T) Status {
		defer runtime.KeepAlive(p)
		return a.call(pointer(p))
	}
}

// outputs makes a function that stores a T and a U.
func outputs[T, U any](a address) func(*T, *U) Status {
	return func(p *T, q *U) Status {
		defer runtime.KeepAlive(p)
		defer runtime.KeepAlive(q)
		return a.call(pointer(p), pointer(q))
	}
}

// output1 makes a function that stores a T and takes one more argument.
func output1[T any, A word](a address) func(*T, A) Status {
	return func(p *T, x A) Status {
		defer runtime.KeepAlive(p)
		return a.call(pointer(p), uintptr(x))
	}
}

// output2 makes a function that stores a T and takes two more arguments.
func output2[T any, A, B word](a address) func(*T, A, B) Status {
	return func(p *T, x A, y B) Status {
		defer runtime.KeepAlive(p)
		return a.call(pointer(p), uintptr(x), uintptr(y))
	}
}

// deviceText makes a function that stores text about a device.
func deviceText(a address) func([]byte, Device) Status {
	return func(text []byte, d Device) Status {
		defer runtime.KeepAlive(text)
		return a.call(bytes(text), uintptr(len(text)), uintptr(d))
	}
}

func pointer[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

func bytes(p []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(p))) }
