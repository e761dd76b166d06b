package device

import (
	"errors"
	"fmt"
	"math"
	"reflect"

	"github.com/gopherwarp/gopherwarp/device/driver"
)

// Buffer is an array of T in a device's memory. Close frees it.
type Buffer[T any] struct {
	from lease
	n    int
}

// Make returns a buffer of n zeros on the stream's device, ready for work on that stream. T must not contain Go
// pointers. If the stream records a graph, the graph owns the memory (see Graph), and each run of the graph clears it.
func Make[T any](s *Stream, n int) (*Buffer[T], error) {
	from, err := s.zeroed(reflect.TypeFor[T](), n)
	if err != nil {
		return nil, err
	}
	return &Buffer[T]{from, n}, nil
}

// MakeDirty is like Make, but the contents of the buffer are arbitrary.
func MakeDirty[T any](s *Stream, n int) (*Buffer[T], error) {
	b, err := DirtyBuffer[T](s, n)
	if err != nil {
		return nil, err
	}
	return &b, nil
}

// DirtyBuffer is like MakeDirty, but returns the Buffer as a value, which needs no separate allocation in Go's heap.
// Copies of the value refer to the same buffer, so close only one of them.
func DirtyBuffer[T any](s *Stream, n int) (Buffer[T], error) {
	from, err := s.dirty(reflect.TypeFor[T](), n)
	return Buffer[T]{from, n}, err
}

// Upload returns a buffer with the contents of host, copied in the order of the stream's work. The
// caller may change host when Upload returns.
func Upload[T any](s *Stream, host []T) (*Buffer[T], error) {
	from, err := s.uploaded(reflect.TypeFor[T](), memoryOf(host))
	if err != nil {
		return nil, err
	}
	return &Buffer[T]{from, len(host)}, nil
}

// allocate returns memory for n values of type t, with arbitrary contents.
func (s *Stream) allocate(t reflect.Type, n int) (lease, error) {
	if err := checkElements(t, n); err != nil {
		return lease{}, err
	}
	return s.device.allocate(s, max(1, n*int(t.Size())))
}

// dirty is allocate for a stream that has not failed.
func (s *Stream) dirty(t reflect.Type, n int) (lease, error) {
	if err := s.check(); err != nil {
		return lease{}, err
	}
	return s.allocate(t, n)
}

// zeroed returns memory for n values of type t, which the stream's work zeroes. Memory that is zeros since it was allocated is not
// written, so that the system needs no pages for it yet.
func (s *Stream) zeroed(t reflect.Type, n int) (lease, error) {
	from, err := s.allocate(t, n)
	if err != nil {
		return lease{}, err
	}
	bytes := n * int(t.Size())
	if bytes == 0 || from.zeros {
		err = s.check()
	} else {
		err = s.work(Activity{Work: WorkFill, Bytes: bytes}, func(q driver.Queue) error { return q.Zero(from.address, bytes) })
	}
	if err != nil {
		return lease{}, join(err, closeMemory(from))
	}
	return from, nil
}

// uploaded returns memory with the contents of host, whose elements have type t.
func (s *Stream) uploaded(t reflect.Type, host memory) (lease, error) {
	from, err := s.allocate(t, host.len)
	if err != nil {
		return lease{}, err
	}
	if err := upload(s, span{from: from, len: host.len}, host); err != nil {
		return lease{}, join(err, closeMemory(from))
	}
	return from, nil
}

// checkElements reports whether n values of type t can be on a device.
func checkElements(t reflect.Type, n int) error {
	if hasPointers(t) {
		return fmt.Errorf("device: buffer of %v: %w", t, ErrElement)
	}
	if size := int(t.Size()); n < 0 || size > 0 && n > math.MaxInt/size {
		return fmt.Errorf("device: buffer of %d elements: %w", n, ErrRange)
	}
	return nil
}

// hasPointers reports whether values of t hold addresses, which mean nothing on a device.
func hasPointers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return t.Len() > 0 && hasPointers(t.Elem())
	case reflect.Struct:
		return hasPointerFields(t)
	default:
		return t.Kind() > reflect.Array // all kinds from there on are made of pointers
	}
}

// hasPointerFields is hasPointers for structs. A return from a loop over an iterator allocates, even if the loop does not run, so the loop is
// in a function that other types do not need.
func hasPointerFields(t reflect.Type) bool {
	for f := range t.Fields() {
		if hasPointers(f.Type) {
			return true
		}
	}
	return false
}

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

// Slice returns elements i to j-1. If the bounds are out of range, using the slice is an error.
func (b *Buffer[T]) Slice(i, j int) Slice[T] { return b.All().Slice(i, j) }

// Close frees the memory when the work enqueued before the call, on any stream, is done. It does not
// wait. Using the buffer or its slices after Close is an error. The device may keep the memory for later
// buffers (see Device.Trim).
//
// A buffer that is not closed is freed some time after the buffer and all its slices become
// unreachable. Device.Leaks reports such a buffer.
func (b *Buffer[T]) Close() error {
	if b == nil {
		return closeMemory(lease{})
	}
	return closeMemory(b.from)
}

// closeMemory closes a lease that is not that of a nil buffer.
func closeMemory(l lease) error {
	if l.none() {
		return fmt.Errorf("device: close: %w", ErrNilBuffer)
	}
	if err := l.close(); err != nil {
		return fmt.Errorf("device: close: %w", err)
	}
	return nil
}

// Slice is a part of a Buffer, and an argument of a kernel. A Slice is small, so pass it by value. While a Slice is
// reachable, the garbage collector does not free the buffer, but Close does.
//
// Using the zero Slice is an error. None returns a Slice that is nil in a kernel.
type Slice[T any] struct {
	from   lease
	offset int // bytes
	len    int // elements
}

// errNone is the error of using what None returns.
var errNone = errors.New("device.None is an argument for kernels only")

// None returns the argument that is a nil slice in the kernel. Any other use of the result is an error.
func None[T any]() Slice[T] { return Slice[T]{from: lease{allocation: absent}} }

// Len returns the number of elements.
func (s Slice[T]) Len() int { return s.len }

// All returns s.
func (s Slice[T]) All() Slice[T] { return s }

// Slice returns elements i to j-1 of s. If the bounds are out of range, using the slice is an error.
func (s Slice[T]) Slice(i, j int) Slice[T] {
	return Slice[T](span(s).part(i, j, sizeOf[T]()))
}

// View returns the memory of s as elements of type U, as many as fit. If the memory is not aligned for
// U, or U contains Go pointers, using the view is an error.
func View[U, T any](s Slice[T]) Slice[U] {
	return Slice[U](span(s).view(reflect.TypeFor[U](), sizeOf[T]()))
}

// Aligned reports whether the memory of s starts at a multiple of n bytes. A slice without memory, such as
// the zero Slice or a slice whose bounds were out of range, is aligned.
func (s Slice[T]) Aligned(n int) bool {
	return s.from.none() || (s.from.address+uintptr(s.offset))%uintptr(n) == 0
}

// Overlap reports whether two slices have memory in common.
func Overlap[T, U any](s Slice[T], t Slice[U]) bool {
	return span(s).overlaps(span(t), sizeOf[T](), sizeOf[U]())
}
