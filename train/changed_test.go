package train_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/train"
)

// TestStepBeforeBackward takes a step between the forward pass and Backward, whose derivatives would be those of other parameters.
func TestStepBeforeBackward(t *testing.T) {
	err := tensor.Run(t.Context(), kerneltest.Device(t, cpu.Open), func(s *tensor.Scope) error {
		params := nn.NewParams(s.Stream(), nn.Options{DType: dtype.Float32})
		l, opt := nn.NewLinear(params, 2, 1), train.NewSGD(params, train.SGDOptions{Rate: 0.1})
		defer func() {
			if err := errors.Join(opt.Close(), params.Close()); err != nil {
				t.Error(err)
			}
		}()
		s.Record()
		x := s.Variable(tensor.From(s, []float32{1, 2}, 1, 2))
		loss := l.Forward(x).Sum()
		if err := opt.Step(s); err != nil {
			return err
		}
		s.Backward(loss)
		return nil
	})
	if !errors.Is(err, tensor.ErrChanged) || !strings.Contains(err.Error(), "which was changed at changed_test.go:") {
		t.Errorf("%v, want ErrChanged", err)
	}
}
