package cudafake

import (
	"slices"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/internal/cudasys"
)

// memory is what a device can address. Addresses are made up; blocks of different devices
// never overlap.
type memory struct {
	blocks []block
	next   uintptr // the next address
}

// block is one allocation: of a device, or pinned memory of the host where host is set.
type block struct {
	context *context
	address uintptr
	bytes   []byte
	host    unsafe.Pointer
}

// garbage fills new memory, which nobody may rely on.
const garbage = 0xcd

func (m *memory) allocate(c *context, n uintptr) block {
	bytes := slices.Repeat([]byte{garbage}, int(n))
	b := block{context: c, address: m.next, bytes: bytes}
	m.next += (n + 511) / 512 * 512
	return b
}

// find returns the n bytes at an address, or nil where they are not allocated.
func (m *memory) find(c *context, address, n uintptr) []byte {
	for _, b := range m.blocks {
		if at := address - b.address; address >= b.address && at < uintptr(len(b.bytes)) && b.context == c {
			if n > uintptr(len(b.bytes))-at {
				return nil
			}
			return b.bytes[at : at+n]
		}
	}
	return nil
}

// remove frees the block for which is returns true.
func (m *memory) remove(is func(b block) bool) cudasys.Status {
	i := slices.IndexFunc(m.blocks, is)
	if i < 0 {
		return cudasys.InvalidValue
	}
	m.blocks = slices.Delete(m.blocks, i, i+1)
	return cudasys.Success
}

// used returns the bytes that are allocated on the device of c.
func (m *memory) used(c *context) (n int) {
	for _, b := range m.blocks {
		if b.context == c && b.host == nil {
			n += len(b.bytes)
		}
	}
	return n
}

func (f *Fake) addMemory(d *cudasys.Driver) {
	d.MemAlloc = func(p *uintptr, n uintptr) cudasys.Status {
		return f.inContext("cuMemAlloc", func(c *context) cudasys.Status { return f.allocate(c, p, n) })
	}
	d.MemFree = func(p uintptr) cudasys.Status {
		return f.inContext("cuMemFree", func(c *context) cudasys.Status {
			f.finishAll(c)
			return f.memory.remove(func(b block) bool { return b.context == c && b.address == p && b.host == nil })
		})
	}
	d.MemHostAlloc = func(p *unsafe.Pointer, n uintptr, _ uint32) cudasys.Status {
		return f.inContext("cuMemHostAlloc", func(c *context) cudasys.Status {
			b := f.memory.allocate(c, n)
			b.host = unsafe.Pointer(unsafe.SliceData(b.bytes))
			f.memory.blocks = append(f.memory.blocks, b)
			return store(p, b.host)
		})
	}
	d.MemHostGetDevicePointer = func(p *uintptr, host unsafe.Pointer, _ uint32) cudasys.Status {
		return f.inContext("cuMemHostGetDevicePointer", func(*context) cudasys.Status {
			for _, b := range f.memory.blocks {
				if b.host == host {
					return store(p, b.address)
				}
			}
			return cudasys.InvalidValue
		})
	}
	d.MemFreeHost = func(p unsafe.Pointer) cudasys.Status {
		return f.inContext("cuMemFreeHost", func(c *context) cudasys.Status {
			f.finishAll(c)
			return f.memory.remove(func(b block) bool { return b.host == p })
		})
	}
}

func (f *Fake) allocate(c *context, p *uintptr, n uintptr) cudasys.Status {
	if n == 0 {
		return cudasys.InvalidValue
	}
	if free := f.devices[c.device].Memory - f.memory.used(c); n > uintptr(free) {
		return cudasys.OutOfMemory
	}
	b := f.memory.allocate(c, n)
	f.memory.blocks = append(f.memory.blocks, b)
	return store(p, b.address)
}

func (f *Fake) addCopies(d *cudasys.Driver) {
	d.MemcpyHtoDAsync = func(dst uintptr, src []byte, s cudasys.Stream) cudasys.Status {
		return f.enqueue("cuMemcpyHtoDAsync", s, func(st *stream) cudasys.Status {
			to, from := f.memory.find(st.context, dst, uintptr(len(src))), slices.Clone(src)
			return st.copy(to, from)
		})
	}
	d.MemcpyDtoHAsync = func(dst []byte, src uintptr, s cudasys.Stream) cudasys.Status {
		return f.enqueue("cuMemcpyDtoHAsync", s, func(st *stream) cudasys.Status {
			return st.copy(dst, f.memory.find(st.context, src, uintptr(len(dst))))
		})
	}
	d.MemcpyDtoDAsync = func(dst, src, n uintptr, s cudasys.Stream) cudasys.Status {
		return f.enqueue("cuMemcpyDtoDAsync", s, func(st *stream) cudasys.Status {
			return st.copy(f.memory.find(st.context, dst, n), f.memory.find(st.context, src, n))
		})
	}
	d.MemsetD8Async = func(dst uintptr, v byte, n uintptr, s cudasys.Stream) cudasys.Status {
		return f.enqueue("cuMemsetD8Async", s, func(st *stream) cudasys.Status {
			return st.copy(f.memory.find(st.context, dst, n), slices.Repeat([]byte{v}, int(n)))
		})
	}
}

// copy enqueues a copy; a side that is nil was not allocated.
func (st *stream) copy(to, from []byte) cudasys.Status {
	if to == nil || from == nil {
		return cudasys.InvalidValue
	}
	st.work = append(st.work, func() cudasys.Status { copy(to, from); return cudasys.Success })
	return cudasys.Success
}
