package tensor_test

import (
	"context"
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/tensor"
)

func ExampleScope_Record() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		s.Record()
		x := s.Variable(tensor.From(s, []float32{3}, 1))
		s.Backward(x.Square().Sum())
		show(x.Grad())
		s.Record() // again, for other variables
		y := s.Variable(x)
		s.Backward(y.Exp().Sum())
		show(y.Grad())
		return nil
	})
	// Output:
	// float32 [1]
	// [6.]
	// float32 [1]
	// [20.085537]
}

func ExampleScope_NoGrad() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		s.Record()
		x := s.Variable(tensor.From(s, []float32{3}, 1))
		var size *tensor.Tensor
		s.NoGrad(func() { size = x.Square() }) // a constant
		s.Backward(x.Div(size).Sum())
		show(x.Grad())
		return nil
	})
	// Output:
	// float32 [1]
	// [0.11111111]
}

func ExampleScope_Recording() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		fmt.Println(s.Recording())
		s.Record()
		fmt.Println(s.Recording())
		s.NoGrad(func() { fmt.Println(s.Recording()) })
		return nil
	})
	// Output:
	// false
	// true
	// false
}

func ExampleScope_Variable() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		s.Record()
		w := s.Variable(tensor.From(s, []float32{1, 2}, 2))
		s.Backward(w.Mul(tensor.From(s, []float32{10, 20}, 2)).Sum())
		show(w.Grad())
		return nil
	})
	// Output:
	// float32 [2]
	// [10. 20.]
}

func ExampleScope_Parameter() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		weight, grad := tensor.From(s, []float32{1, 2}, 2), tensor.Zeros(s, dtype.Float32, 2)
		for range 2 { // each Backward adds to grad
			s.Record()
			w := s.Parameter(weight, grad)
			s.Backward(w.Square().Sum())
		}
		show(grad)
		return nil
	})
	// Output:
	// float32 [2]
	// [4. 8.]
}

func ExampleTensor_Grad() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		s.Record()
		list := tensor.From(s, []float32{1, 2}, 2)
		x := s.Variable(list)
		s.Backward(x.Log().Sum())
		show(x.Grad())
		return nil
	})
	// Output:
	// float32 [2]
	// [1.  0.5]
}

func ExampleTensor_NeedsGrad() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		s.Record()
		x := s.Variable(tensor.From(s, []float32{1, 2}, 2))
		fmt.Println(x.Exp().NeedsGrad(), x.ArgMax(0).NeedsGrad())
		return nil
	})
	// Output: true false
}

func ExampleCheckpoint() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		s.Record()
		x := s.Variable(tensor.From(s, []float32{1, 2}, 2))
		layer := func(x *tensor.Tensor) *tensor.Tensor { return x.Square().Square() } // Backward computes the inner square again
		s.Backward(tensor.Checkpoint(layer, x).Sum())
		show(x.Grad())
		return nil
	})
	// Output:
	// float32 [2]
	// [ 4. 32.]
}

func ExampleChanged() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		s.Record()
		x := s.Variable(tensor.From(s, []float32{1, 2}, 2))
		loss := x.Square().Sum()
		memory, err := tensor.SliceOf[float32](x)
		if err != nil {
			return err
		}
		if err := device.Fill(s.Stream(), memory, 0); err != nil {
			return err
		}
		tensor.Changed(x)
		s.Backward(loss) // needs the old elements
		return nil
	})
	// Output: tensor: Backward: changed in the meantime: the derivative of Square needs its operand of float32 [2], which was changed at example_record_test.go:139 (example_record_test.go:140)
}

func ExampleDerivative_Sum() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		s.Record()
		x := s.Variable(tensor.From(s, []float32{1, 2}, 2))
		y := tensor.Op{
			Name: "Same", In: []*tensor.Tensor{x}, DType: x.DType(), Shape: x.Shape(),
			Launch: func(st *device.Stream, out *tensor.Tensor) error {
				v, err := tensor.SlicesOf[float32](x, out)
				if err != nil {
					return err
				}
				return device.Copy(st, v[1], v[0])
			},
			Back: func(d *tensor.Derivative) []*tensor.Tensor {
				if sum := d.Sum(0); sum != nil { // of the derivatives that Backward has computed before
					return []*tensor.Tensor{sum.Add(d.Grad)}
				}
				return []*tensor.Tensor{d.Grad}
			},
		}.Apply()
		s.Backward(y.Add(x.Scale(10)).Sum())
		show(x.Grad())
		return nil
	})
	// Output:
	// float32 [2]
	// [11. 11.]
}

func ExampleOp_Apply() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2, 3}, 3)
		y := tensor.Op{
			Name: "Fill", In: []*tensor.Tensor{x}, DType: dtype.Float32, Shape: []int{2},
			Launch: func(st *device.Stream, out *tensor.Tensor) error {
				v, err := tensor.SliceOf[float32](out)
				if err != nil {
					return err
				}
				return device.Fill(st, v, 7)
			},
		}.Apply()
		show(y)
		return nil
	})
	// Output:
	// float32 [2]
	// [7. 7.]
}

func ExampleTensor_Forget() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		s.Record()
		x := s.Variable(tensor.From(s, []float32{1, 1}, 1, 2))
		w, ones := tensor.From(s, []float32{1, 0}, 2, 1), tensor.Full(s, 1, dtype.Float32, 2)
		y := s.Tidy(func() *tensor.Tensor {
			return x.RMSNorm(ones, tensor.NormOptions{}).Forget().MatMul(w) // Backward computes the norm again
		})
		s.Backward(y.Sum())
		show(x.Grad())
		return nil
	})
	// Output:
	// float32 [1 2]
	// [[ 0.5 -0.5]]
}

func ExampleScope_BackwardEach() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		s.Record()
		one, two := tensor.Zeros(s, dtype.Float32, 1), tensor.Zeros(s, dtype.Float32, 2)
		x := s.Parameter(tensor.From(s, []float32{3}, 1), one)
		y := s.Parameter(tensor.From(s, []float32{1, 2}, 2), two)
		s.BackwardEach(x.Mul(y).Sum(), func(grad *tensor.Tensor) { show(grad) }) // the last parameter first
		return nil
	})
	// Output:
	// float32 [2]
	// [3. 3.]
	// float32 [1]
	// [3.]
}

func ExampleScope_Training() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		s.Record()
		x := s.Variable(tensor.From(s, []float32{1, 2}, 2))
		y := tensor.Checkpoint(func(x *tensor.Tensor) *tensor.Tensor {
			fmt.Println(s.Training(), s.Recording())
			return x.Square()
		}, x)
		s.Backward(y.Sum()) // calls the function again
		return nil
	})
	// Output:
	// true false
	// true true
}

func ExampleTensor_Recorded() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		s.Record()
		x := s.Variable(tensor.From(s, []float32{1, 2}, 2))
		s.NoGrad(func() { fmt.Println(x.Recorded(), x.NeedsGrad(), x.Exp().Recorded()) })
		return nil
	})
	// Output: true false false
}
