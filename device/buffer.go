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

// Make returns a buffer of n zeros on the stream's device, ready for work on that stream.
// T must not contain Go pointers. If the stream records a graph, the graph owns the memory (see Graph), and
// each of its runs clears it.
func Make[T any](s *Stream, n int) (*Buffer[T], error) {
	b, err := allocate[T](s, n, madeBy())
	if err != nil {
		return nil, err
	}
	if b.bytes() == 0 {
		return b, s.check()
	}
	err = s.work(Activity{Work: WorkFill, Bytes: b.bytes()}, func(q driver.Queue) error { return q.Zero(b.from.address, b.bytes()) })
	if err != nil {
		return nil, join(err, b.Close())
	}
	return b, nil
}

// MakeDirty is like Make, but the contents of the buffer are arbitrary.
func MakeDirty[T any](s *Stream, n int) (*Buffer[T], error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	return allocate[T](s, n, madeBy())
}

// Upload returns a buffer with the contents of host, copied in the order of the stream's work. The
// caller may change host when Upload returns.
func Upload[T any](s *Stream, host []T) (*Buffer[T], error) {
	b, err := allocate[T](s, len(host), madeBy())
	if err != nil {
		return nil, err
	}
	if err := UploadTo(s, b.All(), host); err != nil {
		return nil, join(err, b.Close())
	}
	return b, nil
}

// allocate returns a buffer with arbitrary contents.
func allocate[T any](s *Stream, n int, made callers) (*Buffer[T], error) {
	if err := checkElements[T](n); err != nil {
		return nil, err
	}
	from, err := s.device.allocate(s, max(1, n*sizeOf[T]()), made)
	if err != nil {
		return nil, err
	}
	return &Buffer[T]{from: from, n: n}, nil
}

// checkElements reports whether n values of type T can be on a device.
func checkElements[T any](n int) error {
	if t := reflect.TypeFor[T](); hasPointers(t) {
		return fmt.Errorf("device: buffer of %v: %w", t, ErrElement)
	}
	if size := sizeOf[T](); n < 0 || size > 0 && n > math.MaxInt/size {
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
		for f := range t.Fields() {
			if hasPointers(f.Type) {
				return true
			}
		}
		return false
	default:
		return t.Kind() > reflect.Array // all kinds from there on are made of pointers
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
		return fmt.Errorf("device: close: %w", ErrNilBuffer)
	}
	if err := b.from.close(); err != nil {
		return fmt.Errorf("device: close: %w", err)
	}
	return nil
}

// Slice is a part of a Buffer, and an argument of a kernel. A Slice is small, so pass it by value.
// While a Slice is reachable, the garbage collector does not free the buffer, but Close still frees
// the buffer.
//
// Using the zero Slice is an error. None returns a Slice that is nil in a kernel.
type Slice[T any] struct {
	from   lease
	offset int // bytes
	len    int // elements
	err    error
}

// errNone is the err of None.
var errNone = errors.New("device.None is an argument for kernels only")

// None returns the argument that is a nil slice in the kernel, for kernels that test a parameter for
// nil. Any other use of the result is an error.
func None[T any]() Slice[T] { return Slice[T]{err: errNone} }

// Len returns the number of elements.
func (s Slice[T]) Len() int { return s.len }

// All returns s.
func (s Slice[T]) All() Slice[T] { return s }

// Slice returns elements i to j-1 of s. If the bounds are out of range, using the slice is an error.
func (s Slice[T]) Slice(i, j int) Slice[T] {
	if s.err != nil || s.from.none() {
		return s
	}
	if i < 0 || j < i || j > s.len {
		return Slice[T]{err: fmt.Errorf("[%d:%d] of %d elements: %w", i, j, s.len, ErrRange)}
	}
	return Slice[T]{from: s.from, offset: s.offset + i*sizeOf[T](), len: j - i}
}

// View returns the memory of s as elements of type U, as many as fit. If the memory is not aligned for
// U, or U contains Go pointers, using the view is an error.
func View[U, T any](s Slice[T]) Slice[U] {
	if s.err != nil || s.from.none() {
		return Slice[U]{err: s.err}
	}
	if err := checkElements[U](0); err != nil {
		return Slice[U]{err: err}
	}
	t, size := reflect.TypeFor[U](), sizeOf[U]()
	if size == 0 || s.offset%t.Align() != 0 {
		return Slice[U]{err: fmt.Errorf("%v at byte %d of a buffer: %w", t, s.offset, ErrAlign)}
	}
	return Slice[U]{from: s.from, offset: s.offset, len: s.bytes() / size}
}

// Aligned reports whether the memory of s starts at a multiple of n bytes. A slice that cannot be used
// has no memory and is aligned.
func (s Slice[T]) Aligned(n int) bool {
	return s.from.none() || (s.from.address+uintptr(s.offset))%uintptr(n) == 0
}

// Overlap reports whether two slices have memory in common.
func Overlap[T, U any](s Slice[T], t Slice[U]) bool {
	return s.from == t.from && s.offset < t.offset+t.bytes() && t.offset < s.offset+s.bytes()
}

func (s Slice[T]) bytes() int { return s.len * sizeOf[T]() }

// pin returns the slice's address for work on a stream, and keeps its memory from being freed.
func (s Slice[T]) pin(on *Stream) (uintptr, error) {
	if s.err != nil || s.from.none() {
		return 0, s.unfit()
	}
	address, err := s.from.pin(on)
	return address + uintptr(s.offset), err
}

// unfit returns why the slice cannot be used.
func (s Slice[T]) unfit() error {
	if s.err != nil {
		return s.err
	}
	return ErrNilBuffer
}
