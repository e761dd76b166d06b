package tensor_test

import (
	"context"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/tensor"
)

func ExampleTensor_Sum() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2, 3, 4, 5, 9}, 2, 3)
		show(x.Sum()) // of all elements
		show(x.Sum(0))
		show(x.Sum(-1))
		return nil
	})
	// Output:
	// float32 []
	// 24.
	// float32 [3]
	// [ 5.  7. 12.]
	// float32 [2]
	// [ 6. 18.]
}

func ExampleTensor_Mean() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2, 3, 4, 5, 9}, 2, 3)
		show(x.Mean()) // of all elements
		show(x.Mean(0))
		show(x.Mean(-1))
		return nil
	})
	// Output:
	// float32 []
	// 4.
	// float32 [3]
	// [2.5 3.5 6. ]
	// float32 [2]
	// [2. 6.]
}

func ExampleTensor_Max() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2, 3, 4, 5, 9}, 2, 3)
		show(x.Max()) // of all elements
		show(x.Max(0))
		show(x.Max(-1))
		return nil
	})
	// Output:
	// float32 []
	// 9.
	// float32 [3]
	// [4. 5. 9.]
	// float32 [2]
	// [3. 9.]
}

func ExampleTensor_Min() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2, 3, 4, 5, 9}, 2, 3)
		show(x.Min()) // of all elements
		show(x.Min(0))
		show(x.Min(-1))
		return nil
	})
	// Output:
	// float32 []
	// 1.
	// float32 [3]
	// [1. 2. 3.]
	// float32 [2]
	// [1. 4.]
}

func ExampleTensor_ArgMax() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 7, 3, 9, 5, 2}, 2, 3)
		show(x.ArgMax(1))
		return nil
	})
	// Output:
	// int64 [2]
	// [1 0]
}

func ExampleTensor_ArgMin() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 7, 3, 9, 5, 2}, 2, 3)
		show(x.ArgMin(1))
		return nil
	})
	// Output:
	// int64 [2]
	// [0 2]
}

func ExampleTensor_CumSum() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2, 3, 4, 5, 9}, 2, 3)
		show(x.CumSum(1))
		return nil
	})
	// Output:
	// float32 [2 3]
	// [[ 1.  3.  6.]
	//  [ 4.  9. 18.]]
}

func ExampleTensor_Softmax() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{0, 0, 0, 0}, 2, 2)
		show(x.Softmax(1))
		return nil
	})
	// Output:
	// float32 [2 2]
	// [[0.5 0.5]
	//  [0.5 0.5]]
}

func ExampleTensor_LogSoftmax() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{0, 0, 0, 0}, 2, 2)
		show(x.LogSoftmax(1).Scale(1000).To(dtype.Int32)) // in thousandths
		return nil
	})
	// Output:
	// int32 [2 2]
	// [[-693 -693]
	//  [-693 -693]]
}

func ExampleTensor_LogSumExp() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{0, 0, 1000, 1000}, 2, 2)
		show(x.LogSumExp(1).Scale(1000).To(dtype.Int32)) // in thousandths: exp(1000) would be infinite
		return nil
	})
	// Output:
	// int32 [2]
	// [    693 1000693]
}

func ExampleTensor_Sort() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{3, 1, 2}, 3)
		values, indices := x.Sort(0)
		show(values)
		show(indices)
		return nil
	})
	// Output:
	// float32 [3]
	// [1. 2. 3.]
	// int64 [3]
	// [1 2 0]
}

func ExampleTensor_Top() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{3, 1, 9, 2}, 4)
		values, indices := x.Top(2)
		show(values)
		show(indices)
		return nil
	})
	// Output:
	// float32 [2]
	// [9. 3.]
	// int64 [2]
	// [2 0]
}
