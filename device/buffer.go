package device

import (
	"fmt"
	"math"
	"reflect"
	"unsafe"
)

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
	err = s.enqueue(func(q Queue) error {
		if b.bytes() == 0 {
			return nil
		}
		return q.Zero(b.from.memory.Address(), b.bytes())
	})
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

// allocate returns a buffer with arbitrary contents.
func allocate[T any](d *Device, n int) (*Buffer[T], error) {
	if t := reflect.TypeFor[T](); hasPointers(t) {
		return nil, fmt.Errorf("device: buffer of %v: %w", t, ErrElement)
	}
	var zero T
	if size := int(unsafe.Sizeof(zero)); n < 0 || size > 0 && n > math.MaxInt/size {
		return nil, fmt.Errorf("device: buffer of %d elements: %w", n, ErrRange)
	}
	b := &Buffer[T]{from: &allocation{device: d}, n: n}
	m, err := d.allocate(max(1, b.bytes()))
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

// Slice returns elements i to j-1. Bounds out of range make using the slice an error.
func (b *Buffer[T]) Slice(i, j int) Slice[T] { return b.All().Slice(i, j) }

// Close frees the memory once the work that was enqueued before is done. Using the buffer
// or its slices afterwards is an error.
func (b *Buffer[T]) Close() error {
	if b == nil {
		return fmt.Errorf("device: close: %w", ErrNilBuffer)
	}
	if err := b.from.close(); err != nil {
		return fmt.Errorf("device: close: %w", err)
	}
	return nil
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
	if s.err != nil || s.from == nil {
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

// pin returns the slice's address for work on d, and keeps its memory from being freed.
func (s Slice[T]) pin(d *Device) (uintptr, error) {
	if s.err != nil {
		return 0, s.err
	}
	if s.from == nil {
		return 0, ErrNilBuffer
	}
	address, err := s.from.pin(d)
	return address + uintptr(s.offset), err
}

// overlaps reports whether s and t have an element in common.
func (s Slice[T]) overlaps(t Slice[T]) bool {
	return s.from == t.from && s.offset < t.offset+t.bytes() && t.offset < s.offset+s.bytes()
}
