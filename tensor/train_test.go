package tensor_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// TestTraining trains a perceptron with a hidden layer to tell the points inside a circle from those outside.
func TestTraining(t *testing.T) {
	run(t, func(t *testing.T, s *tensor.Scope) error {
		steps := 150
		if s.Stream().Device().Info().Kind == "interp" {
			steps = 3
		}
		r := rand.New(rand.NewPCG(1, 2))
		points, labels := make([]float32, 2*128), make([]int64, 128)
		for i := range labels {
			x, y := 4*r.Float64()-2, 4*r.Float64()-2
			points[2*i], points[2*i+1] = float32(x), float32(y)
			if math.Hypot(x, y) < 1.3 {
				labels[i] = 1
			}
		}
		x, want := tensor.From(s, points, 128, 2), tensor.From(s, labels, 128)
		params := [][2]*tensor.Tensor{} // values and derivatives
		for _, shape := range [][]int{{2, 16}, {16}, {16, 2}, {2}} {
			params = append(params, [2]*tensor.Tensor{random(r, dtype.Float32, shape...).upload(s, dtype.Float32, 0), nil})
		}
		var first, last float32
		buffers := 0
		for step := range steps {
			s.Tidy(func() *tensor.Tensor {
				s.Record()
				var v [4]*tensor.Tensor
				for i := range params {
					v[i] = s.Variable(params[i][0])
				}
				loss := x.MatMul(v[0]).Add(v[1]).Tanh().MatMul(v[2]).Add(v[3]).CrossEntropy(want)
				s.Backward(loss)
				for i := range params {
					params[i][0] = params[i][0].Sub(v[i].Grad().Scale(0.5))
					s.Keep(params[i][0])
				}
				value, err := tensor.Values[float32](t.Context(), loss)
				if err != nil {
					t.Fatal(err)
				}
				if last = value[0]; step == 0 {
					first = last
				}
				return nil
			})
			n := 0
			for _, o := range s.Stream().Device().Owners() {
				n += o.Buffers
			}
			if step > 1 && n > buffers+len(params) {
				t.Fatalf("%d buffers after step %d, %d after that before", n, step, buffers)
			}
			buffers = n
		}
		if steps > 100 && !(last < first/4) || !(last < first) {
			t.Errorf("the loss went from %v to %v", first, last)
		}
		return nil
	})
}
