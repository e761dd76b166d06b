package tensor_test

import (
	"errors"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// onGraph captures a function of tensors of float32 [2 3] and int32 [2], and calls use with the graph.
func onGraph(t *testing.T, open kerneltest.Opener, f func(s *tensor.Scope, in []*tensor.Tensor) []*tensor.Tensor, use func(s *tensor.Scope, g *tensor.Graph) error) error {
	t.Helper()
	dev := kerneltest.Device(t, open)
	err := tensor.Run(t.Context(), dev, func(s *tensor.Scope) error {
		specs := []tensor.Spec{{DType: dtype.Float32, Shape: []int{2, 3}}, {DType: dtype.Int32, Shape: []int{2}}}
		g, err := tensor.Capture(t.Context(), s.Stream(), f, specs...)
		if err != nil {
			return err
		}
		return errors.Join(use(s, g), g.Close())
	})
	if owners := dev.Owners(); len(owners) != 0 {
		t.Errorf("memory that was not freed: %v", owners)
	}
	return err
}

// TestCapture launches a graph with derivatives for several inputs and compares the results with those of the operations.
func TestCapture(t *testing.T) {
	f := func(s *tensor.Scope, in []*tensor.Tensor) []*tensor.Tensor {
		s.Record()
		x := s.Variable(in[0])
		loss := x.Square().CrossEntropy(in[1])
		s.Backward(loss)
		return []*tensor.Tensor{loss, x.Grad(), in[0].T(), in[1]}
	}
	for name, open := range kerneltest.Executions() {
		t.Run(name, func(t *testing.T) {
			err := onGraph(t, open, f, func(s *tensor.Scope, g *tensor.Graph) error {
				var results, want [][]*tensor.Tensor
				for i := range 3 {
					x := tensor.From(s, []float32{1, 2, 3, 4, float32(i), 6}, 2, 3).Scale(0.5)
					labels := tensor.From(s, []int32{0, int32(i)}, 2)
					results = append(results, g.Launch(s, x, labels))
					want = append(want, f(s, []*tensor.Tensor{x, labels}))
				}
				for i, list := range results { // which later launches do not change
					for k, r := range list {
						near(t, name, numbersOf(t, r), numbersOf(t, want[i][k]), 0)
					}
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestMistakesOfGraphs checks what cannot be captured, and inputs that do not fit.
func TestMistakesOfGraphs(t *testing.T) {
	type T = *tensor.Tensor
	same := func(s *tensor.Scope, in []T) []T { return in }
	none := func(s *tensor.Scope, g *tensor.Graph) error { return nil }
	x := func(s *tensor.Scope) T { return tensor.Zeros(s, dtype.Float32, 2, 3) }
	for name, c := range map[string]struct {
		cause error
		f     func(s *tensor.Scope, in []T) []T
		use   func(s *tensor.Scope, g *tensor.Graph) error
	}{
		"From":           {device.ErrCapture, func(s *tensor.Scope, in []T) []T { return []T{tensor.From(s, []float32{1}, 1)} }, none},
		"a mistake":      {tensor.ErrShape, func(s *tensor.Scope, in []T) []T { return []T{in[0].MatMul(in[0])} }, none},
		"a nil result":   {tensor.ErrValue, func(s *tensor.Scope, in []T) []T { return []T{nil} }, none},
		"one input":      {tensor.ErrShape, same, func(s *tensor.Scope, g *tensor.Graph) error { g.Launch(s, x(s)); return nil }},
		"another shape":  {tensor.ErrShape, same, func(s *tensor.Scope, g *tensor.Graph) error { g.Launch(s, x(s), x(s)); return nil }},
		"a nil input":    {tensor.ErrValue, same, func(s *tensor.Scope, g *tensor.Graph) error { g.Launch(s, x(s), nil); return nil }},
		"after Close":    {tensor.ErrScope, same, func(s *tensor.Scope, g *tensor.Graph) error { return closed(s, g, x(s)) }},
		"used elsewhere": {tensor.ErrScope, same, func(s *tensor.Scope, g *tensor.Graph) error { return elsewhere(t, g) }},
	} {
		if err := onGraph(t, cpu.Open, c.f, c.use); !errors.Is(err, c.cause) {
			t.Errorf("%s: %v, want %v", name, err, c.cause)
		}
	}
	if _, err := tensor.Capture(t.Context(), kerneltest.Stream(t, cpu.Open), same, tensor.Spec{DType: dtype.Float32, Shape: []int{-1}}); !errors.Is(err, tensor.ErrShape) {
		t.Errorf("an input of a negative size: %v", err)
	}
}

// closed launches a graph after Close.
func closed(s *tensor.Scope, g *tensor.Graph, x *tensor.Tensor) error {
	if err := g.Close(); err != nil {
		return err
	}
	g.Launch(s, x, tensor.Zeros(s, dtype.Int32, 2))
	return nil
}

// elsewhere launches a graph in a Scope that has ended.
func elsewhere(t *testing.T, g *tensor.Graph) error {
	var ended *tensor.Scope
	if err := onCPU(t, func(s *tensor.Scope) error { ended = s; return nil }); err != nil {
		return err
	}
	r := g.Launch(ended)
	return r[0].Err()
}
