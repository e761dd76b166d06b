package train_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/train"
)

// perceptron is a network of two layers with its optimizer.
type perceptron struct {
	params  *nn.Params
	in, out nn.Linear
	opt     *train.AdamW
}

func newPerceptron(s *tensor.Scope, of dtype.Type) *perceptron {
	p := nn.NewParams(s.Stream(), nn.Options{DType: of, Seed: 4})
	schedule := train.WarmUp(2, train.Cosine(6, 0.1))
	return &perceptron{p, nn.NewLinear(p, 6, 16), nn.NewLinear(p, 16, 4), train.NewAdamW(p, train.AdamWOptions{Rate: 0.05, Clip: 1, Schedule: schedule})}
}

func (m *perceptron) close() error { return errors.Join(m.opt.Close(), m.params.Close()) }

// pass is the forward and backward pass of inputs and labels. It returns the loss.
func (m *perceptron) pass(s *tensor.Scope, in []*tensor.Tensor) []*tensor.Tensor {
	s.Record()
	loss := m.out.Forward(m.in.Forward(in[0].To(m.params.Activations())).GELU()).CrossEntropy(in[1])
	s.Backward(loss)
	return []*tensor.Tensor{loss}
}

// train returns the losses of some steps, by operations or by a graph.
func (m *perceptron) train(t *testing.T, s *tensor.Scope, captured bool) (losses []float32) {
	t.Helper()
	pass := m.pass
	if captured {
		g, err := tensor.Capture(t.Context(), s.Stream(), m.pass, tensor.Spec{DType: dtype.Float32, Shape: []int{8, 6}}, tensor.Spec{DType: dtype.Int32, Shape: []int{8}})
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		pass = func(s *tensor.Scope, in []*tensor.Tensor) []*tensor.Tensor { return g.Launch(s, in...) }
	}
	for step := range 6 {
		x, labels := make([]float32, 8*6), make([]int32, 8)
		for i := range x {
			x[i] = float32((i*7+step*5)%13)/8 - 0.75
		}
		for i := range labels {
			labels[i] = int32((i + step) % 4)
		}
		loss := pass(s, []*tensor.Tensor{tensor.From(s, x, 8, 6), tensor.From(s, labels, 8)})[0]
		if err := m.opt.Step(s); err != nil {
			t.Fatal(err)
		}
		v, err := tensor.Values[float32](t.Context(), loss)
		if err != nil {
			t.Fatal(err)
		}
		losses = append(losses, v[0])
	}
	return losses
}

// TestCapturedStep compares the losses and the parameters of steps whose passes are a graph with those without, bit for bit.
func TestCapturedStep(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		for _, of := range []dtype.Type{dtype.Float32, dtype.BFloat16} {
			t.Run(name+"/"+of.String(), func(t *testing.T) {
				dev := kerneltest.Device(t, open)
				var losses, params [2][]float32
				for i, captured := range []bool{false, true} {
					err := tensor.Run(t.Context(), dev, func(s *tensor.Scope) error {
						m := newPerceptron(s, of)
						defer m.close()
						losses[i] = m.train(t, s, captured)
						memory, err := m.params.Memory(s)
						if err != nil {
							return err
						}
						params[i], err = tensor.Values[float32](t.Context(), s.Use(memory.Values).To(dtype.Float32))
						return err
					})
					if err != nil {
						t.Fatal(err)
					}
				}
				if !slices.Equal(losses[0], losses[1]) || !slices.Equal(params[0], params[1]) || losses[0][5] == losses[0][0] {
					t.Errorf("losses %v, captured %v", losses[0], losses[1])
				}
			})
		}
	}
}

// TestStepInGraph tests that a graph has no step, whose numbers would not change.
func TestStepInGraph(t *testing.T) {
	err := tensor.Run(t.Context(), kerneltest.Device(t, cpu.Open), func(s *tensor.Scope) error {
		m := newPerceptron(s, dtype.Float32)
		defer m.close()
		_, err := s.Stream().Device().Capture(func(stream *device.Stream) error {
			return tensor.RunOn(t.Context(), stream, func(s *tensor.Scope) error { return m.opt.Step(s) })
		})
		return err
	})
	if !errors.Is(err, tensor.ErrRecord) {
		t.Errorf("%v, want ErrRecord", err)
	}
}
