package device

import (
	"fmt"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/device/driver"
)

// Pinned is an array of T in host memory that the device accesses directly: copies run at full
// speed and concurrently with the program. Pinned memory is expensive to allocate and cannot be
// swapped out, so allocate it seldom and reuse it. The methods may be called from any goroutine.
type Pinned[T any] struct {
	from lease
	host []T
}

// NewPinned returns pinned memory for n elements, with arbitrary contents.
func NewPinned[T any](d *Device, n int) (*Pinned[T], error) {
	return newPinned[T](d, n, driver.Access{})
}

// NewMapped returns pinned memory for n elements that kernels can access over the bus (see
// Pinned.Mapped). Writes of the host or of a kernel are visible to the other side after a
// Synchronize.
func NewMapped[T any](d *Device, n int) (*Pinned[T], error) {
	return newPinned[T](d, n, driver.Access{Mapped: true})
}

func newPinned[T any](d *Device, n int, a driver.Access) (*Pinned[T], error) {
	if err := checkElements[T](n); err != nil {
		return nil, err
	}
	size := max(1, n*sizeOf[T]())
	b := &block{device: d, size: size, kind: kindPinned, made: calledFrom(2), keepLost: true}
	from, err := d.allocateHost(b, func() (driver.HostMemory, error) {
		if h, ok := d.backend.(driver.HostAllocator); ok {
			return h.AllocateHost(size, a)
		}
		return heapMemory{make([]byte, size), true}, nil
	})
	if err != nil {
		return nil, err
	}
	bytes := b.memory.(driver.HostMemory).Bytes()
	return &Pinned[T]{from.lease(), unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(bytes))), n)}, nil
}

// Register makes host, which is memory of the program, pinned and mapped until Close. No part of
// host may be registered already.
func Register[T any](d *Device, host []T) (*Pinned[T], error) {
	if err := checkElements[T](len(host)); err != nil {
		return nil, err
	}
	if len(host) == 0 || sizeOf[T]() == 0 {
		return nil, fmt.Errorf("device: register: no memory: %w", ErrRange)
	}
	b := &block{device: d, size: len(host) * sizeOf[T](), kind: kindPinned, made: calledFrom(1), keep: bytesOf(host)}
	from, err := d.allocateHost(b, func() (driver.HostMemory, error) {
		if h, ok := d.backend.(driver.HostAllocator); ok {
			return h.RegisterHost(bytesOf(host), driver.Access{Mapped: true})
		}
		return heapMemory{bytesOf(host), false}, nil
	})
	if err != nil {
		return nil, err
	}
	return &Pinned[T]{from.lease(), host}, nil
}

// allocateHost allocates b in host memory.
func (d *Device) allocateHost(b *block, allocate func() (driver.HostMemory, error)) (*allocation, error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if d.closed {
		return nil, fmt.Errorf("device: pinned memory: device %w", ErrClosed)
	}
	m, err := allocate()
	if err != nil {
		return nil, err
	}
	b.memory = m
	return d.memory.enter(b), nil
}

// heapMemory is memory in Go's heap, for devices that copy from and to ordinary memory.
type heapMemory struct {
	bytes []byte
	owned bool // allocated here, not registered
}

// Address implements driver.Memory.
func (heapMemory) Address() uintptr { return 0 }

// Free implements driver.Memory. It overwrites memory that was allocated here, to reveal its use after
// Close.
func (h heapMemory) Free() error {
	if h.owned {
		driver.Poison(h.bytes)
	}
	return nil
}

// Bytes implements driver.HostMemory.
func (h heapMemory) Bytes() []byte { return h.bytes }

// Host returns the memory. While work that uses the memory is pending, the program must not write to
// the memory. The result of a download is valid after Synchronize. After Close, Host returns nil.
// After Close of p or of the device, the program must not use slices that Host returned before. On a
// GPU the memory no longer exists, so an access crashes the program or corrupts other memory. The CPU
// device and the PTX interpreter overwrite the memory with bytes of 0xFF to reveal the mistake.
// Registered memory remains valid, because it belongs to the program.
func (p *Pinned[T]) Host() []T {
	if p.from.closed() && p.from.keep == nil {
		return nil
	}
	return p.host
}

// Len returns the number of elements.
func (p *Pinned[T]) Len() int { return len(p.host) }

// All returns the whole memory, for copies.
func (p *Pinned[T]) All() PinnedSlice[T] {
	if p == nil {
		return PinnedSlice[T]{}
	}
	return PinnedSlice[T]{p.from, p.host, nil}
}

// Slice returns elements i to j-1, for copies. If the bounds are out of range, using the slice is
// an error.
func (p *Pinned[T]) Slice(i, j int) PinnedSlice[T] {
	if p != nil && (i < 0 || j < i || j > len(p.host)) {
		return PinnedSlice[T]{err: fmt.Errorf("[%d:%d] of %d elements: %w", i, j, len(p.host), ErrRange)}
	}
	all := p.All()
	if p != nil {
		all.host = all.host[i:j]
	}
	return all
}

// Mapped returns the memory as a kernel's argument. If the memory is not mapped, using the slice is
// an error.
func (p *Pinned[T]) Mapped() Slice[T] {
	switch {
	case p == nil:
		return Slice[T]{}
	case p.from.memory.Address() == 0:
		return Slice[T]{err: fmt.Errorf("pinned memory in a kernel: %w", ErrUnsupported)}
	}
	return Slice[T]{from: p.from, len: len(p.host)}
}

// Close frees the memory, or ends its registration, when the work that uses it is done. It does not
// wait. See Host for the slices that the program still refers to.
//
// Allocated memory that is not closed remains until the device is closed, because the program may
// still use its elements. Device.Leaks reports it.
func (p *Pinned[T]) Close() error {
	if p == nil {
		return fmt.Errorf("device: close: %w", ErrNilBuffer)
	}
	if err := p.from.close(); err != nil {
		return fmt.Errorf("device: close: %w", err)
	}
	return nil
}

// PinnedSlice is a part of a Pinned, for copies. It is small, so pass it by value.
type PinnedSlice[T any] struct {
	from lease
	host []T
	err  error
}

// Len returns the number of elements.
func (p PinnedSlice[T]) Len() int { return len(p.host) }

// pin keeps the memory from being freed until the work of a stream is done.
func (p PinnedSlice[T]) pin(on *Stream) error {
	if p.err != nil {
		return p.err
	}
	if p.from.none() {
		return ErrNilBuffer
	}
	_, err := p.from.pin(on)
	return err
}

// UploadPinned copies src to dst, which must have the same length, in the order of the stream's work.
// It does not wait for the copy, so src must not change until the stream has done the copy.
func UploadPinned[T any](s *Stream, dst Slice[T], src PinnedSlice[T]) error {
	return exchange(job{s, "upload", WorkUpload}, dst, src, func(q driver.Queue, address uintptr, host []byte) error {
		return uploadFrom(q, address, host)
	})
}

func uploadFrom(q driver.Queue, dst uintptr, host []byte) error {
	if c, ok := q.(driver.HostCopier); ok {
		return c.UploadFrom(dst, host)
	}
	return q.Upload(dst, host)
}

// DownloadPinned copies src to dst, which must have the same length, in the order of the stream's
// work. It does not wait: the contents of dst are valid after the stream's next Synchronize without
// an error.
func DownloadPinned[T any](s *Stream, dst PinnedSlice[T], src Slice[T]) error {
	return exchange(job{s, "download", WorkDownload}, src, dst, func(q driver.Queue, address uintptr, host []byte) error {
		return downloadTo(q, host, address)
	})
}

func downloadTo(q driver.Queue, host []byte, src uintptr) error {
	if c, ok := q.(driver.HostCopier); ok {
		return c.DownloadTo(host, src)
	}
	return q.Download(host, src)
}

// exchange enqueues a copy between d and p.
func exchange[T any](j job, d Slice[T], p PinnedSlice[T], f func(driver.Queue, uintptr, []byte) error) error {
	return j.stream.enqueue(func(driver.Queue) error {
		if err := p.pin(j.stream); err != nil {
			return fmt.Errorf("device: %s: pinned memory: %w", j.verb, err)
		}
		err := transfer(j, d, len(p.host), func(q driver.Queue, address uintptr) error {
			return f(q, address, bytesOf(p.host))
		})
		return join(err, p.from.unpin())
	})
}
