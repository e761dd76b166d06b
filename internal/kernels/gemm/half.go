package gemm

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// Half computes products of matrices of 16-bit elements. Rows of the operands that are multiples of 16 bytes apart, and operands that
// begin at such multiples, are fastest.
func Half[T gpu.Half](s *device.Stream, shape Shape, x Operands[T, T, T]) error {
	return HalfIn(s, Auto, shape, x)
}

// HalfIn is Half in a form, for tests and benchmarks. The error is ErrShape if the form does not fit.
func HalfIn[T gpu.Half](s *device.Stream, f Form, shape Shape, x Operands[T, T, T]) error {
	switch x := any(x).(type) {
	case Operands[dtype.BF16, dtype.BF16, dtype.BF16]:
		return multiply(s, f, shape, bf16Half(x))
	case Operands[dtype.F16, dtype.F16, dtype.F16]:
		return multiply(s, f, shape, halfOf[dtype.F16, dtype.F16]{x, f16Kernels, JoinF16, [3]fewLauncher[dtype.F16, dtype.F16]{FewF16}, castLaunchers[dtype.F16]{}, [3]leanLauncher[dtype.F16]{Lean16F16, Lean16F16, Lean32F16}, TensorF16})
	}
	panic("BUG: gemm: an element type of no kernel")
}

func bf16Half(x Operands[dtype.BF16, dtype.BF16, dtype.BF16]) halfOf[dtype.BF16, dtype.BF16] {
	return halfOf[dtype.BF16, dtype.BF16]{x, bf16Kernels, JoinBF16, [3]fewLauncher[dtype.BF16, dtype.BF16]{FewBF16, Few128BF16, Few64BF16}, castLaunchers[dtype.BF16]{Cast64BF16, Cast128BF16, Cast192BF16}, [3]leanLauncher[dtype.BF16]{Lean8, Lean16, Lean32}, TensorBF16}
}

// HalfTo32 computes float32 products of matrices of 16-bit elements.
func HalfTo32[T gpu.Half](s *device.Stream, shape Shape, x Operands[T, T, float32]) error {
	return HalfTo32In(s, Auto, shape, x)
}

// HalfTo32In is HalfTo32 in a form, for tests and benchmarks. The error is ErrShape if the form does not fit: Few and Lean have no kernel
// for float16.
func HalfTo32In[T gpu.Half](s *device.Stream, f Form, shape Shape, x Operands[T, T, float32]) error {
	switch x := any(x).(type) {
	case Operands[dtype.BF16, dtype.BF16, float32]:
		return multiply(s, f, shape, halfOf[dtype.BF16, float32]{x, bf16Kernels, JoinF32, [3]fewLauncher[dtype.BF16, float32]{FewBF16To32}, castLaunchers[dtype.BF16]{}, [3]leanLauncher[float32]{Lean16To32, Lean16To32}, TensorBF16To32})
	case Operands[dtype.F16, dtype.F16, float32]:
		return multiply(s, f, shape, halfOf[dtype.F16, float32]{Operands: x, kernels: f16Kernels, join: JoinF32, tensor: TensorF16To32})
	}
	panic("BUG: gemm: an element type of no kernel")
}

// halfOf is the operands of a product and the launchers for their types.
type halfOf[T gpu.Half, C any] struct {
	Operands[T, T, C]
	kernels func(Layout) kernels[T]
	join    func(*device.Stream, device.Blocks, device.Slice[float32], device.Slice[C], device.Slice[C], device.Slice[float32], joint) error
	few     [3]fewLauncher[T, C] // with tiles of 64 rows, 128 rows, and 64 rows and columns, or nil
	cast    castLaunchers[T]     // or nil
	lean    [3]leanLauncher[C]   // for at most 8, 16 and 32 rows, or nil
	tensor  func(*device.Stream, device.Blocks, device.Slice[T], device.Slice[T], device.Slice[C], device.Slice[C], device.Slice[float32], tile) error
}

// kernels are the launchers of Hopper's kernels for a layout. A launcher that does not exist is nil.
type kernels[T gpu.Half] struct {
	resident residentLauncher[T]
	curved   residentLauncher[T] // with activations
	parts    func(s *device.Stream, g device.Blocks, a, b device.TensorMap[gpu.Panel[T]], c device.Slice[float32], j job, o output) error
}

type residentLauncher[T gpu.Half] func(s *device.Stream, g device.Blocks, a, b, c, r device.TensorMap[gpu.Panel[T]], bias device.TensorMap[[1][128]float32], j job) error

func bf16Kernels(l Layout) kernels[dtype.BF16] {
	switch l {
	case NN:
		return kernels[dtype.BF16]{resident: ResidentNN, parts: PartsNN}
	case TN:
		return kernels[dtype.BF16]{resident: ResidentTN, parts: PartsTN}
	}
	return kernels[dtype.BF16]{ResidentNT, CurvedNT, PartsNT}
}

func f16Kernels(l Layout) kernels[dtype.F16] {
	if l == NT {
		return kernels[dtype.F16]{ResidentNTF16, CurvedNTF16, PartsNTF16}
	}
	return kernels[dtype.F16]{}
}

// plan checks the operands.
func plan[T gpu.Half, C any](s *device.Stream, shape Shape, x halfOf[T, C]) (planner[T, C], error) {
	width := x.width(shape)
	shape = shape.complete(width)
	err := x.check(shape)
	x.Operands = x.filled()
	return planner[T, C]{shape, width, s.Device().Info(), x}, err
}

// multiply computes the product in a form.
func multiply[T gpu.Half, C any](s *device.Stream, f Form, shape Shape, x halfOf[T, C]) error {
	p, err := plan(s, shape, x)
	if err != nil || shape.M == 0 || shape.N == 0 {
		return err
	}
	if f == Auto {
		f = p.choose()
	}
	if !p.fits(f) {
		return fmt.Errorf("%w: form %v of %+v with a workspace of %d elements", ErrShape, f, shape, x.Workspace.Len())
	}
	switch f {
	case Tiles:
		return p.tiles(s)
	case Split:
		return p.split(s)
	case Few:
		if n := p.casts(); n > 0 {
			return p.cast(s, n)
		}
		return p.few(s, p.parts())
	case Lean:
		return p.lean(s)
	}
	return p.plain(s)
}
