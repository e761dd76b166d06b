package tensor_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/tensor"
)

func ExampleRunOn() {
	compute(func(ctx context.Context, s *tensor.Scope) error {
		err := tensor.RunOn(ctx, s.Stream(), func(s *tensor.Scope) error { // and again, on the same stream
			show(tensor.Arange(s, 3).Sum())
			return nil
		})
		return err
	})
	// Output:
	// int64 []
	// 3
}

func ExampleEnqueue() {
	compute(func(ctx context.Context, s *tensor.Scope) error {
		to, err := device.Make[int64](s.Stream(), 3)
		if err != nil {
			return err
		}
		err = tensor.Enqueue(ctx, s.Stream(), func(s *tensor.Scope) error {
			x, err := tensor.SliceOf[int64](tensor.Arange(s, 3))
			if err != nil {
				return err
			}
			return device.Copy(s.Stream(), to.All(), x) // in stream order, before x is freed
		})
		if err != nil {
			return err
		}
		host := make([]int64, 3)
		if err := device.Download(s.Stream(), host, to); err != nil {
			return err
		}
		err = s.Stream().Synchronize(ctx)
		fmt.Println(host)
		return err
	})
	// Output: [0 1 2]
}

func ExampleScope_Stream() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		fmt.Println(s.Stream().Device().Info().Kind)
		return nil
	})
	// Output: cpu
}

func ExampleScope_Context() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		fmt.Println(s.Context().Err())
		return nil
	})
	// Output: <nil>
}

func ExampleScope_Err() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		tensor.From(s, []float32{1, 2}, 3)
		fmt.Println(errors.Is(s.Err(), tensor.ErrShape))
		return nil
	})
	// Output:
	// true
	// tensor: From: shapes do not fit: 2 values for [3] (example_scope_test.go:72)
}

func ExampleScope_Keep() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		var mean *tensor.Tensor
		sum := s.Tidy(func() *tensor.Tensor {
			x := tensor.Arange(s, 5)
			mean = x.Mean()
			s.Keep(mean) // the end of Tidy frees x
			return x.Sum()
		})
		show(sum, mean)
		return nil
	})
	// Output:
	// int64 []
	// 10
	// float32 []
	// 2.
}

func ExampleTensor_Scope() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		fmt.Println(tensor.Arange(s, 3).Scope() == s)
		return nil
	})
	// Output: true
}

func ExampleTensor_DType() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		fmt.Println(tensor.Arange(s, 3).DType(), tensor.Arange(s, 3).Mean().DType())
		return nil
	})
	// Output: int64 float32
}

func ExampleTensor_Shape() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		fmt.Println(tensor.Zeros(s, dtype.Float32, 2, 3).Shape(), tensor.Zeros(s, dtype.Float32).Shape())
		return nil
	})
	// Output: [2 3] []
}

func ExampleTensor_Dims() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		fmt.Println(tensor.Zeros(s, dtype.Float32, 2, 3).Dims())
		return nil
	})
	// Output: 2
}

func ExampleTensor_Dim() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.Zeros(s, dtype.Float32, 2, 3)
		fmt.Println(x.Dim(0), x.Dim(-1), x.Dim(2))
		return nil
	})
	// Output: 2 3 0
}

func ExampleTensor_Len() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		fmt.Println(tensor.Zeros(s, dtype.Float32, 2, 3).Len())
		return nil
	})
	// Output: 6
}

func ExampleTensor_Err() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.Zeros(s, dtype.Float32, 2, 3)
		fmt.Println(x.Err(), x.MatMul(x).Err() != nil)
		return nil
	})
	// Output:
	// <nil> true
	// tensor: MatMul: shapes do not fit: [2 3] by [2 3]: inner dimensions 3 and 2 differ (example_scope_test.go:152)
}

func ExampleTensor_String() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		fmt.Println(tensor.Zeros(s, dtype.Float32, 2, 3).String())
		return nil
	})
	// Output: float32 [2 3]
}

func ExampleTensor_Format() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.Arange(s, 4).Reshape(2, 2)
		text := fmt.Sprint(x) // waits; the first line has the element type, the shape and the device
		fmt.Println(text[strings.Index(text, "\n")+1:])
		fmt.Printf("%s\n", x) // does not wait
		return nil
	})
	// Output:
	// [[0 1]
	//  [2 3]]
	// int64 [2 2]
}

func ExampleError() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.Zeros(s, dtype.Float32, 2, 3)
		var mistake *tensor.Error
		if errors.As(x.MatMul(x).Err(), &mistake) {
			fmt.Println(mistake.Op, errors.Is(mistake, tensor.ErrShape))
		}
		return nil
	})
	// Output:
	// MatMul true
	// tensor: MatMul: shapes do not fit: [2 3] by [2 3]: inner dimensions 3 and 2 differ (example_scope_test.go:186)
}

func ExampleGraph_Launch() {
	compute(func(ctx context.Context, s *tensor.Scope) error {
		double := func(s *tensor.Scope, in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{in[0].Scale(2)} }
		g, err := tensor.Capture(ctx, s.Stream(), double, tensor.Spec{DType: dtype.Float32, Shape: []int{2}})
		if err != nil {
			return err
		}
		defer g.Close()
		x := tensor.From(s, []float32{1, 2}, 2)
		for range 3 {
			x = g.Launch(s, x)[0]
		}
		show(x)
		return nil
	})
	// Output:
	// float32 [2]
	// [ 8. 16.]
}
