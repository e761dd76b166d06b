package tensor

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
)

// An Op is an operation of your own: it runs kernels on the memory of tensors.
//
//	y := tensor.Op{Name: "Softsign", In: []*tensor.Tensor{x}, DType: x.DType(), Shape: x.Shape(),
//		Launch: func(s *device.Stream, out *tensor.Tensor) error { ... }}.Apply()
type Op struct {
	Name  string     // the name of the operation in errors
	In    []*Tensor  // the operands; at least one must have a Scope
	DType dtype.Type // the element type of the result
	Shape []int      // the shape of the result

	// Launch enqueues kernels that write every element of out, a contiguous tensor. SliceOf returns the memory of tensors.
	Launch func(s *device.Stream, out *Tensor) error

	// Back returns the derivative of the loss with respect to each operand, or nil for an operand that is not Wanted. A derivative has the
	// shape of the operand, or the shape to which the operand was broadcast; Backward then sums over the broadcast dimensions. If Back is nil,
	// the result is a constant. The mistake is ErrShape if a derivative is missing.
	Back func(d *Derivative) []*Tensor

	// Save lists the tensors that Back needs. Back must take them from d.Saved; other tensors may already be freed when Back is called.
	// SaveResult also saves the result, as d.Result.
	Save       []*Tensor
	SaveResult bool

	// forgets means that the result may be forgotten: Launch needs only the tensors of Save, and does not ask for their Scope.
	forgets bool
}

// Apply returns the result of the operation. The result is void if an operand is void, or if Launch fails.
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
	s.record(out, step{name: o.Name, in: o.In, back: o.Back, save: o.Save, saveResult: o.SaveResult, checked: true})
	if out.node != nil && o.forgets {
		out.node.launch = o.Launch
	}
	return out
}
