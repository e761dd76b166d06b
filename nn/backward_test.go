package nn_test

import (
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// TestBackward reads each range of the derivatives when Backward reports that it is complete, for parameters that are used once, several times, in
// functions that Backward repeats, and before and after those.
func TestBackward(t *testing.T) {
	onDevice(t, cpu.Open, func(s *tensor.Scope, _ *nn.Params) {
		p := nn.NewParams(s.Stream(), nn.Options{DType: dtype.Float32, Seed: 1})
		defer p.Close()
		var w []*nn.Parameter
		for range 7 {
			w = append(w, p.Uniform(1, 10, 10))
		}
		s.Record()
		x := tensor.Full(s, 1, dtype.Float32, 10, 10)
		x = x.MatMul(w[0].In(s)).MatMul(w[5].In(s))
		x = tensor.Checkpoint(func(x *tensor.Tensor) *tensor.Tensor {
			x = x.MatMul(w[1].In(s)).Tanh().MatMul(w[5].In(s))
			return tensor.Checkpoint(func(x *tensor.Tensor) *tensor.Tensor { return x.MatMul(w[2].In(s)).MatMul(w[3].In(s)).Tanh() }, x)
		}, x)
		x = x.MatMul(w[4].In(s)).MatMul(w[2].In(s))
		x = tensor.Checkpoint(func(x *tensor.Tensor) *tensor.Tensor { return x.MatMul(w[4].In(s)).Tanh() }, x)
		s.NoGrad(func() { w[6].In(s).Sum() })
		seen := map[int][]float32{}
		var order []int
		grads := func() []float32 {
			m, err := p.Memory(s)
			if err != nil {
				t.Fatal(err)
			}
			return values(t, s.Use(m.Grads))
		}
		if err := p.Backward(s, x.Mul(w[5].In(s)).Sum(), func(begin, end int) {
			seen[begin] = slices.Clone(grads()[begin:end])
			order = append(order, begin/128) // 100 elements and a gap
		}); err != nil {
			t.Fatal(err)
		}
		all := grads()
		for begin, got := range seen {
			if want := all[begin : begin+128]; !slices.Equal(got, want) {
				t.Errorf("range %d was not complete: %v, then %v", begin, got, want)
			}
			if slices.Max(got) == 0 {
				t.Errorf("range %d has no derivatives", begin)
			}
		}
		if want := []int{4, 3, 2, 1, 5, 0}; !slices.Equal(order, want) {
			t.Errorf("order %v, want %v", order, want)
		}
	})
}
