package tensor_test

import (
	"context"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/tensor"
)

func ExampleTensor_MatMul() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2, 3, 4, 5, 6}, 2, 3)
		y := tensor.From(s, []float32{1, 0, -1}, 3)
		show(x.MatMul(y))
		show(x.MatMul(x.T()))
		return nil
	})
	// Output:
	// float32 [2]
	// [-2. -2.]
	// float32 [2 2]
	// [[14. 32.]
	//  [32. 77.]]
}

func ExampleTensor_AddMatMul() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2, 3, 4}, 2, 2)
		ones := tensor.Full(s, 1, dtype.Float32, 2, 2)
		show(ones.AddMatMul(x, x))
		return nil
	})
	// Output:
	// float32 [2 2]
	// [[ 8. 11.]
	//  [16. 23.]]
}

func ExampleTensor_Linear() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2, 3}, 1, 3)
		weight := tensor.From(s, []float32{1, 0, 0, 0, 0, 1}, 2, 3) // a row for each output
		show(x.Linear(weight, tensor.From(s, []float32{10, 20}, 2)))
		return nil
	})
	// Output:
	// float32 [1 2]
	// [[11. 23.]]
}

func ExampleTensor_AddLinear() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2, 3}, 1, 3)
		weight := tensor.From(s, []float32{1, 0, 0, 0, 0, 1}, 2, 3)
		show(tensor.From(s, []float32{100, 200}, 1, 2).AddLinear(x, weight, tensor.From(s, []float32{10, 20}, 2)))
		return nil
	})
	// Output:
	// float32 [1 2]
	// [[111. 223.]]
}

func ExampleTensor_CrossEntropy() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		scores := tensor.Zeros(s, dtype.Float32, 2, 4)                                          // all of four classes are equally likely
		show(scores.CrossEntropy(tensor.From(s, []int32{3, 0}, 2)).Scale(1000).To(dtype.Int32)) // in thousandths
		return nil
	})
	// Output:
	// int32 []
	// 1386
}

func ExampleTensor_CrossEntropyRows() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		scores := tensor.From(s, []float32{0, 0, 0, 100}, 2, 2)
		show(scores.CrossEntropyRows(tensor.From(s, []int32{0, 1}, 2)).Scale(1000).To(dtype.Int32)) // in thousandths
		return nil
	})
	// Output:
	// int32 [2]
	// [693   0]
}

func ExampleTensor_LayerNorm() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2, 3, 10, 20, 30}, 2, 3)
		ones, zeros := tensor.Full(s, 1, dtype.Float32, 3), tensor.Zeros(s, dtype.Float32, 3)
		show(x.LayerNorm(ones, zeros, tensor.NormOptions{}).Scale(1000).To(dtype.Int32)) // in thousandths
		return nil
	})
	// Output:
	// int32 [2 3]
	// [[-1224     0  1224]
	//  [-1224     0  1224]]
}

func ExampleTensor_Conv2d() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2, 3, 4, 5, 6, 7, 8, 9}, 1, 3, 3, 1)
		filters := tensor.Full(s, 1, dtype.Float32, 1, 2, 2, 1) // sums of squares of four
		show(x.Conv2d(filters, nil, tensor.ConvOptions{}).Reshape(2, 2))
		return nil
	})
	// Output:
	// float32 [2 2]
	// [[12. 16.]
	//  [24. 28.]]
}

func ExampleTensor_MaxPool2d() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.Arange(s, 16).To(dtype.Float32).Reshape(1, 4, 4, 1)
		show(x.MaxPool2d(2, tensor.Window{Stride: 2}).Reshape(2, 2))
		return nil
	})
	// Output:
	// float32 [2 2]
	// [[ 5.  7.]
	//  [13. 15.]]
}

func ExampleTensor_MeanPool2d() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.Arange(s, 16).To(dtype.Float32).Reshape(1, 4, 4, 1)
		show(x.MeanPool2d(2, tensor.Window{Stride: 2}).Reshape(2, 2))
		return nil
	})
	// Output:
	// float32 [2 2]
	// [[ 2.5  4.5]
	//  [10.5 12.5]]
}

func ExampleAngles() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		positions, frequencies := tensor.From(s, []int32{0, 1}, 2), tensor.From(s, []float32{1}, 1)
		show(tensor.Angles(positions, frequencies).Scale(1000).To(dtype.Int32)) // in thousandths: a cosine and a sine for each position
		return nil
	})
	// Output:
	// int32 [2 2]
	// [[1000    0]
	//  [ 540  841]]
}

func ExampleTensor_Rotate() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 0, 1, 0}, 2, 1, 2)    // 2 tokens, 1 head of 2 elements
		quarter := tensor.From(s, []float32{1, 0, 0, 1}, 2, 2) // the second token turns by a right angle
		show(x.Rotate(quarter).Reshape(2, 2))
		return nil
	})
	// Output:
	// float32 [2 2]
	// [[1. 0.]
	//  [0. 1.]]
}

func ExampleAttentionTogether() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{0, 0, 1, 0, 0, 3}, 2, 3) // for each of 2 tokens a query, a key and a value
		show(tensor.AttentionTogether(x, tensor.Heads{Heads: 1, KeyHeads: 1, Dim: 1}, tensor.AttentionOptions{}))
		return nil
	})
	// Output:
	// float32 [2 1]
	// [[2.]
	//  [2.]]
}
