package device

import (
	"fmt"
	"reflect"
	"sync"
	"unsafe"
)

// allocation is memory of a device, shared by a Buffer and the slices of it.
type allocation struct {
	device *Device
	memory Memory

	mu     sync.Mutex
	closed bool
}

// use returns the address for work on d.
func (a *allocation) use(d *Device) (uintptr, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return 0, fmt.Errorf("buffer %w", ErrClosed)
	}
	if a.device != d {
		return 0, ErrForeign
	}
	return a.memory.Address(), nil
}

// Buffer is an array of T in a device's memory. Close frees it.
type Buffer[T any] struct {
	from *allocation
	n    int
}

// Make returns a buffer of n zeros on the stream's device, ready for work on that stream.
// T holds no Go pointers.
func Make[T any](s *Stream, n int) (*Buffer[T], error) {
	b, err := allocate[T](s.device, n)
	if err != nil {
		return nil, err
	}
	err = s.enqueue(func(q Queue) error { return q.Zero(b.from.memory.Address(), b.bytes()) })
	if err != nil {
		return nil, joinClose(err, b)
	}
	return b, nil
}

// Upload returns a buffer with the contents of host, copied in the order of the stream's
// work. The caller may change host as soon as Upload returns.
func Upload[T any](s *Stream, host []T) (*Buffer[T], error) {
	b, err := allocate[T](s.device, len(host))
	if err != nil {
		return nil, err
	}
	if err := UploadTo(s, b.All(), host); err != nil {
		return nil, joinClose(err, b)
	}
	return b, nil
}

func joinClose[T any](err error, b *Buffer[T]) error {
	if closeErr := b.Close(); closeErr != nil {
		return fmt.Errorf("%w (and freeing the buffer failed: %v)", err, closeErr)
	}
	return err
}

// UploadTo copies host to dst, which has the same length. The caller may change host as
// soon as UploadTo returns.
func UploadTo[T any](s *Stream, dst Slice[T], host []T) error {
	return transfer(s, "upload", dst, len(host), func(q Queue, address uintptr) error {
		return q.Upload(address, bytesOf(host))
	})
}

// Download copies src, a Buffer or a Slice, to host, which has the same length. The
// contents of host count after the stream's next Synchronize that returns no error.
func Download[T any](s *Stream, host []T, src interface{ All() Slice[T] }) error {
	return transfer(s, "download", src.All(), len(host), func(q Queue, address uintptr) error {
		return q.Download(bytesOf(host), address)
	})
}

// Copy copies src to dst within the device; they have the same length.
func Copy[T any](s *Stream, dst, src Slice[T]) error {
	return transfer(s, "copy", dst, src.len, func(q Queue, to uintptr) error {
		return transfer1(s, "copy", src, func(from uintptr) error {
			return q.Copy(to, from, src.bytes())
		})
	})
}

// transfer checks a slice of the device against the host's length and enqueues f.
func transfer[T any](s *Stream, verb string, d Slice[T], n int, f func(Queue, uintptr) error) error {
	return s.enqueue(func(q Queue) error {
		return transfer1(s, verb, d, func(address uintptr) error {
			if d.len != n {
				return fmt.Errorf("device: %s of %d elements to or from a slice of %d: %w", verb, n, d.len, ErrLength)
			}
			if n == 0 {
				return nil
			}
			return f(q, address)
		})
	})
}

// transfer1 calls f with the address of d on the stream's device.
func transfer1[T any](s *Stream, verb string, d Slice[T], f func(uintptr) error) error {
	err := d.err
	if err == nil && d.from == nil {
		err = ErrNilBuffer
	}
	var address uintptr
	if err == nil {
		address, err = d.from.use(s.device)
	}
	if err != nil {
		return fmt.Errorf("device: %s: %w", verb, err)
	}
	return f(address + uintptr(d.offset))
}

// allocate returns a buffer with arbitrary contents.
func allocate[T any](d *Device, n int) (*Buffer[T], error) {
	if t := reflect.TypeFor[T](); hasPointers(t) {
		return nil, fmt.Errorf("device: buffer of %v: %w", t, ErrElement)
	}
	if n < 0 {
		return nil, fmt.Errorf("device: buffer of %d elements: %w", n, ErrRange)
	}
	b := &Buffer[T]{from: &allocation{device: d}, n: n}
	m, err := d.backend.Allocate(max(1, b.bytes()))
	if err != nil {
		return nil, err
	}
	b.from.memory = m
	return b, nil
}

// hasPointers reports whether values of t hold addresses, which mean nothing on a device.
func hasPointers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return hasPointers(t.Elem())
	case reflect.Struct:
		for f := range t.Fields() {
			if hasPointers(f.Type) {
				return true
			}
		}
		return false
	default:
		return t.Kind() == reflect.String || t.Kind() == reflect.UnsafePointer || t.Kind() > reflect.Array
	}
}

func (b *Buffer[T]) bytes() int { return b.All().bytes() }

// Len returns the number of elements; 0 for a nil buffer.
func (b *Buffer[T]) Len() int {
	if b == nil {
		return 0
	}
	return b.n
}

// All returns the whole buffer as a slice. Using the slice of a nil buffer is an error.
func (b *Buffer[T]) All() Slice[T] {
	if b == nil {
		return Slice[T]{}
	}
	return Slice[T]{from: b.from, len: b.n}
}

// Slice returns elements i to j-1. Bounds out of range make using the slice an error.
func (b *Buffer[T]) Slice(i, j int) Slice[T] { return b.All().Slice(i, j) }

// Close frees the memory once the work that was enqueued before is done. Using the buffer
// or its slices afterwards is an error.
func (b *Buffer[T]) Close() error {
	if b == nil {
		return fmt.Errorf("device: close: %w", ErrNilBuffer)
	}
	b.from.mu.Lock()
	defer b.from.mu.Unlock()
	if b.from.closed {
		return fmt.Errorf("device: buffer %w", ErrClosed)
	}
	b.from.closed = true
	return b.from.memory.Free()
}

// Slice is a stretch of a Buffer, as a kernel's argument. It is a small value to copy; the
// zero Slice is one of a nil buffer.
type Slice[T any] struct {
	from   *allocation
	offset int // bytes
	len    int // elements
	err    error
}

// Len returns the number of elements.
func (s Slice[T]) Len() int { return s.len }

// All returns s.
func (s Slice[T]) All() Slice[T] { return s }

// Slice returns elements i to j-1 of s. Bounds out of range make using the slice an error.
func (s Slice[T]) Slice(i, j int) Slice[T] {
	if s.err != nil {
		return s
	}
	if i < 0 || j < i || j > s.len {
		return Slice[T]{err: fmt.Errorf("[%d:%d] of %d elements: %w", i, j, s.len, ErrRange)}
	}
	var zero T
	return Slice[T]{from: s.from, offset: s.offset + i*int(unsafe.Sizeof(zero)), len: j - i}
}

func (s Slice[T]) bytes() int {
	var zero T
	return s.len * int(unsafe.Sizeof(zero))
}
