package device

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/device/driver"
)

// Managed is an array of T that host and device access at the same address. Its pages migrate to
// the host when the host accesses them, and to the device when a kernel accesses them. The array
// must fit in the device's memory. The methods may be called from any goroutine.
type Managed[T any] struct {
	from lease
	host []T
}

// NewManaged returns managed memory for n elements, with arbitrary contents. A device without managed
// memory returns ErrUnsupported.
func NewManaged[T any](d *Device, n int) (*Managed[T], error) {
	from, err := d.managed(reflect.TypeFor[T](), n)
	if err != nil {
		return nil, err
	}
	return &Managed[T]{from, hostOf[T](from, n)}, nil
}

// managed returns managed memory for n values of type t.
func (d *Device) managed(t reflect.Type, n int) (lease, error) {
	if err := checkElements(t, n); err != nil {
		return lease{}, err
	}
	m, ok := d.backend.(driver.Manager)
	if !ok {
		return lease{}, fmt.Errorf("device: managed memory: %w", ErrUnsupported)
	}
	size := max(1, n*int(t.Size()))
	b := &block{device: d, size: size, kind: kindManaged, keepLost: true}
	b.made.Take()
	if err := d.roomy(size, func() error { return d.allocateManaged(m, b) }); err != nil {
		return lease{}, err
	}
	return d.memory.enter(b).lease(), nil
}

// hostOf returns memory that the host can access as n values of type T.
func hostOf[T any](from lease, n int) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(from.memory.(driver.HostMemory).Bytes()))), n)
}

func (d *Device) allocateManaged(m driver.Manager, b *block) error {
	return d.back(b, func() error {
		memory, err := m.AllocateManaged(b.size)
		if err == nil {
			b.memory = memory
		}
		return err
	})
}

// Host returns the memory for the program. Before each access, call Synchronize to wait for kernels
// that may access the memory. After Close, Host returns nil, and the program must not use slices
// that Host returned before (see Pinned.Host).
func (m *Managed[T]) Host() []T {
	if m.from.closed() {
		return nil
	}
	return m.host
}

// All returns the memory as a kernel's argument.
func (m *Managed[T]) All() Slice[T] {
	if m == nil {
		return Slice[T]{}
	}
	return Slice[T]{from: m.from, len: len(m.host)}
}

// Slice returns elements i to j-1 as a kernel's argument.
func (m *Managed[T]) Slice(i, j int) Slice[T] { return m.All().Slice(i, j) }

// Close frees the memory when the work that uses it is done. It does not wait. Memory that is not
// closed remains until the device is closed.
func (m *Managed[T]) Close() error {
	if m == nil {
		return closeMemory(lease{})
	}
	return closeMemory(m.from)
}

// Prefetch moves the managed memory of x to the device, in the order of the stream's work. It affects
// only speed.
func Prefetch[T any](s *Stream, x Slice[T]) error {
	return prefetch(job{stream: s, verb: "prefetch", elem: sizeOf[T]()}, span(x), false)
}

// PrefetchHost is like Prefetch, but moves the memory to the host.
func PrefetchHost[T any](s *Stream, x Slice[T]) error {
	return prefetch(job{stream: s, verb: "prefetch", elem: sizeOf[T]()}, span(x), true)
}

func prefetch(j job, x span, toHost bool) error {
	return j.stream.enqueue(func(q driver.Queue) error {
		return pinned(j, x, func(address uintptr) error {
			if err := x.managed(); err != nil {
				return err
			}
			if j.stream.recorder != nil {
				return fmt.Errorf("device: prefetch: %w", ErrCapture)
			}
			if p, ok := q.(driver.Prefetcher); ok && x.len*j.elem > 0 {
				return p.Prefetch(address, x.len*j.elem, toHost)
			}
			return nil
		})
	})
}

// Advise describes the future use of the managed memory of x. The advice affects only speed.
func Advise[T any](x Slice[T], a Advice) error { return advise(span(x), a, sizeOf[T]()) }

func advise(x span, a Advice, elem int) error {
	if err := x.managed(); err != nil {
		return err
	}
	if err := x.from.hold(); err != nil {
		return fmt.Errorf("device: advise: %w", err)
	}
	b := x.from.block
	err := b.device.backend.(driver.Manager).Advise(b.memory.Address()+uintptr(x.offset), x.len*elem, a)
	return join(err, b.unpin())
}

// managed reports a span whose memory is not managed.
func (s span) managed() error {
	if err := s.unfit(); err != nil {
		return err
	}
	if s.from.kind != kindManaged {
		return fmt.Errorf("device: memory that is not managed: %w", ErrUnsupported)
	}
	return nil
}
