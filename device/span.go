package device

import (
	"fmt"
	"reflect"
)

// span is a Slice of any type. Slice's methods, and the functions that have slices as arguments, call
// code that takes spans: every package that uses slices of some type compiles a copy of the generic
// code for the type, so generic code is short.
type span struct {
	from   lease
	offset int // bytes
	len    int // elements
}

// absent is the memory of slices that None returns.
var absent = &allocation{&block{wrong: errNone}}

// invalid returns a span whose use is an error.
func invalid(err error) span {
	return span{from: lease{allocation: &allocation{&block{wrong: err}}}}
}

// part returns elements i to j-1, of elem bytes each.
func (s span) part(i, j, elem int) span {
	if s.unfit() != nil {
		return s
	}
	if i < 0 || j < i || j > s.len {
		return invalid(fmt.Errorf("[%d:%d] of %d elements: %w", i, j, s.len, ErrRange))
	}
	return span{from: s.from, offset: s.offset + i*elem, len: j - i}
}

// view returns the memory, which has elements of elem bytes, as elements of type t.
func (s span) view(t reflect.Type, elem int) span {
	if s.unfit() != nil {
		return s
	}
	if err := checkElements(t, 0); err != nil {
		return invalid(err)
	}
	size := int(t.Size())
	if size == 0 || s.offset%t.Align() != 0 {
		return invalid(fmt.Errorf("%v at byte %d of a buffer: %w", t, s.offset, ErrAlign))
	}
	return span{from: s.from, offset: s.offset, len: s.len * elem / size}
}

// overlaps reports whether s, with elements of n bytes, and t, with elements of m bytes, have memory in common.
func (s span) overlaps(t span, n, m int) bool {
	return s.from == t.from && s.offset < t.offset+t.len*m && t.offset < s.offset+s.len*n
}

// pin returns the span's address for work on a stream, and keeps its memory from being freed.
func (s span) pin(on *Stream) (uintptr, error) {
	if err := s.unfit(); err != nil {
		return 0, err
	}
	address, err := s.from.pin(on)
	return address + uintptr(s.offset), err
}

// unfit returns why the span cannot be used, or nil if it can.
func (s span) unfit() error {
	if s.from.none() {
		return ErrNilBuffer
	}
	return s.from.wrong
}

// mistake is unfit, but returns nil for the zero span.
func (s span) mistake() error {
	if s.from.none() {
		return nil
	}
	return s.from.wrong
}
