package cudafake

import (
	"encoding/binary"
	"slices"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/internal/cudasys"
)

// view finds bytes when work is enqueued, at which time the driver refuses invalid addresses, and
// again when the work is done, at which time the memory may have been freed.
type view func() []byte

// on returns a view of device memory.
func (f *Fake) on(c *context, address, n uintptr) view {
	return func() []byte { return f.memory.find(c, address, n) }
}

// from returns a view of host memory. Pinned memory is read when the work is done, other memory
// immediately.
func (f *Fake) from(src []byte) view {
	if !f.memory.pinned(src) {
		src = slices.Clone(src)
	}
	return func() []byte { return src }
}

// transfer enqueues a copy.
func (st *stream) transfer(to, from view) cudasys.Status {
	if to() == nil || from() == nil {
		return cudasys.InvalidValue
	}
	st.add(transfer(to, from))
	return cudasys.Success
}

func transfer(to, from view) func() cudasys.Status {
	return func() cudasys.Status {
		t, f := to(), from()
		if t == nil || f == nil {
			return cudasys.IllegalAddress
		}
		copy(t, f)
		return cudasys.Success
	}
}

func (f *Fake) addCopies(d *cudasys.Driver) {
	d.MemcpyHtoDAsync = func(dst uintptr, src []byte, s cudasys.Stream) cudasys.Status {
		return f.enqueue("cuMemcpyHtoDAsync", s, func(st *stream) cudasys.Status {
			return st.transfer(f.on(st.context, dst, uintptr(len(src))), f.from(src))
		})
	}
	d.MemcpyDtoHAsync = func(dst []byte, src uintptr, s cudasys.Stream) cudasys.Status {
		return f.enqueue("cuMemcpyDtoHAsync", s, func(st *stream) cudasys.Status {
			status := st.transfer(func() []byte { return dst }, f.on(st.context, src, uintptr(len(dst))))
			if status == cudasys.Success && st.capture == nil && !f.memory.pinned(dst) {
				f.blocked++
				return f.finish(st)
			}
			return status
		})
	}
	d.MemcpyDtoDAsync = func(dst, src, n uintptr, s cudasys.Stream) cudasys.Status {
		return f.enqueue("cuMemcpyDtoDAsync", s, func(st *stream) cudasys.Status {
			return st.transfer(f.on(st.context, dst, n), f.on(st.context, src, n))
		})
	}
	d.MemcpyPeerAsync = func(c *cudasys.PeerCopy, s cudasys.Stream) cudasys.Status {
		return f.enqueue("cuMemcpyPeerAsync", s, func(st *stream) cudasys.Status {
			to, from := f.contexts[c.DstContext], f.contexts[c.SrcContext]
			if to == nil || from == nil {
				return cudasys.InvalidContext
			}
			return st.transfer(f.on(to, c.Dst, c.Bytes), f.on(from, c.Src, c.Bytes))
		})
	}
	d.Memcpy2DAsync = func(c *cudasys.Copy2D, s cudasys.Stream) cudasys.Status {
		return f.enqueue("cuMemcpy2DAsync", s, func(st *stream) cudasys.Status {
			if c.Width > c.Src.Pitch || c.Width > c.Dst.Pitch {
				return cudasys.InvalidValue
			}
			for row := range c.Height {
				if s := st.transfer(f.row(st.context, &c.Dst, row, c.Width), f.row(st.context, &c.Src, row, c.Width)); s != cudasys.Success {
					return s
				}
			}
			return cudasys.Success
		})
	}
	d.MemsetD8Async = func(dst uintptr, v byte, n uintptr, s cudasys.Stream) cudasys.Status {
		return f.fill("cuMemsetD8Async", s, filling{dst, []byte{v}, n})
	}
	d.MemsetD16Async = func(dst uintptr, v uint16, n uintptr, s cudasys.Stream) cudasys.Status {
		return f.fill("cuMemsetD16Async", s, filling{dst, binary.LittleEndian.AppendUint16(nil, v), n})
	}
	d.MemsetD32Async = func(dst uintptr, v uint32, n uintptr, s cudasys.Stream) cudasys.Status {
		return f.fill("cuMemsetD32Async", s, filling{dst, binary.LittleEndian.AppendUint32(nil, v), n})
	}
}

// row returns a view of one row of a side of a two-dimensional copy.
func (f *Fake) row(c *context, s *cudasys.Side2D, row, width uintptr) view {
	at := (s.Y+row)*s.Pitch + s.X
	if s.Type == cudasys.OnDevice {
		return f.on(c, s.Device+at, width)
	}
	host := unsafe.Slice((*byte)(unsafe.Add(s.Host, at)), width)
	return func() []byte { return host }
}

// filling is n values that start at an address.
type filling struct {
	dst   uintptr
	value []byte
	n     uintptr
}

// fill enqueues the filling of memory.
func (f *Fake) fill(function string, s cudasys.Stream, with filling) cudasys.Status {
	return f.enqueue(function, s, func(st *stream) cudasys.Status {
		if with.dst%uintptr(len(with.value)) != 0 {
			return cudasys.InvalidValue
		}
		to := f.on(st.context, with.dst, with.n*uintptr(len(with.value)))
		if to() == nil {
			return cudasys.InvalidValue
		}
		st.add(func() cudasys.Status {
			t := to()
			if t == nil {
				return cudasys.IllegalAddress
			}
			repeat(t, with.value)
			return cudasys.Success
		})
		return cudasys.Success
	})
}

// repeat fills p with a value of a few bytes, from a part that stays in the processor's first-level
// cache: the runtime has blocks of megabytes, and its tests open thousands of devices.
func repeat(p, value []byte) {
	first := p[:min(len(p), 4096)]
	for n := copy(first, value); n < len(first); {
		n += copy(first[n:], first[:n])
	}
	for rest := p[len(first):]; len(rest) > 0; {
		rest = rest[copy(rest, first):]
	}
}
