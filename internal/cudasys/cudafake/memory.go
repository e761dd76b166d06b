package cudafake

import (
	"bytes"
	"cmp"
	"slices"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/internal/cudasys"
)

// memory is the address space of all devices. Addresses are invented, except those of managed
// memory, which are real. Blocks of different devices never overlap.
type memory struct {
	blocks []*block  // by address
	recent [2]*block // the blocks in which the last addresses were found, or nil: the threads of a kernel access the same ones
	pins   []*block  // those of pinned memory, in any order
	next   uintptr   // the next address
}

// block is one allocation: device memory, or pinned host memory if host is set.
type block struct {
	context *context
	address uintptr
	bytes   []byte
	host    unsafe.Pointer
	pool    *pool
	freed   bool // will be removed in its stream's order
}

// garbage fills new memory, whose contents are undefined, and freed memory.
const garbage = 0xcd

// add adds a block of n bytes.
func (m *memory) add(c *context, n uintptr) *block {
	return m.place(c, bytes.Repeat([]byte{garbage}, int(n)))
}

// place adds a block with the given bytes.
func (m *memory) place(c *context, bytes []byte) *block {
	b := &block{context: c, address: m.next, bytes: bytes}
	m.next += (uintptr(len(bytes)) + 511) / 512 * 512
	m.insert(b)
	return b
}

func (m *memory) insert(b *block) {
	at, _ := m.search(b.address)
	m.blocks = slices.Insert(m.blocks, at, b)
}

func (m *memory) search(address uintptr) (int, bool) {
	return slices.BinarySearchFunc(m.blocks, address, func(b *block, a uintptr) int { return cmp.Compare(b.address, a) })
}

// at returns the block that contains an address, or nil.
func (m *memory) at(address uintptr) *block {
	for _, b := range m.recent {
		if b != nil && b.has(address) {
			return b
		}
	}
	i, exact := m.search(address)
	if !exact {
		i--
	}
	if i < 0 || !m.blocks[i].has(address) {
		return nil
	}
	m.recent = [2]*block{m.blocks[i], m.recent[0]}
	return m.blocks[i]
}

func (b *block) has(address uintptr) bool { return address-b.address < uintptr(len(b.bytes)) }

// find returns the n bytes at an address, or nil if they are not in memory of c.
func (m *memory) find(c *context, address, n uintptr) []byte {
	b := m.at(address)
	if b == nil || b.context != c && b.host == nil {
		return nil
	}
	at := address - b.address
	if n > uintptr(len(b.bytes))-at {
		return nil
	}
	return b.bytes[at : at+n]
}

// pinned reports whether host is in pinned memory.
func (m *memory) pinned(host []byte) bool {
	p := uintptr(unsafe.Pointer(unsafe.SliceData(host)))
	return slices.ContainsFunc(m.pins, func(b *block) bool {
		from := uintptr(b.host)
		return p >= from && p+uintptr(len(host)) <= from+uintptr(len(b.bytes))
	})
}

// pin makes b a block of pinned host memory.
func (m *memory) pin(b *block) {
	b.host = unsafe.Pointer(unsafe.SliceData(b.bytes))
	m.pins = append(m.pins, b)
}

// remove frees the block for which is returns true, and overwrites its contents.
func (m *memory) remove(is func(b *block) bool) cudasys.Status {
	i := slices.IndexFunc(m.blocks, is)
	if i < 0 {
		return cudasys.InvalidValue
	}
	m.spoil(i)
	return cudasys.Success
}

// spoil deletes block i and overwrites its contents with garbage.
func (m *memory) spoil(i int) {
	repeat(m.blocks[i].bytes, []byte{garbage})
	m.delete(i)
}

// delete removes block i.
func (m *memory) delete(i int) {
	m.recent = [2]*block{}
	if b := m.blocks[i]; b.host != nil {
		at := slices.Index(m.pins, b)
		m.pins = slices.Delete(m.pins, at, at+1)
	} else if b.pool == nil {
		b.context.taken -= len(b.bytes)
	}
	m.blocks = slices.Delete(m.blocks, i, i+1)
}

// free returns the number of bytes that can be allocated on the device of c outside pools.
func (f *Fake) free(c *context) int {
	free := f.devices[c.device].Memory - c.taken
	for _, p := range f.pools {
		if p.context == c {
			free -= p.reserved
		}
	}
	return free
}

func (f *Fake) addMemory(d *cudasys.Driver) {
	d.MemAlloc = func(p *uintptr, n uintptr) cudasys.Status {
		return f.inContext("cuMemAlloc", func(c *context) cudasys.Status {
			b, s := f.allocate(c, n)
			if s == cudasys.Success {
				*p = b.address
			}
			return s
		})
	}
	d.MemFree = func(p uintptr) cudasys.Status {
		return f.inContext("cuMemFree", func(c *context) cudasys.Status {
			f.finishAll(c)
			return f.memory.remove(func(b *block) bool { return b.context == c && b.address == p && b.pool == nil })
		})
	}
	d.MemGetInfo = func(free, total *uintptr) cudasys.Status {
		return f.inContext("cuMemGetInfo", func(c *context) cudasys.Status {
			*total = uintptr(f.devices[c.device].Memory)
			return store(free, uintptr(f.free(c)))
		})
	}
	d.MemAllocManaged = func(p *unsafe.Pointer, n uintptr, _ uint32) cudasys.Status {
		return f.inContext("cuMemAllocManaged", func(c *context) cudasys.Status {
			if n == 0 || int(n) > f.free(c) {
				return cudasys.OutOfMemory
			}
			bytes := make([]byte, n)
			*p = unsafe.Pointer(unsafe.SliceData(bytes))
			f.memory.insert(&block{context: c, address: uintptr(*p), bytes: bytes})
			c.taken += int(n)
			return cudasys.Success
		})
	}
	d.MemPrefetchAsync = func(p, n uintptr, _ cudasys.Device, s cudasys.Stream) cudasys.Status {
		return f.enqueue("cuMemPrefetchAsync", s, func(st *stream) cudasys.Status {
			return found(f.memory.find(st.context, p, n))
		})
	}
	d.MemAdvise = func(p, n uintptr, _ cudasys.Advice, _ cudasys.Device) cudasys.Status {
		return f.inContext("cuMemAdvise", func(c *context) cudasys.Status { return found(f.memory.find(c, p, n)) })
	}
}

func found(p []byte) cudasys.Status {
	if p == nil {
		return cudasys.InvalidValue
	}
	return cudasys.Success
}

func (f *Fake) allocate(c *context, n uintptr) (*block, cudasys.Status) {
	if n == 0 {
		return nil, cudasys.InvalidValue
	}
	if int(n) > f.free(c) {
		return nil, cudasys.OutOfMemory
	}
	c.taken += int(n)
	return f.memory.add(c, n), cudasys.Success
}

func (f *Fake) addHostMemory(d *cudasys.Driver) {
	d.MemHostAlloc = func(p *unsafe.Pointer, n uintptr, _ uint32) cudasys.Status {
		return f.inContext("cuMemHostAlloc", func(c *context) cudasys.Status {
			b := f.memory.add(c, n)
			f.memory.pin(b)
			return store(p, b.host)
		})
	}
	d.MemHostGetDevicePointer = func(p *uintptr, host unsafe.Pointer, _ uint32) cudasys.Status {
		return f.inContext("cuMemHostGetDevicePointer", func(*context) cudasys.Status {
			for _, b := range f.memory.blocks {
				if b.host == host && host != nil {
					return store(p, b.address)
				}
			}
			return cudasys.InvalidValue
		})
	}
	free := func(c *context, host unsafe.Pointer) cudasys.Status {
		f.finishAll(c)
		return f.memory.remove(func(b *block) bool { return b.host == host })
	}
	d.MemFreeHost = func(p unsafe.Pointer) cudasys.Status {
		return f.inContext("cuMemFreeHost", func(c *context) cudasys.Status { return free(c, p) })
	}
	d.MemHostRegister = func(host []byte, _ uint32) cudasys.Status {
		return f.inContext("cuMemHostRegister", func(c *context) cudasys.Status {
			if f.memory.pinned(host) {
				return cudasys.HostMemoryAlreadyRegistered
			}
			f.memory.pin(f.memory.place(c, host))
			return cudasys.Success
		})
	}
	d.MemHostUnregister = func(host []byte) cudasys.Status {
		return f.inContext("cuMemHostUnregister", func(c *context) cudasys.Status {
			f.finishAll(c)
			i := slices.IndexFunc(f.memory.blocks, func(b *block) bool {
				return b.host == unsafe.Pointer(unsafe.SliceData(host))
			})
			if i < 0 {
				return cudasys.InvalidValue
			}
			f.memory.delete(i) // the contents belong to the program
			return cudasys.Success
		})
	}
}
