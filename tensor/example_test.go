package tensor_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// compute calls f in a Scope of the CPU.
func compute(f func(ctx context.Context, s *tensor.Scope) error) {
	ctx := context.Background()
	dev, err := cpu.Open()
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	if err := tensor.Run(ctx, dev, func(s *tensor.Scope) error { return f(ctx, s) }); err != nil {
		fmt.Println(err)
	}
}

func Example() {
	compute(func(ctx context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2, 3, 4, 5, 9}, 2, 3)
		centred := x.Sub(x.Mean(1).Unsqueeze(1))
		list, err := tensor.Values[float32](ctx, centred)
		fmt.Printf("%s: %v\n", centred, list)
		return err
	})
	// Output: float32 [2 3]: [-1 0 1 -2 -1 3]
}

func ExampleRun_mistake() {
	compute(func(ctx context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2, 3, 4, 5, 6}, 2, 3)
		y := x.MatMul(x).Exp().Sum() // the mistake is in MatMul
		fmt.Println(y.Len())
		return nil
	})
	// Output:
	// 0
	// tensor: MatMul: shapes do not fit: [2 3] by [2 3]: inner dimensions 3 and 2 differ (example_test.go:42)
}

func ExampleScope_Backward() {
	compute(func(ctx context.Context, s *tensor.Scope) error {
		s.Record()
		x := s.Variable(tensor.From(s, []float32{1, 2, 3}, 3))
		s.Backward(x.Square().Sum())
		list, err := tensor.Values[float32](ctx, x.Grad())
		fmt.Println(list)
		return err
	})
	// Output: [2 4 6]
}

func ExampleScope_Tidy() {
	compute(func(ctx context.Context, s *tensor.Scope) error {
		x := tensor.Full(s, 0.5, dtype.Float32, 4)
		for range 100 {
			x = s.Tidy(func() *tensor.Tensor { return x.Mul(x).AddScalar(0.25) }) // frees the product
		}
		list, err := tensor.Values[float32](ctx, x.Slice(0, 0, 1))
		fmt.Println(list)
		return err
	})
	// Output: [0.5]
}

func ExampleTensor_Take() {
	compute(func(ctx context.Context, s *tensor.Scope) error {
		table := tensor.From(s, []int32{0, 1, 10, 11, 20, 21}, 3, 2)
		rows := table.Take(0, tensor.From(s, []int64{2, 0}, 2))
		list, err := tensor.Values[int32](ctx, rows)
		fmt.Println(list)
		return err
	})
	// Output: [20 21 0 1]
}

func ExampleOp() {
	compute(func(ctx context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2}, 2)
		y := tensor.Op{
			Name: "Same", In: []*tensor.Tensor{x}, DType: x.DType(), Shape: x.Shape(),
			Launch: func(st *device.Stream, out *tensor.Tensor) error {
				v, err := tensor.SlicesOf[float32](x, out)
				if err != nil {
					return err
				}
				return device.Copy(st, v[1], v[0]) // or any kernel
			},
			Back: func(d *tensor.Derivative) []*tensor.Tensor { return []*tensor.Tensor{d.Grad} },
		}.Apply()
		list, err := tensor.Values[float32](ctx, y)
		fmt.Println(list)
		return err
	})
	// Output: [1 2]
}

func ExampleCapture() {
	compute(func(ctx context.Context, s *tensor.Scope) error {
		slope := func(s *tensor.Scope, in []*tensor.Tensor) []*tensor.Tensor {
			s.Record()
			x := s.Variable(in[0])
			s.Backward(x.Square().Sum())
			return []*tensor.Tensor{x.Grad()}
		}
		g, err := tensor.Capture(ctx, s.Stream(), slope, tensor.Spec{DType: dtype.Float32, Shape: []int{2}})
		if err != nil {
			return err
		}
		defer g.Close()
		for _, values := range [][]float32{{1, 2}, {3, 4}} {
			list, err := tensor.Values[float32](ctx, g.Launch(s, tensor.From(s, values, 2))[0])
			if err != nil {
				return err
			}
			fmt.Println(list)
		}
		return nil
	})
	// Output:
	// [2 4]
	// [6 8]
}

func ExampleAttention() {
	compute(func(ctx context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2, 3, 9}, 4, 1, 1) // 4 tokens, 1 head of 1 element
		q := tensor.Zeros(s, dtype.Float32, 4, 1, 1)        // all keys fit equally
		starts := tensor.From(s, []int32{0, 3, 4}, 3)       // a sequence of 3 tokens and one of 1
		y := tensor.Attention(q, x, x, tensor.AttentionOptions{Causal: true, Starts: starts})
		list, err := tensor.Values[float32](ctx, y)
		fmt.Println(list)
		return err
	})
	// Output: [1 1.5 2 9]
}

func ExampleTensor_Dropout() {
	compute(func(ctx context.Context, s *tensor.Scope) error {
		s.Seed(3)
		s.Record()
		x := s.Variable(tensor.Full(s, 1, dtype.Float32, 6))
		s.Backward(x.Dropout(0.5).Sum())
		list, err := tensor.Values[float32](ctx, x.Grad()) // 1/(1-0.5) where the element was kept
		fmt.Println(list)
		return err
	})
	// Output: [2 0 2 0 2 2]
}

func ExampleTensor_RMSNorm() {
	compute(func(ctx context.Context, s *tensor.Scope) error {
		x, ones := tensor.From(s, []float32{1, 7, 1, 7}, 1, 4), tensor.Full(s, 1, dtype.Float32, 4)
		list, err := tensor.Values[float32](ctx, x.RMSNorm(ones, tensor.NormOptions{}).Scale(5))
		fmt.Println(list)
		return err
	})
	// Output: [1 7 1 7]
}

// show prints the element types, shapes and elements of tensors.
func show(list ...*tensor.Tensor) {
	for _, t := range list {
		kind, elements, _ := strings.Cut(fmt.Sprint(t), "\n")
		kind, _, _ = strings.Cut(kind, " on ") // the name of the device
		fmt.Println(kind)
		fmt.Println(elements)
	}
}
