package cudasys

import (
	"runtime"
	"unsafe"
)

var memoryFunctions = []function{
	{"cuMemAlloc_v2", func(d *Driver, a address) { d.MemAlloc = output1[uintptr, uintptr](a) }},
	{"cuMemFree_v2", func(d *Driver, a address) { d.MemFree = input[uintptr](a) }},
	{"cuMemGetInfo_v2", func(d *Driver, a address) { d.MemGetInfo = outputs[uintptr, uintptr](a) }},
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
	{"cuMemHostRegister_v2", func(d *Driver, a address) {
		d.MemHostRegister = func(host []byte, flags uint32) Status {
			defer runtime.KeepAlive(host)
			return a.call(bytes(host), uintptr(len(host)), uintptr(flags))
		}
	}},
	{"cuMemHostUnregister", func(d *Driver, a address) {
		d.MemHostUnregister = func(host []byte) Status {
			defer runtime.KeepAlive(host)
			return a.call(bytes(host))
		}
	}},
	{"cuMemAllocManaged", func(d *Driver, a address) {
		d.MemAllocManaged = output2[unsafe.Pointer, uintptr, uint32](a)
	}},
	{"cuMemPrefetchAsync", func(d *Driver, a address) {
		d.MemPrefetchAsync = func(p, n uintptr, to Device, s Stream) Status {
			return a.call(p, n, uintptr(to), uintptr(s))
		}
	}},
	{"cuMemAdvise", func(d *Driver, a address) {
		d.MemAdvise = func(p, n uintptr, advice Advice, to Device) Status {
			return a.call(p, n, uintptr(advice), uintptr(to))
		}
	}},

	{"cuMemPoolCreate", func(d *Driver, a address) {
		d.MemPoolCreate = func(p *Pool, props *PoolProps) Status {
			defer runtime.KeepAlive(p)
			defer runtime.KeepAlive(props)
			return a.call(pointer(p), pointer(props))
		}
	}},
	{"cuMemPoolDestroy", func(d *Driver, a address) { d.MemPoolDestroy = input[Pool](a) }},
	{"cuMemPoolSetAttribute", func(d *Driver, a address) { d.MemPoolSetAttribute = poolAttribute(a) }},
	{"cuMemPoolGetAttribute", func(d *Driver, a address) { d.MemPoolGetAttribute = poolAttribute(a) }},
	{"cuMemPoolSetAccess", func(d *Driver, c address) {
		d.MemPoolSetAccess = func(p Pool, a *PoolAccess) Status {
			defer runtime.KeepAlive(a)
			return c.call(uintptr(p), pointer(a), 1)
		}
	}},
	{"cuMemPoolTrimTo", func(d *Driver, a address) { d.MemPoolTrimTo = input2[Pool, uintptr](a) }},
	{"cuMemAllocFromPoolAsync", func(d *Driver, a address) {
		d.MemAllocFromPoolAsync = func(p *uintptr, n uintptr, pool Pool, s Stream) Status {
			defer runtime.KeepAlive(p)
			return a.call(pointer(p), n, uintptr(pool), uintptr(s))
		}
	}},
	{"cuMemFreeAsync", func(d *Driver, a address) { d.MemFreeAsync = input2[uintptr, Stream](a) }},
}

// poolAttribute makes a function that reads or sets an attribute of a pool.
func poolAttribute(a address) func(Pool, PoolAttribute, *uint64) Status {
	return func(p Pool, at PoolAttribute, v *uint64) Status {
		defer runtime.KeepAlive(v)
		return a.call(uintptr(p), uintptr(at), pointer(v))
	}
}

var copyFunctions = []function{
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
	{"cuMemcpyPeerAsync", func(d *Driver, a address) {
		d.MemcpyPeerAsync = func(c *PeerCopy, s Stream) Status {
			return a.call(c.Dst, uintptr(c.DstContext), c.Src, uintptr(c.SrcContext), c.Bytes, uintptr(s))
		}
	}},
	{"cuMemcpy2DAsync_v2", func(d *Driver, a address) {
		d.Memcpy2DAsync = func(c *Copy2D, s Stream) Status {
			defer runtime.KeepAlive(c)
			return a.call(pointer(c), uintptr(s))
		}
	}},
	{"cuMemsetD8Async", func(d *Driver, a address) { d.MemsetD8Async = memset[byte](a) }},
	{"cuMemsetD16Async", func(d *Driver, a address) { d.MemsetD16Async = memset[uint16](a) }},
	{"cuMemsetD32Async", func(d *Driver, a address) { d.MemsetD32Async = memset[uint32](a) }},
}

// memset makes a function that fills memory with values.
func memset[T byte | uint16 | uint32](a address) func(uintptr, T, uintptr, Stream) Status {
	return func(dst uintptr, v T, n uintptr, s Stream) Status { return a.call(dst, uintptr(v), n, uintptr(s)) }
}
