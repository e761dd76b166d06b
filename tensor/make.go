package tensor

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/array"
)

// Element is the constraint of the Go types of elements.
type Element interface {
	bool | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64 | dtype.F16 | dtype.BF16
}

// From returns a tensor with a copy of values. The mistake is ErrShape if the shape does not have len(values) elements.
func From[T Element](s *Scope, values []T, shape ...int) *Tensor {
	const op = "From"
	if err := s.check(op); err != nil {
		return s.fail(err)
	}
	if n, err := product(shape); err != nil {
		return s.fail(mistake(op, err))
	} else if n != len(values) {
		return s.fail(mistake(op, fmt.Errorf("%w: %d values for %v", ErrShape, len(values), shape)))
	}
	t := s.empty(op, typeOf[T](), shape)
	if t.err != nil {
		return t
	}
	if err := device.UploadTo(s.stream, elements[T](t), values); err != nil {
		return s.fail(mistake(op, err))
	}
	return t
}

// Wrap returns a tensor whose memory the caller owns. The caller must keep the memory until the last operation on the tensor is done. The
// tensor has no Scope. The error wraps ErrShape if the memory and the shape have different numbers of elements.
func Wrap[T Element](x device.Slice[T], shape ...int) (*Tensor, error) {
	n, err := product(shape)
	if err != nil {
		return nil, mistake("Wrap", err)
	}
	if n != x.Len() {
		return nil, mistake("Wrap", fmt.Errorf("%w: %d elements for %v", ErrShape, x.Len(), shape))
	}
	m := &memory{bytes: device.View[byte](x), views: 1}
	return &Tensor{memory: m, dtype: typeOf[T](), shape: slices.Clone(shape), strides: rowMajor(shape)}, nil
}

// Use returns a view of t as a tensor of s. t may be a tensor without a Scope, such as the result of Wrap. The view has the shape and the
// element type of t. The mistake is ErrScope if t belongs to another Scope.
func (s *Scope) Use(t *Tensor) *Tensor { return s.use("Use", t) }

func (s *Scope) use(op string, t *Tensor) *Tensor {
	if err := s.check(op); err != nil {
		return s.fail(err)
	}
	if t != nil && t.scope == nil && t.err == nil {
		return s.view(t, *t)
	}
	if _, err := scopeOf(op, []*Tensor{t}); err != nil {
		return s.fail(err)
	}
	if t.scope != s {
		return s.fail(twoScopes(op, s, t.scope))
	}
	v := s.view(t, *t)
	v.node = t.node
	return v
}

// Values waits for all enqueued operations and returns the elements of t in row-major order. T must be the Go type of the elements, such as
// float32 or dtype.BF16; otherwise the error wraps ErrDType. After a mistake, the error is the Scope's first mistake.
func Values[T Element](ctx context.Context, t *Tensor) ([]T, error) {
	const op = "Values"
	s, err := scopeOf(op, []*Tensor{t})
	if err != nil {
		return nil, err
	}
	if s.err != nil {
		return nil, s.err
	}
	c := t.Contiguous()
	x, err := SliceOf[T](c)
	if err != nil {
		return nil, err
	}
	host := make([]T, x.Len())
	if err := device.Download(s.stream, host, x); err != nil {
		return nil, mistake(op, err)
	}
	if err := s.stream.Synchronize(ctx); err != nil {
		return nil, err
	}
	return host, nil
}

// SliceOf returns the memory of t's elements, for kernels and copies of your own. The error wraps ErrDType if T is not the Go type of t's
// elements, and ErrShape if the elements are not contiguous.
func SliceOf[T Element](t *Tensor) (device.Slice[T], error) {
	const op = "SliceOf"
	switch {
	case t.err != nil:
		return device.Slice[T]{}, t.err
	case t.freed():
		return device.Slice[T]{}, mistake(op, fmt.Errorf("%w: the tensor was freed at %s", ErrScope, t.frame.end.Line()))
	case t.dtype != typeOf[T]():
		return device.Slice[T]{}, mistake(op, fmt.Errorf("%w: %v elements as %v", ErrDType, t.dtype, typeOf[T]()))
	case !t.IsContiguous():
		return device.Slice[T]{}, mistake(op, fmt.Errorf("%w: the elements of %v with strides %v are not contiguous", ErrShape, t.shape, t.strides))
	}
	return elements[T](t), nil
}

// SlicesOf returns the result of SliceOf for each tensor, or the first error.
func SlicesOf[T Element](list ...*Tensor) ([]device.Slice[T], error) {
	slices := make([]device.Slice[T], len(list))
	for i, t := range list {
		var err error
		if slices[i], err = SliceOf[T](t); err != nil {
			return nil, err
		}
	}
	return slices, nil
}

// elements returns the memory of a contiguous tensor.
func elements[T Element](t *Tensor) device.Slice[T] { return device.View[T](t.contents()) }

// contents returns the memory of a contiguous tensor as bytes.
func (t *Tensor) contents() device.Slice[byte] {
	size := t.dtype.Size()
	return t.memory.bytes.Slice(t.offset*size, (t.offset+t.Len())*size)
}

// typeOf returns the element type of a Go type, which the constraint guarantees.
func typeOf[T Element]() dtype.Type {
	t, _ := dtype.Of[T]()
	return t
}

// Zeros returns a tensor of zeros. The mistake is ErrShape for a negative size in the shape, and ErrDType for dtype.Invalid and
// dtype.String.
func Zeros(s *Scope, of dtype.Type, shape ...int) *Tensor { return s.zeros("Zeros", of, shape) }

// Full returns a tensor whose elements are v, converted to the given type as To does. The mistakes are those of Zeros.
func Full(s *Scope, v float64, of dtype.Type, shape ...int) *Tensor {
	return s.full("Full", v, of, shape)
}

// Arange returns the numbers from 0 to n-1, as int64. The result has the shape [n]. The mistake is ErrShape if n is negative.
func Arange(s *Scope, n int) *Tensor {
	const op = "Arange"
	if err := s.check(op); err != nil {
		return s.fail(err)
	}
	t := s.empty(op, dtype.Int64, []int{n})
	if t.err != nil {
		return t
	}
	if err := array.Numbers(s.stream, elements[int64](t)); err != nil {
		return s.fail(mistake(op, err))
	}
	return t
}

// zeros returns a tensor of zeros.
func (s *Scope) zeros(op string, of dtype.Type, shape []int) *Tensor {
	if err := s.check(op); err != nil {
		return s.fail(err)
	}
	if of.Size() == 0 {
		return s.fail(mistake(op, fmt.Errorf("%w: %v", ErrDType, of)))
	}
	n, err := product(shape)
	if err != nil {
		return s.fail(mistake(op, err))
	}
	b, err := device.Make[byte](s.stream, n*of.Size())
	if err != nil {
		return s.fail(mistake(op, err))
	}
	return s.add(arranged(shape, of, memory{bytes: b.All(), buffer: *b, owned: true, views: 1}))
}

// full returns a tensor whose elements are v.
func (s *Scope) full(op string, v float64, of dtype.Type, shape []int) *Tensor {
	if err := s.check(op); err != nil {
		return s.fail(err)
	}
	if err := computable(of); err != nil {
		return s.fail(mistake(op, err))
	}
	if value, ok := pattern(v, of); ok {
		t := s.empty(op, of, shape)
		if t.err != nil {
			return t
		}
		if err := fill(s.stream, t, value); err != nil {
			return s.fail(mistake(op, err))
		}
		return t
	}
	zero := s.zeros(op, of, nil)
	if zero.err != nil {
		return zero
	}
	return s.apply(op, array.Add, shape, operands{x: zero, scalar: v, out: of})
}

// pattern returns the bits of v, if it is one of the types of up to 32 bits that a device can fill memory with, and does not depend on To.
func pattern(v float64, of dtype.Type) (uint32, bool) {
	switch of {
	case dtype.Float32:
		return math.Float32bits(float32(v)), true
	case dtype.BFloat16:
		return uint32(dtype.BF16From32(float32(v))), true
	case dtype.Float16:
		return uint32(dtype.F16From32(float32(v))), true
	case dtype.Int32:
		return uint32(int32(v)), v == math.Trunc(v) && math.Abs(v) < 1<<31
	}
	return 0, false
}

// fill sets the elements of a contiguous tensor, of two or four bytes, to those with the bits of v.
func fill(stream *device.Stream, t *Tensor, v uint32) error {
	if t.dtype.Size() == 2 {
		return device.Fill(stream, device.View[uint16](t.contents()), uint16(v))
	}
	return device.Fill(stream, device.View[uint32](t.contents()), v)
}

// check returns the mistake of a call of op on a Scope that has ended.
func (s *Scope) check(op string) error {
	if len(s.frames) == 0 {
		return mistake(op, fmt.Errorf("%w: Run has returned", ErrScope))
	}
	return nil
}

// empty returns a tensor with arbitrary contents.
func (s *Scope) empty(op string, of dtype.Type, shape []int) *Tensor {
	n, err := product(shape)
	if err != nil {
		return s.fail(mistake(op, err))
	}
	b, err := device.DirtyBuffer[byte](s.stream, n*of.Size())
	if err != nil {
		return s.fail(mistake(op, err))
	}
	return s.add(arranged(shape, of, memory{bytes: b.All(), buffer: b, owned: true, views: 1}))
}
