package cudasys

import (
	"runtime"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/internal/dl"
)

// function is one row of the table: a versioned symbol of the driver's library, and how the
// field of Driver that stands for it is made from its address.
type function struct {
	symbol string
	bind   func(d *Driver, a address)
}

// functions is the driver as far as this project uses it. The version suffixes are those
// that cuda.h of CUDA 12 and 13 defines the plain names to.
var functions = []function{
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
	{"cuCtxSetCurrent", func(d *Driver, a address) { d.CtxSetCurrent = input[Context](a) }},

	{"cuMemAlloc_v2", func(d *Driver, a address) { d.MemAlloc = output1[uintptr, uintptr](a) }},
	{"cuMemFree_v2", func(d *Driver, a address) { d.MemFree = input[uintptr](a) }},
	{"cuMemHostAlloc", func(d *Driver, a address) { d.MemHostAlloc = output2[unsafe.Pointer, uintptr, uint32](a) }},
	{"cuMemHostGetDevicePointer_v2", func(d *Driver, a address) {
		d.MemHostGetDevicePointer = func(p *uintptr, host unsafe.Pointer, flags uint32) Status {
			defer runtime.KeepAlive(p)
			return a.call(pointer(p), uintptr(host), uintptr(flags))
		}
	}},
	{"cuMemFreeHost", func(d *Driver, a address) {
		d.MemFreeHost = func(p unsafe.Pointer) Status { return a.call(uintptr(p)) }
	}},
	{"cuMemcpyHtoDAsync_v2", func(d *Driver, a address) {
		d.MemcpyHtoDAsync = func(dst uintptr, src []byte, s Stream) Status {
			defer runtime.KeepAlive(src)
			return a.call(dst, bytes(src), uintptr(len(src)), uintptr(s))
		}
	}},
	{"cuMemcpyDtoHAsync_v2", func(d *Driver, a address) {
		d.MemcpyDtoHAsync = func(dst []byte, src uintptr, s Stream) Status {
			defer runtime.KeepAlive(dst)
			return a.call(bytes(dst), src, uintptr(len(dst)), uintptr(s))
		}
	}},
	{"cuMemcpyDtoDAsync_v2", func(d *Driver, a address) {
		d.MemcpyDtoDAsync = func(dst, src, n uintptr, s Stream) Status { return a.call(dst, src, n, uintptr(s)) }
	}},
	{"cuMemsetD8Async", func(d *Driver, a address) {
		d.MemsetD8Async = func(dst uintptr, v byte, n uintptr, s Stream) Status {
			return a.call(dst, uintptr(v), n, uintptr(s))
		}
	}},

	{"cuStreamCreate", func(d *Driver, a address) { d.StreamCreate = output1[Stream, uint32](a) }},
	{"cuStreamQuery", func(d *Driver, a address) { d.StreamQuery = input[Stream](a) }},
	{"cuStreamDestroy_v2", func(d *Driver, a address) { d.StreamDestroy = input[Stream](a) }},

	{"cuEventCreate", func(d *Driver, a address) { d.EventCreate = output1[Event, uint32](a) }},
	{"cuEventRecord", func(d *Driver, a address) {
		d.EventRecord = func(e Event, s Stream) Status { return a.call(uintptr(e), uintptr(s)) }
	}},
	{"cuEventElapsedTime", func(d *Driver, a address) { d.EventElapsedTime = output2[float32, Event, Event](a) }},
	{"cuEventDestroy_v2", func(d *Driver, a address) { d.EventDestroy = input[Event](a) }},

	{"cuModuleLoadDataEx", func(d *Driver, a address) { d.ModuleLoadDataEx = a.loadModule }},
	{"cuModuleGetFunction", func(d *Driver, a address) {
		d.ModuleGetFunction = func(f *Function, m Module, name []byte) Status {
			defer runtime.KeepAlive(f)
			defer runtime.KeepAlive(name)
			return a.call(pointer(f), uintptr(m), bytes(name))
		}
	}},
	{"cuModuleUnload", func(d *Driver, a address) { d.ModuleUnload = input[Module](a) }},
	{"cuLaunchKernel", func(d *Driver, a address) { d.LaunchKernel = a.launch }},
}

// address is where a function of the driver begins.
type address uintptr

func (a address) call(args ...uintptr) Status { return Status(dl.Call(uintptr(a), args...)) }

// word is what goes into one argument as it is.
type word interface{ ~int32 | ~uint32 | ~uintptr }

// input is a function of one word.
func input[A word](a address) func(A) Status {
	return func(x A) Status { return a.call(uintptr(x)) }
}

// output is a function that stores a T.
func output[T any](a address) func(*T) Status {
	return func(p *T) Status {
		defer runtime.KeepAlive(p)
		return a.call(pointer(p))
	}
}

// output1 is a function that stores a T, given a word.
func output1[T any, A word](a address) func(*T, A) Status {
	return func(p *T, x A) Status {
		defer runtime.KeepAlive(p)
		return a.call(pointer(p), uintptr(x))
	}
}

// output2 is a function that stores a T, given two words.
func output2[T any, A, B word](a address) func(*T, A, B) Status {
	return func(p *T, x A, y B) Status {
		defer runtime.KeepAlive(p)
		return a.call(pointer(p), uintptr(x), uintptr(y))
	}
}

// deviceText is a function that stores text about a device.
func deviceText(a address) func([]byte, Device) Status {
	return func(text []byte, d Device) Status {
		defer runtime.KeepAlive(text)
		return a.call(bytes(text), uintptr(len(text)), uintptr(d))
	}
}

func pointer[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

func bytes(p []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(p))) }
