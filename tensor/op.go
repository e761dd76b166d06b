package tensor

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
)

// An Op is an operation that a program adds: a kernel on the memory of tensors.
//
//	y := tensor.Op{Name: "Softsign", In: []*tensor.Tensor{x}, DType: x.DType(), Shape: x.Shape(),
//		Launch: func(s *device.Stream, out *tensor.Tensor) error { ... }}.Apply()
type Op struct {
	Name  string     // in errors
	In    []*Tensor  // at least one has a Scope
	DType dtype.Type // of the result
	Shape []int      // of the result

	// Launch enqueues kernels that write every element of out, which is contiguous. SliceOf returns the memory of tensors.
	Launch func(s *device.Stream, out *Tensor) error

	// Back returns the derivative of a loss with respect to each operand, or nil for one that is not Wanted. A derivative has the shape
	// of the operand or the one to which it was broadcast, over which Backward sums. Without Back, the result is a constant.
	Back func(d *Derivative) []*Tensor

	// Save lists the tensors that Back needs; it finds them in d.Saved, because others may be freed before. SaveResult
	// saves the result too.
	Save       []*Tensor
	SaveResult bool
}

// Apply returns the result of the operation. It is void if an operand is, or if Launch fails.
func (o Op) Apply() *Tensor {
	s, err := scopeOf(o.Name, o.In)
	if err != nil {
		return failed(s, err)
	}
	out := s.empty(o.Name, o.DType, slices.Clone(o.Shape))
	if out.err != nil {
		return out
	}
	if err := o.Launch(s.stream, out); err != nil {
		return s.fail(mistake(o.Name, err))
	}
	s.record(out, step{name: o.Name, in: o.In, back: o.Back, save: o.Save, saveResult: o.SaveResult})
	return out
}
