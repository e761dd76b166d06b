package tensor_test

import (
	"errors"
	"regexp"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// has compares the elements of x.
func has(t *testing.T, what string, x *tensor.Tensor, want ...float32) {
	t.Helper()
	got, err := tensor.Values[float32](t.Context(), x)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%s: %v %v, want %v", what, got, err, want)
	}
}

// TestVariableOfEarlierRecording uses variables in several recordings.
func TestVariableOfEarlierRecording(t *testing.T) {
	err := onCPU(t, func(s *tensor.Scope) error {
		s.Record()
		v := s.Variable(tensor.From(s, []float32{1, 2}, 2))
		alias := s.Use(v)
		s.Backward(v.Scale(10).Sum())
		has(t, "loss 1", v.Grad(), 10, 10)
		for i := range 3 {
			s.Record()
			s.Backward(v.Scale(float64(i)).Add(alias).Sum())
			has(t, "loss of a variable and its alias", v.Grad(), float32(i+1), float32(i+1))
		}
		s.Record()
		w := s.Variable(tensor.Full(s, 3, dtype.Float32, 2))
		s.Backward(v.Mul(w).Sum())
		has(t, "v", v.Grad(), 3, 3)
		has(t, "w", w.Grad(), 1, 2)
		s.Record()
		s.Backward(w.Square().Sum())
		has(t, "v, on which the loss does not depend", v.Grad(), 0, 0)
		has(t, "w", w.Grad(), 6, 6)
		s.Record()
		s.Backward(tensor.Checkpoint(func(x *tensor.Tensor) *tensor.Tensor { return x.Mul(v) }, w).Sum())
		has(t, "v, inside a Checkpoint", v.Grad(), 3, 3)
		has(t, "w, of a Checkpoint", w.Grad(), 1, 2)
		s.Record()
		s.Backward(v.Slice(0, 1, 2).Reshape())
		has(t, "an element of v", v.Grad(), 0, 1)
		one := v.Slice(0, 0, 1)
		s.Record()
		one = s.Variable(one)
		s.Backward(one)
		s.Record()
		s.Backward(one)
		has(t, "the loss itself", one.Grad(), 1)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestParameterOfEarlierRecording makes the tensor of a parameter once, and accumulates its derivative in several recordings.
func TestParameterOfEarlierRecording(t *testing.T) {
	type T = *tensor.Tensor
	for name, f := range map[string]func(w, x T) T{
		"Mul":        T.Mul,
		"Checkpoint": func(w, x T) T { return tensor.Checkpoint(func(x T) T { return w.Mul(x) }, x) },
		"with a recorded operand of a Checkpoint": func(w, x T) T {
			return tensor.Checkpoint(func(x T) T { return x.Mul(w) }, x.Scope().Variable(x))
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := onCPU(t, func(s *tensor.Scope) error {
				memory, err := device.Make[float32](s.Stream(), 2)
				if err != nil {
					return err
				}
				defer memory.Close()
				grad, err := tensor.Wrap(memory.All(), 2)
				if err != nil {
					return err
				}
				var w T
				for i := range 3 {
					s.Record()
					if w == nil {
						w = s.Parameter(tensor.From(s, []float32{1, 2}, 2), grad)
					}
					y := f(w, tensor.Full(s, 10, dtype.Float32, 2))
					finals := 0
					s.BackwardEach(y.Sum(), func(g T) {
						finals++
						has(t, "the sum of derivatives", s.Use(g), float32(10*i+10), float32(10*i+10))
					})
					if finals != 1 {
						t.Errorf("recording %d: %d calls of final, want 1", i, finals)
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

// TestResultOfEarlierRecording uses the results of a recording in the next one. It is a mistake if the loss depends on one.
func TestResultOfEarlierRecording(t *testing.T) {
	type T = *tensor.Tensor
	const line = `earlier_test.go:\d+`
	for name, c := range map[string]struct {
		f    func(v, h T) T // v is a variable, h a result
		want string
	}{
		"the loss":                              {func(v, h T) T { return h.Sum() }, `tensor: Sum: recording: Backward needs the derivative of an operand of float32 \[2\], a result of the recording that ended at ` + line + ` \(` + line + `\)`},
		"a part of it":                          {func(v, h T) T { return v.Mul(h).Sum() }, `tensor: Mul: recording: Backward needs .* ended at ` + line + ` \(` + line + `\)`},
		"a Checkpoint":                          {func(v, h T) T { return tensor.Checkpoint(T.Exp, h).Sum() }, `tensor: Checkpoint: recording: .* ended at ` + line + ` \(` + line + `\)`},
		"the result of a Checkpoint's function": {func(v, h T) T { return tensor.Checkpoint(func(T) T { return h }, v).Sum() }, `tensor: Checkpoint: recording: .* ended at ` + line + ` \(` + line + `\)`},
	} {
		t.Run(name, func(t *testing.T) {
			err := onCPU(t, func(s *tensor.Scope) error {
				s.Record()
				v := s.Variable(tensor.From(s, []float32{1, 2}, 2))
				h := v.Exp()
				s.Backward(h.Sum())
				s.Record()
				s.Backward(c.f(v, h))
				return nil
			})
			if !errors.Is(err, tensor.ErrRecord) || !regexp.MustCompile(c.want).MatchString(err.Error()) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
	err := onCPU(t, func(s *tensor.Scope) error {
		s.Record()
		v := s.Variable(tensor.From(s, []float32{1, 2}, 2))
		loss := v.Square().Sum()
		s.Backward(loss)
		s.Record()
		s.Backward(loss)
		return nil
	})
	want := regexp.MustCompile(`tensor: Backward: recording: the loss is a result of the recording that ended at ` + line + ` \(` + line + `\)`)
	if !errors.Is(err, tensor.ErrRecord) || !want.MatchString(err.Error()) {
		t.Errorf("%v, want %v", err, want)
	}
}

// TestValueOfEarlierRecording uses the results of recordings in the next one as values.
func TestValueOfEarlierRecording(t *testing.T) {
	err := onCPU(t, func(s *tensor.Scope) error {
		var v, total, again, constant *tensor.Tensor
		for i := range 3 {
			s.Record()
			if v == nil {
				v = s.Variable(tensor.From(s, []float32{1, 2}, 2))
				total, again = v.Sum(), v.Exp()
			}
			loss := v.Scale(float64(i)).Sum()
			total = total.Add(loss) // is recorded, but no loss depends on it
			s.NoGrad(func() { constant = again.Scale(0) })
			s.Backward(loss.Add(constant.Sum()))
			has(t, "derivative", v.Grad(), float32(i), float32(i))
		}
		has(t, "total", total, 3+0+3+6)
		s.Record()
		s.Backward(s.Variable(total.Unsqueeze(0)).Square().Sum())
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestForgottenOfEarlierRecording uses a result that was forgotten in the recording after its own, whose Backward cannot compute it again.
func TestForgottenOfEarlierRecording(t *testing.T) {
	err := onCPU(t, func(s *tensor.Scope) error {
		s.Record()
		v := s.Variable(tensor.From(s, []float32{3, 4, 4, 3}, 2, 2))
		var want []float32
		loss := s.Tidy(func() *tensor.Tensor {
			gain := tensor.From(s, []float32{1, 1}, 2)
			y := v.RMSNorm(gain, tensor.NormOptions{}).Forget()
			s.Backward(y.Sum())
			var err error
			if want, err = tensor.Values[float32](t.Context(), y); err != nil {
				t.Error(err)
			}
			s.Record()
			return s.Variable(y).Mul(v).Sum()
		})
		for range 4 {
			tensor.Full(s, 7, dtype.Float32, 2) // in the memory of gain
		}
		s.Backward(loss)
		has(t, "derivative", v.Grad(), want...)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
