package tensor_test

import (
	"errors"
	"regexp"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// TestBackResults returns wrong numbers of derivatives from the function Back of an Op with two operands.
func TestBackResults(t *testing.T) {
	type T = *tensor.Tensor
	for _, c := range []struct {
		want     string // "" for no mistake
		constant bool   // the second operand
		back     func(g T) []T
	}{
		{"Back returned 0 derivatives for 2 operands", false, func(T) []T { return nil }},
		{"Back returned 1 derivatives for 2 operands", false, func(g T) []T { return []T{g} }},
		{"Back returned 3 derivatives for 2 operands", false, func(g T) []T { return []T{g, g, g} }},
		{"Back returned nil for operand 1 of 2, whose derivative is wanted", false, func(g T) []T { return []T{g, nil} }},
		{"Back returned nil for operand 0 of 2, whose derivative is wanted", true, func(g T) []T { return []T{nil, g} }},
		{"Back returned 1 derivatives for 2 operands", true, func(g T) []T { return []T{g} }},
		{"", false, func(g T) []T { return []T{g, g} }},
		{"", true, func(g T) []T { return []T{g, nil} }},
	} {
		err := onCPU(t, func(s *tensor.Scope) error {
			s.Record()
			x, w := s.Variable(tensor.From(s, []float32{3, 4}, 2)), tensor.From(s, []float32{1, 1}, 2)
			if !c.constant {
				w = s.Variable(w)
			}
			y := tensor.Op{Name: "MyOp", In: []T{x, w}, DType: x.DType(), Shape: x.Shape(),
				Launch: func(stream *device.Stream, out T) error {
					v, err := tensor.SlicesOf[float32](x, out)
					if err != nil {
						return err
					}
					return device.Copy(stream, v[1], v[0])
				},
				Back: func(d *tensor.Derivative) []T { return c.back(d.Grad) },
			}.Apply()
			s.Backward(y.Sum())
			if c.want == "" {
				has(t, "derivative", x.Grad(), 1, 1)
			}
			return nil
		})
		if c.want == "" {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		if want := regexp.MustCompile(`^tensor: MyOp: shapes do not fit: ` + c.want + ` \(back_test.go:\d+\)$`); !errors.Is(err, tensor.ErrShape) || !want.MatchString(err.Error()) {
			t.Errorf("%v, want %v", err, want)
		}
	}
}

// TestIndependentCheckpoint has a Checkpoint whose result does not depend on its operand.
func TestIndependentCheckpoint(t *testing.T) {
	err := onCPU(t, func(s *tensor.Scope) error {
		s.Record()
		x, w := s.Variable(tensor.From(s, []float32{3, 4}, 2)), s.Variable(tensor.From(s, []float32{5, 6}, 2))
		y := tensor.Checkpoint(func(*tensor.Tensor) *tensor.Tensor { return w.Square() }, x)
		y = y.Add(tensor.Checkpoint(func(*tensor.Tensor) *tensor.Tensor { return tensor.From(s, []float32{1, 2}, 2) }, x))
		s.Backward(y.Sum())
		has(t, "x", x.Grad(), 0, 0)
		has(t, "w", w.Grad(), 10, 12)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
