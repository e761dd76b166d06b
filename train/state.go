package train

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/optimizer"
	"github.com/gopherwarp/gopherwarp/internal/stack"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// ErrOptions is the error of an optimizer whose options are out of range, and of Examples whose inputs and labels do not fit.
var ErrOptions = errors.New("train: option out of range")

// state is what optimizers have in common: the memory for moments, which begin at 0, and for clipping.
type state struct {
	params   *nn.Params
	rate     float64
	schedule Schedule // or nil
	clip     float64
	moments  int                     // arrays with an element for each parameter: 1 or 2
	buffer   *device.Buffer[float32] // the moments, then the scratch; nil before the first step
	eight    *eight                  // or nil, if moments have 32 bits
	scaler   *Scaler                 // or nil
	norm     float64                 // of the derivatives of the last step, if there is a scaler
	steps    int
	measured bool           // since the last step
	stepped  func(part int) // see StepEach; or nil
	err      error          // of options
}

// extra is the number of elements of the factor and the norm, and those that align what follows.
const extra = 64

// Steps returns the number of steps that were taken, without those that a Scaler skipped.
func (o *state) Steps() int { return o.steps }

// Close frees the optimizer's memory.
func (o *state) Close() error {
	var err error
	if o.eight != nil {
		err = o.eight.close()
	}
	if o.buffer != nil {
		err = errors.Join(err, o.buffer.Close())
	}
	o.buffer = nil
	return err
}

// kept returns the number of elements at the beginning of the buffer that a step depends on: those of the moments.
func (o *state) kept(m *nn.Memory) int {
	if o.eight != nil {
		return o.eight.scales + o.eight.exact
	}
	return o.moments * m.Own()
}

// Norm waits for the last step and returns the norm of all derivatives together in this step, before clipping. Without Clip and without a
// Scaler, it returns 0. If the step was skipped, the norm is not a finite number.
func (o *state) Norm(s *tensor.Scope) (float64, error) {
	if o.scaler != nil {
		return o.norm, s.Err()
	}
	if o.buffer == nil || o.clip == 0 {
		return 0, s.Err()
	}
	m, err := o.params.Memory(s)
	if err != nil {
		return 0, err
	}
	var norm [1]float32
	if err := device.Download(s.Stream(), norm[:], o.scratch(m).factor.Slice(1, 2)); err != nil {
		return 0, err
	}
	return float64(norm[0]), s.Stream().Synchronize(s.Context())
}

// now returns the learning rate of the next step.
func (o *state) now() float64 {
	if o.schedule == nil {
		return o.rate
	}
	return o.rate * o.schedule(o.steps)
}

// Clear sets all derivatives to 0, as Step does. Call Clear to abandon a batch after Backward.
func (o *state) Clear(s *tensor.Scope) error {
	m, err := o.params.Memory(s)
	if err != nil {
		return err
	}
	if m.Values.DType() == dtype.BFloat16 {
		return zero[dtype.BF16](s, m.Grads)
	}
	return zero[float32](s, m.Grads)
}

// zero sets the elements of x to 0.
func zero[T tensor.Element](s *tensor.Scope, x *tensor.Tensor) error {
	all, err := tensor.SliceOf[T](x)
	if err != nil {
		return err
	}
	var zero T
	return device.Fill(s.Stream(), all, zero)
}

// begin returns the memory of the parameters for a step.
func (o *state) begin(s *tensor.Scope) (*nn.Memory, error) {
	if o.err != nil {
		return nil, o.err
	}
	if s.Stream().Recording() {
		return nil, fmt.Errorf("train: %w: the numbers of a step in a graph would be the same at each launch", tensor.ErrRecord)
	}
	m, err := o.params.Memory(s)
	switch {
	case err != nil:
		return nil, cmp.Or(s.Err(), err)
	case s.Err() != nil:
		return nil, errors.Join(s.Err(), o.Clear(s))
	case o.buffer != nil:
		return m, nil
	}
	if err := o.open(s.Stream(), m); err != nil {
		var at stack.Stack
		at.Take()
		return nil, errors.Join(&tensor.Error{Op: "Step", Line: at.Line(), Err: err}, o.Close(), o.Clear(s))
	}
	return m, nil
}

// open allocates the memory of the optimizer.
func (o *state) open(s *device.Stream, m *nn.Memory) (err error) {
	table := []float32(nil)
	if o.eight != nil {
		if err := o.eight.open(s, m); err != nil {
			return err
		}
		table = optimizer.Tables()
	}
	length := o.kept(m) + scratchLen(m)
	if o.buffer, err = device.Make[float32](s, length+len(table)); err != nil || table == nil {
		return err
	}
	return device.UploadTo(s, o.buffer.All().Slice(length, length+len(table)), table)
}

// step clips the derivatives and calls update with the operands of the optimizer's kernel for each part.
func step[T interface {
	optimizer.Element
	tensor.Element
}](s *tensor.Scope, o *state, m *nn.Memory, update func(part int, x optimizer.Operands[T]) error) error {
	grads, err := tensor.SliceOf[T](m.Grads)
	if err != nil {
		return err
	}
	var values device.Slice[T] // if they are not Master
	if m.Values.DType() != dtype.Float32 {
		if values, err = tensor.SliceOf[T](m.Values); err != nil {
			return err
		}
	}
	var factor device.Slice[float32]
	if o.clip > 0 || o.scaler != nil {
		factor = o.scratch(m).factor
		if err := clip(s, o, m, grads); err != nil {
			return err
		}
	}
	if o.scaler != nil {
		finite, err := o.unscale(s, factor)
		if err != nil {
			return err
		}
		if o.scaler.update(!finite); !finite {
			return o.Clear(s)
		}
	}
	all, own, at := o.buffer.All(), m.Own(), 0
	for i, p := range m.Parts {
		n := p.End - p.Begin
		x := optimizer.Operands[T]{Master: m.Master.Slice(p.Master, p.Master+n), Grad: grads.Slice(p.Begin, p.End), Factor: factor}
		if values.Len() > 0 {
			x.Copy = values.Slice(p.Begin, p.End)
		}
		if o.eight == nil {
			x.First, x.Second = all.Slice(at, at+n), all.Slice(own+at, own+at+n)
		}
		if err := update(i, x); err != nil {
			return err
		}
		if at += n; o.stepped != nil {
			o.stepped(i)
		}
	}
	m.Changed()
	o.steps++
	return clearOthers(s, m, grads)
}

// clip computes the factor by which derivatives are multiplied.
func clip[T interface {
	optimizer.Element
	tensor.Element
}](s *tensor.Scope, o *state, m *nn.Memory, grads device.Slice[T]) error {
	x := o.scratch(m)
	if m.World == 1 {
		return optimizer.Clip(s.Stream(), optimizer.Clipping[T]{Limit: float32(o.clip), Grad: grads, Factor: x.factor, Workspace: x.sums})
	}
	if !o.measured {
		return ErrMeasure
	}
	o.measured = false
	return optimizer.Clip(s.Stream(), optimizer.Clipping[float32]{Limit: float32(o.clip), Grad: x.norms, Factor: x.factor, Workspace: x.sums.Slice(0, optimizer.Workspace(m.World))})
}

// between reports a value outside a range, which excludes its end.
func between(name string, v, least, end float64) error {
	if v >= least && v < end {
		return nil
	}
	return fmt.Errorf("%w: %s is %v", ErrOptions, name, v)
}
