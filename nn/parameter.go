package nn

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// A Parameter is a tensor that is trained.
type Parameter struct {
	params      *Params
	shape       []int
	at          int       // where its elements begin among those of all parameters
	end         int       // where they and the gap after them end
	whole       int       // at, if the parameters are not divided
	initial     []float32 // until the memory is there
	value, grad *tensor.Tensor
	master      *tensor.Tensor // the value in float32, or nil if other processes have parts of it
}

// trained is the parameters of a Params that are trained. Their memory is allocated when the first is used, so that all of it is one
// array, on which an optimizer runs one kernel.
type trained struct {
	list   []*Parameter
	named  []Named
	size   int // of the array
	random *rand.Rand
	memory *Memory // nil until the first use
	err    error   // the first mistake

	division Division // or the zero value
}

// spacing is the number of elements to a multiple of which each parameter is aligned.
const spacing = 64

// Memory is the memory of all trained parameters. There are gaps of zeros between some parameters.
type Memory struct {
	Master   device.Slice[float32] // the parameters, or the part of them that this process has
	Values   *tensor.Tensor        // the values that layers compute with: Master, or a copy of it in bfloat16 if activations are bfloat16
	Grads    *tensor.Tensor        // the sums of the derivatives that Backward has computed
	Parts    []Part                // the elements that the optimizer of this process updates: all elements, if the parameters are not divided
	Division                       // World is 1 if the parameters are not divided

	parameters []*Parameter
	undivided  int       // the number of elements if the parameters are not divided
	divided    bool      // Master has Parts and vectors only
	vectors    int       // elements at the beginning
	assembled  []float32 // the values of all parameters, or nil: see Assemble
}

// Parameter returns a parameter with initial values in row-major order. All parameters must be made before the first parameter is used. After
// a mistake, In returns a void tensor with this mistake.
func (p *Params) Parameter(initial []float32, shape ...int) *Parameter {
	t, n := &p.trained, elementsOf(shape)
	q := &Parameter{params: p, shape: slices.Clone(shape), at: t.size, whole: t.size, initial: initial}
	switch {
	case n != len(initial) && !p.blank:
		t.fail(fmt.Errorf("%w: %d for %v", ErrValues, len(initial), shape))
	case t.memory != nil:
		t.fail(fmt.Errorf("%w, of shape %v", ErrPlaced, shape))
	default:
		t.list = append(t.list, q)
		t.size += roundUp(n, spacing)
	}
	return q
}

// elementsOf returns the number of elements of a shape.
func elementsOf(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// Uniform returns a parameter whose values are random numbers, uniformly distributed between -bound and bound.
func (p *Params) Uniform(bound float64, shape ...int) *Parameter {
	return p.sample(func(r *rand.Rand) float64 { return bound * (2*r.Float64() - 1) }, shape)
}

// Normal returns a parameter whose values are random numbers, normally distributed with mean 0 and the given standard deviation.
func (p *Params) Normal(deviation float64, shape ...int) *Parameter {
	return p.sample(func(r *rand.Rand) float64 { return deviation * r.NormFloat64() }, shape)
}

// sample returns a parameter with random values.
func (p *Params) sample(next func(r *rand.Rand) float64, shape []int) *Parameter {
	n := 1
	for _, d := range shape {
		n *= max(d, 0)
	}
	if p.blank {
		return p.Parameter(nil, shape...)
	}
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(next(p.trained.random))
	}
	return p.Parameter(values, shape...)
}

// fail keeps the first mistake.
func (t *trained) fail(err error) {
	if t.err == nil {
		t.err = err
	}
}

// Named is a parameter and the name of its tensor in a file.
type Named struct {
	Name string
	*Parameter
}

// Named returns the parameters loaded with LoadOptions.Train, in the order of the model's layers.
func (p *Params) Named() []Named { return slices.Clone(p.trained.named) }

// Shape returns the size of each dimension.
func (q *Parameter) Shape() []int { return slices.Clone(q.shape) }

// In returns the parameter as a tensor of s with the type of activations. While s records, Backward computes the derivative of the parameter.
func (q *Parameter) In(s *tensor.Scope) *tensor.Tensor {
	t := q.in(s, func() *tensor.Tensor { return q.value })
	if q.params.activations == dtype.Float16 {
		return t.To(dtype.Float16)
	}
	return t
}

// in is In for one of the tensors of the value.
func (q *Parameter) in(s *tensor.Scope, value func() *tensor.Tensor) *tensor.Tensor {
	if _, err := q.params.Memory(s); err != nil {
		return void(s, err)
	}
	t := value()
	if t == nil {
		return void(s, ErrDivided)
	}
	if s.Training() {
		return s.Parameter(t, q.grad)
	}
	return s.Use(t)
}

// void returns a tensor with a mistake.
func void(s *tensor.Scope, err error) *tensor.Tensor {
	none := tensor.Zeros(s, dtype.Float32, 0)
	return tensor.Op{Name: "Parameter", In: []*tensor.Tensor{none}, DType: dtype.Float32, Shape: []int{0}, Launch: func(*device.Stream, *tensor.Tensor) error { return err }}.Apply()
}

// Memory returns the memory of all trained parameters, for optimizers. The first call of Memory, or the first use of a parameter, allocates
// it. The error is the first mistake of a parameter, or an error of the device.
func (p *Params) Memory(s *tensor.Scope) (*Memory, error) {
	t := &p.trained
	if t.err == nil && t.memory == nil {
		m, err := p.place(s)
		if err != nil {
			t.fail(err)
		} else {
			t.memory = m
		}
	}
	return t.memory, t.err
}

// Changed declares that an optimizer has changed the parameters: see tensor.Changed.
func (m *Memory) Changed() {
	list := []*tensor.Tensor{m.Values}
	for _, q := range m.parameters {
		list = append(list, q.tensors()...)
	}
	tensor.Changed(list...)
}

// Layout returns, for each parameter, the index of its first element in Values and Grads, and the number of its elements.
func (m *Memory) Layout() (begins, sizes []int) {
	for _, q := range m.parameters {
		begins, sizes = append(begins, q.at), append(sizes, elementsOf(q.shape))
	}
	return begins, sizes
}

// place allocates the memory and uploads the initial values, whose memory on the host is released as it goes.
func (p *Params) place(s *tensor.Scope) (*Memory, error) {
	m, masters := p.arrange()
	var err error
	if m.Master, err = zeros[float32](p, masters); err != nil {
		return nil, err
	}
	if err := p.share(m); err != nil {
		return nil, err
	}
	for _, q := range p.trained.list {
		if !p.blank {
			if err := q.upload(p.stream, m, 0, q.initial); err != nil {
				return nil, err
			}
		}
		q.initial = nil
	}
	if s.Stream() == p.stream {
		return m, nil
	}
	return m, p.stream.Synchronize(s.Context())
}

// zeros returns cleared memory of n elements that belongs to p.
func zeros[T any](p *Params, n int) (device.Slice[T], error) {
	return own(p, device.Make[T], n)
}

// share makes the tensors of parameters, whose values are Master or an array of their own, and of derivatives.
func (p *Params) share(m *Memory) error {
	if !p.half() {
		return share(p, m, m.Master)
	}
	values, err := zeros[dtype.BF16](p, p.trained.size)
	if err != nil {
		return err
	}
	return share(p, m, values)
}

// share makes the tensors of parameters, whose values are given, and of derivatives.
func share[T tensor.Element](p *Params, m *Memory, values device.Slice[T]) error {
	grads, err := zeros[T](p, values.Len())
	if err != nil {
		return err
	}
	if m.Values, m.Grads, err = pair(values, grads, []int{values.Len()}); err != nil {
		return err
	}
	for _, q := range p.trained.list {
		n := elementsOf(q.shape)
		if q.value, q.grad, err = pair(values.Slice(q.at, q.at+n), grads.Slice(q.at, q.at+n), q.shape); err != nil {
			return err
		}
		if !m.has(q) {
			continue
		}
		if q.master, err = tensor.Wrap(m.Master.Slice(q.at, q.at+n), q.shape...); err != nil {
			return err
		}
	}
	return nil
}

// pair returns tensors of a value and a derivative.
func pair[T tensor.Element](value, grad device.Slice[T], shape []int) (v, g *tensor.Tensor, err error) {
	if v, err = tensor.Wrap(value, shape...); err != nil {
		return nil, nil, err
	}
	g, err = tensor.Wrap(grad, shape...)
	return v, g, err
}
