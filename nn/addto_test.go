package nn_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/weights"
)

// withOnes calls f with a loaded layer whose matrix has ones, and returns the error of the Scope.
func withOnes(t *testing.T, f func(s *tensor.Scope, l *nn.Linear) error) error {
	t.Helper()
	stream, err := kerneltest.Device(t, cpu.Open).NewStream()
	if err != nil {
		t.Fatal(err)
	}
	p := nn.NewParams(stream, nn.Options{DType: dtype.Float32})
	var m struct {
		Down nn.Linear `weights:"down"`
	}
	m.Down = nn.Linear{In: 2, Out: 2}
	if err := nn.Load(p, &m, file(t, "", entry{"down.weight", weights.F32, []int{2, 2}, []float32{1, 1, 1, 1}}), nn.LoadOptions{}); err != nil {
		t.Fatal(err)
	}
	err = tensor.RunOn(t.Context(), stream, func(s *tensor.Scope) error { return f(s, &m.Down) })
	if err := errors.Join(p.Close(), stream.Close()); err != nil {
		t.Error(err)
	}
	return err
}

// has compares the elements of x.
func has(t *testing.T, what string, x *tensor.Tensor, want ...float32) {
	t.Helper()
	got, err := tensor.Values[float32](context.Background(), x)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%s: %v %v, want %v", what, got, err, want)
	}
}

// TestAddToRecorded adds to recorded tensors within NoGrad and in both runs of a Checkpoint, which must not change them.
func TestAddToRecorded(t *testing.T) {
	err := withOnes(t, func(s *tensor.Scope, l *nn.Linear) error {
		s.Record()
		x := s.Variable(tensor.From(s, []float32{0.5, 2}, 1, 2))
		h := x.Square()
		s.NoGrad(func() { has(t, "AddTo", l.AddTo(h, h.Scale(1)), 4.5, 8.25) })
		has(t, "a recorded tensor", h, 0.25, 4)
		s.Backward(h.Square().Sum())
		has(t, "derivative of x^4", x.Grad(), 0.5, 32)

		s.Record()
		y := tensor.Checkpoint(func(x *tensor.Tensor) *tensor.Tensor { return l.AddTo(x, x).Square() }, x)
		has(t, "Checkpoint", y, 9, 20.25)
		s.Backward(y.Sum())
		has(t, "operand of a Checkpoint", x, 0.5, 2)
		has(t, "derivative of the sum of (x+sum(x))^2", x.Grad(), 2*(2*3+4.5), 2*(3+2*4.5))
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestAddToChanges adds to constants whose elements a derivative needs.
func TestAddToChanges(t *testing.T) {
	for name, f := range map[string]func(s *tensor.Scope, l *nn.Linear, x, c *tensor.Tensor) *tensor.Tensor{
		"recording": func(_ *tensor.Scope, l *nn.Linear, x, c *tensor.Tensor) *tensor.Tensor {
			y := x.Mul(c)
			l.AddTo(c, c.Scale(1))
			return y
		},
		"NoGrad": func(s *tensor.Scope, l *nn.Linear, x, c *tensor.Tensor) *tensor.Tensor {
			y := x.Mul(c)
			s.NoGrad(func() { l.AddTo(c, c.Scale(1)) })
			return y
		},
		"a view in NoGrad": func(s *tensor.Scope, l *nn.Linear, x, _ *tensor.Tensor) *tensor.Tensor {
			y := x.Exp()
			s.NoGrad(func() { l.AddTo(y.Reshape(1, 2), x) })
			return y
		},
		"a view in a Checkpoint": func(_ *tensor.Scope, l *nn.Linear, x, _ *tensor.Tensor) *tensor.Tensor {
			return tensor.Checkpoint(func(x *tensor.Tensor) *tensor.Tensor { return l.AddTo(x.Reshape(1, 2), x.Scale(1)) }, x)
		},
	} {
		err := withOnes(t, func(s *tensor.Scope, l *nn.Linear) error {
			s.Record()
			x, c := s.Variable(tensor.From(s, []float32{0.5, 2}, 1, 2)), tensor.From(s, []float32{1, 2}, 1, 2)
			s.Backward(f(s, l, x, c).Sum())
			return nil
		})
		if !errors.Is(err, tensor.ErrChanged) {
			t.Errorf("%s: %v, want %v", name, err, tensor.ErrChanged)
		}
	}
}

// TestAddToViews adds to tensors whose elements are not contiguous: the results are those of contiguous ones, also while recording.
func TestAddToViews(t *testing.T) {
	for _, record := range []bool{false, true} {
		err := withOnes(t, func(s *tensor.Scope, l *nn.Linear) error {
			sum := tensor.From(s, []float32{1, 2, 3, 4, 5, 6}, 2, 3).T()
			if record {
				s.Record()
				sum = s.Variable(sum)
			}
			has(t, "a transposed tensor", l.AddTo(sum, tensor.Full(s, 1, dtype.Float32, 3, 2)), 3, 6, 4, 7, 5, 8)
			has(t, "its elements", sum, 1, 4, 2, 5, 3, 6)
			wide := tensor.From(s, []float32{1, 2, 3, 4}, 4, 1).Expand(4, 2)
			has(t, "an expanded tensor", l.AddTo(wide, tensor.Full(s, 1, dtype.Float32, 4, 2)), 3, 3, 4, 4, 5, 5, 6, 6)
			rows := tensor.From(s, []float32{1, 2, 3, 4, 5, 6}, 3, 2)
			part := rows.Slice(0, 1, 3) // is contiguous
			if got := l.AddTo(part, tensor.Full(s, 1, dtype.Float32, 2, 2)); got != part {
				t.Errorf("AddTo returned %v", got)
			}
			has(t, "rows with a view that was changed", rows, 1, 2, 5, 6, 7, 8)
			return nil
		})
		if err != nil {
			t.Errorf("recording %v: %v", record, err)
		}
	}
}
