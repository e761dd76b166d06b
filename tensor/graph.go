package tensor

import (
	"context"
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/array"
)

// A Spec is the element type and the shape of a tensor.
type Spec struct {
	DType dtype.Type
	Shape []int
}

// A Graph is a function of tensors that has been recorded once and is launched as a whole, with new inputs each time.
// On a GPU, this takes the host less time than enqueuing the operations one by one. All launches use the same memory,
// which the Graph owns. A Graph belongs to one goroutine at a time.
type Graph struct {
	graph   *device.Graph
	buffers []*device.Buffer[byte]
	inputs  []*Tensor
	results []*Tensor
}

// Capture calls f with inputs of the given types and shapes, and records the operations without running them. f may call Record and Backward;
// then each launch adds to the derivatives of the parameters. f must not call From or Values, print tensors, or draw random numbers. Pass
// values that change from launch to launch as inputs. Call the step of an optimizer after the launch, not in f. The error is the first mistake
// in f, or matches device.ErrCapture if an operation cannot be recorded.
func Capture(ctx context.Context, stream *device.Stream, f func(s *Scope, in []*Tensor) []*Tensor, in ...Spec) (*Graph, error) {
	g := &Graph{}
	for _, spec := range in {
		if err := g.input(stream, spec); err != nil {
			return nil, errors.Join(err, g.Close())
		}
	}
	var err error
	g.graph, err = stream.Device().Capture(func(recorder *device.Stream) error {
		return RunOn(ctx, recorder, func(s *Scope) error { return g.record(s, f) })
	})
	if err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

// input allocates an input.
func (g *Graph) input(stream *device.Stream, spec Spec) error {
	n, err := product(spec.Shape)
	if err == nil {
		err = computable(spec.DType)
	}
	if err != nil {
		return mistake("Capture", err)
	}
	b, err := device.Make[byte](stream, n*spec.DType.Size())
	if err != nil {
		return mistake("Capture", err)
	}
	g.buffers = append(g.buffers, b)
	g.inputs = append(g.inputs, &Tensor{memory: &memory{bytes: b.All(), views: 1}, dtype: spec.DType, shape: spec.Shape, strides: rowMajor(spec.Shape)})
	return nil
}

// record calls the function, and keeps its results until the device frees them with the graph.
func (g *Graph) record(s *Scope, f func(s *Scope, in []*Tensor) []*Tensor) error {
	var in []*Tensor
	for _, t := range g.inputs {
		in = append(in, s.Use(t))
	}
	for _, t := range f(s, in) {
		if _, err := scopeOf("Capture", []*Tensor{s.anchor(), t}); err != nil {
			return err
		}
		c := s.hold(t.Contiguous())
		c.scope = nil
		g.results = append(g.results, c)
	}
	return nil
}

// Launch runs the function and returns its results. The mistake is ErrShape if the inputs do not have the types and shapes passed to Capture,
// and ErrScope if the graph was closed.
func (g *Graph) Launch(s *Scope, in ...*Tensor) []*Tensor {
	const name = "Launch"
	results := make([]*Tensor, len(g.results))
	err := g.enqueue(s, in)
	for i, r := range g.results {
		if err == nil {
			results[i] = s.copied(name, r)
		} else {
			results[i] = s.fail(err)
		}
	}
	if err != nil {
		s.fail(err)
	}
	return results
}

// enqueue copies the inputs and launches the graph.
func (g *Graph) enqueue(s *Scope, in []*Tensor) error {
	const name = "Launch"
	if _, err := scopeOf(name, append([]*Tensor{s.anchor()}, in...)); err != nil {
		return err
	}
	if g.graph == nil {
		return mistake(name, fmt.Errorf("%w: the graph was closed", ErrScope))
	}
	if len(in) != len(g.inputs) {
		return mistake(name, fmt.Errorf("%w: %d inputs, want %d", ErrShape, len(in), len(g.inputs)))
	}
	for i, t := range in {
		to := g.inputs[i]
		if t.dtype != to.dtype || !equal(t.shape, to.shape) {
			return mistake(name, fmt.Errorf("%w: input %d is %v %v, want %v %v", ErrShape, i, t.dtype, t.shape, to.dtype, to.shape))
		}
		if t.Len() == 0 {
			continue
		}
		if err := array.Move(s.stream, to.shape, to.array(), t.array()); err != nil {
			return mistake(name, err)
		}
	}
	if err := g.graph.Launch(s.stream); err != nil {
		return mistake(name, err)
	}
	return nil
}

// Close frees the graph's memory. The results of launches remain valid.
func (g *Graph) Close() error {
	var err error
	if g.graph != nil {
		err = g.graph.Close()
	}
	for _, b := range g.buffers {
		err = errors.Join(err, b.Close())
	}
	g.graph, g.buffers = nil, nil
	return err
}
