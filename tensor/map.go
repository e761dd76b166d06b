package tensor

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// A Function defines a function f of one number, and the derivative of f, for MapKernel and MapBackKernel. It is a type without fields.
type Function interface {
	Of(x float32) float32       // f(x)
	Slope(x, y float32) float32 // f'(x), where y is f(x)
}

// F32, BF16 and F16 are the element types of MapKernel and MapBackKernel. A Function receives each element as a float32.
type (
	F32  float32
	BF16 dtype.BF16
	F16  dtype.F16
)

// MapElement is the constraint of the elements of MapKernel and MapBackKernel: F32, BF16 or F16.
type MapElement[T any] interface {
	Map(f func(x float32) float32) T
	Map2(y T, f func(x, y float32) float32) T
}

// Map returns f(x).
func (x F32) Map(f func(x float32) float32) F32 { return F32(f(float32(x))) }

// Map2 returns f(x, y).
func (x F32) Map2(y F32, f func(x, y float32) float32) F32 { return F32(f(float32(x), float32(y))) }

// Map returns f(x).
func (x BF16) Map(f func(x float32) float32) BF16 {
	return BF16(dtype.BF16From32(f(dtype.BF16(x).Float32())))
}

// Map2 returns f(x, y).
func (x BF16) Map2(y BF16, f func(x, y float32) float32) BF16 {
	return BF16(dtype.BF16From32(f(dtype.BF16(x).Float32(), dtype.BF16(y).Float32())))
}

// Map returns f(x).
func (x F16) Map(f func(x float32) float32) F16 {
	return F16(dtype.F16From32(f(dtype.F16(x).Float32())))
}

// Map2 returns f(x, y).
func (x F16) Map2(y F16, f func(x, y float32) float32) F16 {
	return F16(dtype.F16From32(f(dtype.F16(x).Float32(), dtype.F16(y).Float32())))
}

// MapKernel stores f(x[i]) in y[i] for each i, where F defines f. To get a launcher for a Function of your own, write a //gpu:instance
// directive in your package:
//
//	//gpu:instance Softsign = tensor.MapKernel[tensor.BF16, softsign]
//
//gpu:kernel
func MapKernel[T MapElement[T], F Function](t gpu.Thread, x, y []T) {
	var f F
	if i := t.GlobalX(); i < len(y) {
		y[i] = x[i].Map(f.Of)
	}
}

// MapBackKernel stores dy[i]*f'(x[i]) in dx[i] for each i, where F defines the derivative f' of f.
//
//gpu:kernel
func MapBackKernel[T MapElement[T], F Function](t gpu.Thread, x, dy, dx []T) {
	var b back[F]
	if i := t.GlobalX(); i < len(dx) {
		dx[i] = x[i].Map2(dy[i], b.of)
	}
}

// back is the derivative of a function.
type back[F Function] struct{}

func (back[F]) of(x, dy float32) float32 {
	var f F
	return dy * f.Slope(x, f.Of(x))
}

// mapThreads is the number of threads of a block.
const mapThreads = 256

// Apply applies a function to each element of x. The result has the shape and the element type of x. forward is a launcher of an instance of
// MapKernel, and backward of an instance of MapBackKernel. If backward is nil, the operation has no derivative. The mistake is ErrDType if the
// launchers are for another element type.
//
//	type softsign struct{} // x/(1+|x|), with methods Of and Slope
//
//	//gpu:instance Softsign = tensor.MapKernel[tensor.F32, softsign]
//	//gpu:instance SoftsignBack = tensor.MapBackKernel[tensor.F32, softsign]
//
//	y := tensor.Apply(x, Softsign, SoftsignBack)
func Apply[T F32 | BF16 | F16](x *Tensor, forward func(s *device.Stream, g device.Grid, x, y device.Slice[T]) error,
	backward func(s *device.Stream, g device.Grid, x, dy, dx device.Slice[T]) error) *Tensor {
	s, err := scopeOf("Apply", []*Tensor{x})
	if err != nil {
		return failed(s, err)
	}
	of := mapType[T]()
	if x.dtype != of {
		return s.fail(mistake("Apply", fmt.Errorf("%w: a kernel for %v, and elements of %v", ErrDType, of, x.dtype)))
	}
	if x = x.Contiguous(); x.err != nil {
		return x
	}
	o := Op{Name: "Apply", In: []*Tensor{x}, DType: of, Shape: x.shape}
	o.Launch = func(st *device.Stream, out *Tensor) error {
		return launchMap(out, func(g device.Grid) error { return forward(st, g, mapSlice[T](x), mapSlice[T](out)) })
	}
	if backward != nil {
		o.Save = o.In
		o.Back = func(d *Derivative) []*Tensor { return []*Tensor{applyBack(d, backward)} }
	}
	return o.Apply()
}

// applyBack returns the derivative of Apply.
func applyBack[T F32 | BF16 | F16](d *Derivative, backward func(s *device.Stream, g device.Grid, x, dy, dx device.Slice[T]) error) *Tensor {
	x, dy := d.Saved[0], d.Grad.Contiguous()
	return Op{Name: "Apply", In: []*Tensor{x, dy}, DType: x.dtype, Shape: x.shape, Launch: func(st *device.Stream, dx *Tensor) error {
		return launchMap(dx, func(g device.Grid) error { return backward(st, g, mapSlice[T](x), mapSlice[T](dy), mapSlice[T](dx)) })
	}}.Apply()
}

// launchMap calls launch with the grid for a result, if it has elements.
func launchMap(out *Tensor, launch func(g device.Grid) error) error {
	if out.Len() == 0 {
		return nil
	}
	return launch(device.Cover(out.Len(), mapThreads))
}

// mapSlice returns the memory of a contiguous tensor.
func mapSlice[T F32 | BF16 | F16](t *Tensor) device.Slice[T] { return device.View[T](t.contents()) }

// mapType returns the element type of a kernel's elements.
func mapType[T F32 | BF16 | F16]() dtype.Type {
	var x T
	switch any(x).(type) {
	case BF16:
		return dtype.BFloat16
	case F16:
		return dtype.Float16
	}
	return dtype.Float32
}
