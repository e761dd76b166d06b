package tensor_test

import (
	"errors"
	"regexp"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// overwrite changes the elements of x.
func overwrite(s *tensor.Scope, x *tensor.Tensor) error {
	to, err := tensor.SliceOf[float32](x)
	if err != nil {
		return err
	}
	tensor.Changed(x)
	return device.Fill(s.Stream(), to, 5)
}

// TestChanged changes operands and results before Backward: it is a mistake if a derivative needs them, also through a view, and the
// error names both lines.
func TestChanged(t *testing.T) {
	type T = *tensor.Tensor
	for name, c := range map[string]struct {
		f       func(x T) T
		operand bool // the operand is changed, and otherwise the result
		mistake bool
	}{
		"the operand of Mul":     {func(x T) T { return x.Mul(x) }, true, true},
		"an operand by its view": {func(x T) T { return x.Reshape(2, 1).Log() }, true, true},
		"the result of Exp":      {func(x T) T { return x.Exp() }, false, true},
		"the operand of Exp":     {func(x T) T { return x.Exp() }, true, false},
		"the operand of Scale":   {func(x T) T { return x.Scale(2) }, true, false},
		"the result of Mul":      {func(x T) T { return x.Mul(x) }, false, false},
		"in a Checkpoint":        {func(x T) T { return tensor.Checkpoint(T.Square, x) }, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			err := onCPU(t, func(s *tensor.Scope) error {
				x := tensor.From(s, []float32{1, 2}, 2)
				s.Record()
				y := c.f(s.Variable(x))
				changed := y
				if c.operand {
					changed = x
				}
				if err := overwrite(s, changed); err != nil {
					return err
				}
				s.Backward(y.Sum())
				return nil
			})
			if !c.mistake {
				if err != nil {
					t.Error(err)
				}
				return
			}
			both := regexp.MustCompile(`Backward: changed in the meantime: the derivative of \w+ needs its (operand|result) of float32 \[2( 1)?\], which was changed at changed_test.go:\d+ \(changed_test.go:\d+\)`)
			if !errors.Is(err, tensor.ErrChanged) || !both.MatchString(err.Error()) {
				t.Errorf("%v", err)
			}
		})
	}
}
