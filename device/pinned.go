package device

import (
	"fmt"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/device/driver"
)

// Pinned is an array of T in memory of the host that the device copies from and to by itself,
// at full speed and while the program does something else. It is dear to allocate and cannot
// be swapped out, so make few and reuse them. Its methods may be called from any goroutine.
type Pinned[T any] struct {
	from *allocation
	host []T
}

// NewPinned returns pinned memory for n elements, with arbitrary contents.
func NewPinned[T any](d *Device, n int) (*Pinned[T], error) {
	return newPinned[T](d, n, driver.Access{})
}

// NewMapped returns pinned memory for n elements that kernels can use directly, over the bus
// (see Pinned.Mapped). What each side writes the other sees after a Synchronize.
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
		return heapMemory(make([]byte, size)), nil
	})
	if err != nil {
		return nil, err
	}
	bytes := b.memory.(driver.HostMemory).Bytes()
	return &Pinned[T]{from, unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(bytes))), n)}, nil
}

// Register makes host, which is the program's memory, pinned and mapped until Close. It must
// not be registered already, not even in part.
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
		return heapMemory(bytesOf(host)), nil
	})
	if err != nil {
		return nil, err
	}
	return &Pinned[T]{from, host}, nil
}

// allocateHost makes b a block of the host's memory.
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

// heapMemory is memory of Go's heap, for devices whose copies need no other.
type heapMemory []byte

// Address implements Memory.
func (heapMemory) Address() uintptr { return 0 }

// Free implements Memory.
func (heapMemory) Free() error { return nil }

// Bytes implements HostMemory.
func (h heapMemory) Bytes() []byte { return h }

// Host returns the memory itself. While work that uses it is under way, nothing may write to it,
// and what a download writes counts after the Synchronize. After Close it must not be touched,
// unless it was registered.
func (p *Pinned[T]) Host() []T { return p.host }

// Len returns the number of elements.
func (p *Pinned[T]) Len() int { return len(p.host) }

// All returns the whole memory, for copies.
func (p *Pinned[T]) All() PinnedSlice[T] {
	if p == nil {
		return PinnedSlice[T]{}
	}
	return PinnedSlice[T]{p.from, p.host, nil}
}

// Slice returns elements i to j-1, for copies. Bounds out of range make using it an error.
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

// Mapped returns the memory as a kernel's argument. It is an error to use where the memory is
// not mapped.
func (p *Pinned[T]) Mapped() Slice[T] {
	switch {
	case p == nil:
		return Slice[T]{}
	case p.from.memory.Address() == 0:
		return Slice[T]{err: fmt.Errorf("pinned memory in a kernel: %w", ErrUnsupported)}
	}
	return Slice[T]{from: p.from, len: len(p.host)}
}

// Close frees the memory, or ends its registration, once the work that uses it is done. It does
// not wait for that.
//
// Memory that was allocated and is not closed stays until the device is closed, because the
// program may still have its elements; Device.Leaks tells.
func (p *Pinned[T]) Close() error {
	if p == nil {
		return fmt.Errorf("device: close: %w", ErrNilBuffer)
	}
	if err := p.from.close(); err != nil {
		return fmt.Errorf("device: close: %w", err)
	}
	return nil
}

// PinnedSlice is a stretch of a Pinned, for copies. It is a small value to copy.
type PinnedSlice[T any] struct {
	from *allocation
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
	if p.from == nil {
		return ErrNilBuffer
	}
	_, err := p.from.pin(on)
	return err
}

// UploadPinned copies src to dst, which has the same length, in the order of the stream's work.
// It does not wait: src must not change until the stream has come behind it.
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

// DownloadPinned copies src to dst, which has the same length, in the order of the stream's
// work. It does not wait: the contents of dst count after the stream's next Synchronize that
// returns no error.
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
