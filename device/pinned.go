package device

import (
	"fmt"
	"reflect"

	"github.com/gopherwarp/gopherwarp/device/driver"
)

// Pinned is an array of T in host memory that the device accesses directly: copies run at full speed
// and concurrently with the program. Pinned memory is expensive to allocate and cannot be swapped out,
// so reuse it. The methods may be called from any goroutine.
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
	from, err := d.pinned(reflect.TypeFor[T](), n, a)
	if err != nil {
		return nil, err
	}
	return &Pinned[T]{from, hostOf[T](from, n)}, nil
}

// pinned returns pinned memory for n values of type t.
func (d *Device) pinned(t reflect.Type, n int, a driver.Access) (lease, error) {
	if err := checkElements(t, n); err != nil {
		return lease{}, err
	}
	size := max(1, n*int(t.Size()))
	b := &block{device: d, size: size, kind: kindPinned, keepLost: true}
	b.made.Take()
	return d.allocateHost(b, func() (driver.HostMemory, error) {
		if h, ok := d.backend.(driver.HostAllocator); ok {
			return h.AllocateHost(size, a)
		}
		return heapMemory{make([]byte, size), true}, nil
	})
}

// Register makes host, which is memory of the program, pinned and mapped until Close. No part of
// host may be registered already.
func Register[T any](d *Device, host []T) (*Pinned[T], error) {
	from, err := d.register(reflect.TypeFor[T](), memoryOf(host).bytes)
	if err != nil {
		return nil, err
	}
	return &Pinned[T]{from, host}, nil
}

// register makes host, which has values of type t, pinned memory.
func (d *Device) register(t reflect.Type, host []byte) (lease, error) {
	if err := checkElements(t, 0); err != nil {
		return lease{}, err
	}
	if len(host) == 0 {
		return lease{}, fmt.Errorf("device: register: no memory: %w", ErrRange)
	}
	b := &block{device: d, size: len(host), kind: kindPinned, keep: host}
	b.made.Take()
	return d.allocateHost(b, func() (driver.HostMemory, error) {
		if h, ok := d.backend.(driver.HostAllocator); ok {
			return h.RegisterHost(host, driver.Access{Mapped: true})
		}
		return heapMemory{host, false}, nil
	})
}

// allocateHost allocates b in host memory.
func (d *Device) allocateHost(b *block, allocate func() (driver.HostMemory, error)) (lease, error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if d.closed.Load() {
		return lease{}, fmt.Errorf("device: pinned memory: device %w", ErrClosed)
	}
	m, err := allocate()
	if err != nil {
		return lease{}, err
	}
	b.memory = m
	return d.memory.enter(b).lease(), nil
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

// Host returns the memory. The program must not write to the memory while pending work uses it. The
// result of a download is valid after Synchronize.
//
// After Close of p, Host returns nil, or still the slice if p is registered memory. After Close of p or of the device, the program must not use
// slices that Host returned before: on a GPU, an access crashes the program or corrupts other memory.
// The CPU device and the PTX interpreter overwrite the memory with bytes of 0xFF to reveal the
// mistake. Registered memory remains valid.
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
		return Slice[T](invalid(fmt.Errorf("pinned memory in a kernel: %w", ErrUnsupported)))
	}
	return Slice[T]{from: p.from, len: len(p.host)}
}

// Close frees the memory, or ends its registration, when the work that uses it is done. It does not
// wait. After Close, slices that Host returned must not be used (see Host).
//
// Allocated memory that the program drops without Close remains until the device is closed, and Device.Leaks reports it.
func (p *Pinned[T]) Close() error {
	if p == nil {
		return closeMemory(lease{})
	}
	return closeMemory(p.from)
}

// PinnedSlice is a part of a Pinned, for copies. It is small, so pass it by value.
type PinnedSlice[T any] struct {
	from lease
	host []T
	err  error
}

// Len returns the number of elements.
func (p PinnedSlice[T]) Len() int { return len(p.host) }

// hostSpan is a PinnedSlice of any type. Its offset is not set, because copies use the host's address.
type hostSpan struct {
	span
	host memory
}

func hostSpanOf[T any](p PinnedSlice[T]) hostSpan {
	if p.err != nil {
		return hostSpan{span: invalid(p.err)}
	}
	return hostSpan{span{from: p.from}, memoryOf(p.host)}
}

// UploadPinned copies src to dst, which must have the same length, in the order of the stream's work.
// It does not wait: src must not change until the stream has done the copy.
func UploadPinned[T any](s *Stream, dst Slice[T], src PinnedSlice[T]) error {
	return exchange(job{s, "upload", WorkUpload, sizeOf[T]()}, span(dst), hostSpanOf(src), uploadFrom)
}

func uploadFrom(q driver.Queue, dst uintptr, host []byte) error {
	if c, ok := q.(driver.HostCopier); ok {
		return c.UploadFrom(dst, host)
	}
	return q.Upload(dst, host)
}

// DownloadPinned copies src to dst, which must have the same length, in the order of the stream's
// work. It does not wait: the contents of dst are valid after the stream's next Synchronize, if it
// returns nil.
func DownloadPinned[T any](s *Stream, dst PinnedSlice[T], src Slice[T]) error {
	return exchange(job{s, "download", WorkDownload, sizeOf[T]()}, span(src), hostSpanOf(dst), downloadTo)
}

func downloadTo(q driver.Queue, src uintptr, host []byte) error {
	if c, ok := q.(driver.HostCopier); ok {
		return c.DownloadTo(host, src)
	}
	return q.Download(host, src)
}

// exchange enqueues a copy between d and p.
func exchange(j job, d span, p hostSpan, f func(driver.Queue, uintptr, []byte) error) error {
	return j.stream.enqueue(func(driver.Queue) error {
		if _, err := p.pin(j.stream); err != nil {
			return fmt.Errorf("device: %s: pinned memory: %w", j.verb, err)
		}
		err := transfer(j, d, p.host.len, func(q driver.Queue, address uintptr) error {
			return f(q, address, p.host.bytes)
		})
		return join(err, p.from.unpin())
	})
}
