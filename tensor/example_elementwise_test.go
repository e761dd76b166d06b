package tensor_test

import (
	"context"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/tensor"
)

func ExampleTensor_Add() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2, 3}, 3)
		y := tensor.From(s, []float32{10, 20}, 2, 1) // each element is repeated in a row
		show(x.Add(y))
		return nil
	})
	// Output:
	// float32 [2 3]
	// [[11. 12. 13.]
	//  [21. 22. 23.]]
}

func ExampleTensor_Sub() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2, 3}, 3)
		y := tensor.From(s, []float32{10, 20}, 2, 1) // each element is repeated in a row
		show(x.Sub(y))
		return nil
	})
	// Output:
	// float32 [2 3]
	// [[ -9.  -8.  -7.]
	//  [-19. -18. -17.]]
}

func ExampleTensor_Mul() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2, 3}, 3)
		y := tensor.From(s, []float32{10, 20}, 2, 1) // each element is repeated in a row
		show(x.Mul(y))
		return nil
	})
	// Output:
	// float32 [2 3]
	// [[10. 20. 30.]
	//  [20. 40. 60.]]
}

func ExampleTensor_Div() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2, 3}, 3)
		y := tensor.From(s, []float32{10, 20}, 2, 1) // each element is repeated in a row
		show(x.Div(y))
		return nil
	})
	// Output:
	// float32 [2 3]
	// [[0.1  0.2  0.3 ]
	//  [0.05 0.1  0.15]]
}

func ExampleTensor_Pow() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2, 3}, 3)
		show(x.Pow(tensor.From(s, []float32{2, 3, 0.5}, 3)).Scale(1000).To(dtype.Int32)) // in thousandths
		return nil
	})
	// Output:
	// int32 [3]
	// [1000 8000 1732]
}

func ExampleTensor_Maximum() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 5, 3}, 3)
		show(x.Maximum(tensor.Full(s, 3, dtype.Float32)))
		return nil
	})
	// Output:
	// float32 [3]
	// [3. 5. 3.]
}

func ExampleTensor_Minimum() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 5, 3}, 3)
		show(x.Minimum(tensor.Full(s, 3, dtype.Float32)))
		return nil
	})
	// Output:
	// float32 [3]
	// [1. 3. 3.]
}

func ExampleTensor_Neg() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{-1, 0, 2}, 3)
		show(x.Neg())
		return nil
	})
	// Output:
	// float32 [3]
	// [ 1. -0. -2.]
}

func ExampleTensor_Abs() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{-1, 0, 2}, 3)
		show(x.Abs())
		return nil
	})
	// Output:
	// float32 [3]
	// [1. 0. 2.]
}

func ExampleTensor_Sign() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{-3, 0, 2}, 3)
		show(x.Sign())
		return nil
	})
	// Output:
	// float32 [3]
	// [-1.  0.  1.]
}

func ExampleTensor_Square() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{-1, 0, 3}, 3)
		show(x.Square())
		return nil
	})
	// Output:
	// float32 [3]
	// [1. 0. 9.]
}

func ExampleTensor_ReLU() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{-1, 0, 2}, 3)
		show(x.ReLU())
		return nil
	})
	// Output:
	// float32 [3]
	// [0. 0. 2.]
}

func ExampleTensor_Sqrt() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{0, 1, 9}, 3)
		show(x.Sqrt())
		return nil
	})
	// Output:
	// float32 [3]
	// [0. 1. 3.]
}

func ExampleTensor_Exp() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{-1, 0, 1}, 3)
		show(x.Exp().Scale(1000).To(dtype.Int32)) // in thousandths
		return nil
	})
	// Output:
	// int32 [3]
	// [ 367 1000 2718]
}

func ExampleTensor_Log() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{0.5, 1, 2}, 3)
		show(x.Log().Scale(1000).To(dtype.Int32)) // in thousandths
		return nil
	})
	// Output:
	// int32 [3]
	// [-693    0  693]
}

func ExampleTensor_Tanh() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{-1, 0, 1}, 3)
		show(x.Tanh().Scale(1000).To(dtype.Int32)) // in thousandths
		return nil
	})
	// Output:
	// int32 [3]
	// [-761    0  761]
}

func ExampleTensor_Sigmoid() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{-1, 0, 1}, 3)
		show(x.Sigmoid().Scale(1000).To(dtype.Int32)) // in thousandths
		return nil
	})
	// Output:
	// int32 [3]
	// [268 500 731]
}

func ExampleTensor_GELU() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{-1, 0, 1}, 3)
		show(x.GELU().Scale(1000).To(dtype.Int32)) // in thousandths
		return nil
	})
	// Output:
	// int32 [3]
	// [-158    0  841]
}

func ExampleTensor_SiLU() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{-1, 0, 1}, 3)
		show(x.SiLU().Scale(1000).To(dtype.Int32)) // in thousandths
		return nil
	})
	// Output:
	// int32 [3]
	// [-268    0  731]
}

func ExampleTensor_Scale() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2, 3}, 3)
		show(x.Scale(0.5))
		return nil
	})
	// Output:
	// float32 [3]
	// [0.5 1.  1.5]
}

func ExampleTensor_AddScalar() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2, 3}, 3)
		show(x.AddScalar(-2))
		return nil
	})
	// Output:
	// float32 [3]
	// [-1.  0.  1.]
}

func ExampleTensor_PowScalar() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2, 3}, 3)
		show(x.PowScalar(3))
		return nil
	})
	// Output:
	// float32 [3]
	// [ 1.  8. 27.]
}

func ExampleTensor_To() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1.5, -2.9, 300}, 3)
		show(x.To(dtype.Int32)) // rounds towards zero
		return nil
	})
	// Output:
	// int32 [3]
	// [  1  -2 300]
}

func ExampleTensor_Equal() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2, 3}, 3)
		show(x.Equal(tensor.Full(s, 2, dtype.Float32)))
		return nil
	})
	// Output:
	// bool [3]
	// [false  true false]
}

func ExampleTensor_NotEqual() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2, 3}, 3)
		show(x.NotEqual(tensor.Full(s, 2, dtype.Float32)))
		return nil
	})
	// Output:
	// bool [3]
	// [ true false  true]
}

func ExampleTensor_Less() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2, 3}, 3)
		show(x.Less(tensor.Full(s, 2, dtype.Float32)))
		return nil
	})
	// Output:
	// bool [3]
	// [ true false false]
}

func ExampleTensor_LessEqual() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2, 3}, 3)
		show(x.LessEqual(tensor.Full(s, 2, dtype.Float32)))
		return nil
	})
	// Output:
	// bool [3]
	// [ true  true false]
}

func ExampleTensor_Greater() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2, 3}, 3)
		show(x.Greater(tensor.Full(s, 2, dtype.Float32)))
		return nil
	})
	// Output:
	// bool [3]
	// [false false  true]
}

func ExampleTensor_GreaterEqual() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2, 3}, 3)
		show(x.GreaterEqual(tensor.Full(s, 2, dtype.Float32)))
		return nil
	})
	// Output:
	// bool [3]
	// [false  true  true]
}

func ExampleWhere() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{-1, 2, -3}, 3)
		zero := tensor.Zeros(s, dtype.Float32)
		show(tensor.Where(x.Less(zero), zero, x))
		return nil
	})
	// Output:
	// float32 [3]
	// [0. 2. 0.]
}

func ExampleSwiGLU() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		gate := tensor.From(s, []float32{-1, 0, 1}, 3)
		up := tensor.From(s, []float32{2, 2, 2}, 3)
		show(tensor.SwiGLU(gate, up).Scale(1000).To(dtype.Int32)) // in thousandths
		return nil
	})
	// Output:
	// int32 [3]
	// [-537    0 1462]
}
