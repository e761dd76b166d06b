package tensor_test

import (
	"context"
	"fmt"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/tensor"
)

func ExampleTensor_Reshape() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2, 3, 4, 5, 9}, 2, 3)
		show(x.Reshape(3, -1)) // -1 stands for the size that fits
		return nil
	})
	// Output:
	// float32 [3 2]
	// [[1. 2.]
	//  [3. 4.]
	//  [5. 9.]]
}

func ExampleTensor_Slice() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2, 3, 4, 5, 9}, 2, 3)
		show(x.Slice(1, 0, 2))
		return nil
	})
	// Output:
	// float32 [2 2]
	// [[1. 2.]
	//  [4. 5.]]
}

func ExampleTensor_Transpose() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2, 3, 4, 5, 9}, 2, 3)
		show(x.Transpose(0, 1))
		return nil
	})
	// Output:
	// float32 [3 2]
	// [[1. 4.]
	//  [2. 5.]
	//  [3. 9.]]
}

func ExampleTensor_T() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2, 3, 4, 5, 9}, 2, 3)
		show(x.T())
		return nil
	})
	// Output:
	// float32 [3 2]
	// [[1. 4.]
	//  [2. 5.]
	//  [3. 9.]]
}

func ExampleTensor_Expand() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2}, 2, 1)
		show(x.Expand(2, 3))
		return nil
	})
	// Output:
	// float32 [2 3]
	// [[1. 1. 1.]
	//  [2. 2. 2.]]
}

func ExampleTensor_Unsqueeze() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2}, 2)
		fmt.Printf("%s, %s\n", x.Unsqueeze(0), x.Unsqueeze(-1))
		return nil
	})
	// Output: float32 [1 2], float32 [2 1]
}

func ExampleTensor_Squeeze() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2}, 1, 2)
		fmt.Printf("%s\n", x.Squeeze(0))
		return nil
	})
	// Output: float32 [2]
}

func ExampleTensor_Contiguous() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2, 3, 4, 5, 9}, 2, 3)
		fmt.Println(x.T().IsContiguous(), x.T().Contiguous().IsContiguous())
		return nil
	})
	// Output: false true
}

func ExampleTensor_IsContiguous() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2, 3, 4, 5, 9}, 2, 3)
		fmt.Println(x.IsContiguous(), x.Slice(0, 1, 2).IsContiguous(), x.T().IsContiguous())
		return nil
	})
	// Output: true true false
}

func ExampleTensor_Gather() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2, 3, 4, 5, 9}, 2, 3)
		at := tensor.From(s, []int64{2, 0}, 2, 1) // a column for each row
		show(x.Gather(1, at))
		return nil
	})
	// Output:
	// float32 [2 1]
	// [[3.]
	//  [4.]]
}

func ExampleTensor_ScatterAdd() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.Zeros(s, dtype.Float32, 3)
		at := tensor.From(s, []int64{2, 0, 2}, 3)
		show(x.ScatterAdd(0, at, tensor.From(s, []float32{1, 10, 100}, 3)))
		return nil
	})
	// Output:
	// float32 [3]
	// [ 10.   0. 101.]
}

func ExampleConcat() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2}, 1, 2)
		y := tensor.From(s, []float32{3, 4, 5, 6}, 2, 2)
		show(tensor.Concat(0, x, y))
		return nil
	})
	// Output:
	// float32 [3 2]
	// [[1. 2.]
	//  [3. 4.]
	//  [5. 6.]]
}

func ExampleStack() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2}, 2)
		y := tensor.From(s, []float32{3, 4}, 2)
		show(tensor.Stack(0, x, y))
		return nil
	})
	// Output:
	// float32 [2 2]
	// [[1. 2.]
	//  [3. 4.]]
}
