package tensor_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/tensor"
)

func ExampleFrom() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		show(tensor.From(s, []int64{1, 2, 3, 4}, 2, 2))
		return nil
	})
	// Output:
	// int64 [2 2]
	// [[1 2]
	//  [3 4]]
}

func ExampleWrap() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		weights, err := device.Upload(s.Stream(), []float32{1, 2, 3, 4}) // outlives the Scope
		if err != nil {
			return err
		}
		w, err := tensor.Wrap(weights.All(), 2, 2)
		if err != nil {
			return err
		}
		x := tensor.From(s, []float32{1, 1}, 2)
		show(x.MatMul(w)) // the result has the Scope of x
		return weights.Close()
	})
	// Output:
	// float32 [2]
	// [4. 6.]
}

func ExampleScope_Use() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		ones, err := device.Upload(s.Stream(), []float32{1, 1})
		if err != nil {
			return err
		}
		w, err := tensor.Wrap(ones.All(), 2)
		if err != nil {
			return err
		}
		show(s.Use(w).Scale(3))
		return ones.Close()
	})
	// Output:
	// float32 [2]
	// [3. 3.]
}

func ExampleValues() {
	compute(func(ctx context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2, 3}, 3)
		list, err := tensor.Values[float32](ctx, x.Square())
		fmt.Println(list)
		return err
	})
	// Output: [1 4 9]
}

func ExampleSliceOf() {
	compute(func(ctx context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2, 3}, 3)
		memory, err := tensor.SliceOf[float32](x)
		if err != nil {
			return err
		}
		host := make([]float32, memory.Len())
		if err := device.Download(s.Stream(), host, memory); err != nil { // or a launch of a kernel
			return err
		}
		err = s.Stream().Synchronize(ctx)
		fmt.Println(host)
		return err
	})
	// Output: [1 2 3]
}

func ExampleSlicesOf() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2, 3}, 3)
		y := tensor.Zeros(s, dtype.Float32, 3)
		memory, err := tensor.SlicesOf[float32](y, x)
		if err != nil {
			return err
		}
		if err := device.Copy(s.Stream(), memory[0], memory[1]); err != nil {
			return err
		}
		show(y)
		return nil
	})
	// Output:
	// float32 [3]
	// [1. 2. 3.]
}

func ExampleZeros() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		show(tensor.Zeros(s, dtype.Int32, 2, 3))
		return nil
	})
	// Output:
	// int32 [2 3]
	// [[0 0 0]
	//  [0 0 0]]
}

func ExampleFull() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		show(tensor.Full(s, 1.5, dtype.BFloat16, 2, 3))
		return nil
	})
	// Output:
	// bfloat16 [2 3]
	// [[1.5 1.5 1.5]
	//  [1.5 1.5 1.5]]
}

func ExampleArange() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		show(tensor.Arange(s, 5))
		return nil
	})
	// Output:
	// int64 [5]
	// [0 1 2 3 4]
}

func ExampleUniform() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		s.Seed(1)
		show(tensor.Uniform(s, dtype.Float32, 3).Scale(1000).To(dtype.Int32)) // in thousandths
		return nil
	})
	// Output:
	// int32 [3]
	// [890 671 247]
}

func ExampleNormal() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		s.Seed(1)
		show(tensor.Normal(s, dtype.Float32, 3).Scale(1000).To(dtype.Int32)) // in thousandths
		return nil
	})
	// Output:
	// int32 [3]
	// [-428  501 -634]
}

func ExampleIntegers() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		s.Seed(1)
		show(tensor.Integers(s, 1, 7, 5)) // throws a die five times
		return nil
	})
	// Output:
	// int64 [5]
	// [6 4 5 4 2]
}

func ExampleBernoulli() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		s.Seed(1)
		show(tensor.Bernoulli(s, 0.5, 4))
		return nil
	})
	// Output:
	// bool [4]
	// [true true true true]
}

func ExampleScope_Seed() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		s.Seed(7)
		x := tensor.Normal(s, dtype.Float32, 4)
		s.Seed(7)
		show(x.Equal(tensor.Normal(s, dtype.Float32, 4)))
		return nil
	})
	// Output:
	// bool [4]
	// [true true true true]
}

func ExampleWriteNPY() {
	compute(func(ctx context.Context, s *tensor.Scope) error {
		var file bytes.Buffer
		x := tensor.Arange(s, 4).Reshape(2, 2)
		if err := tensor.WriteNPY(ctx, &file, x); err != nil {
			return err
		}
		y, err := tensor.ReadNPY(s, &file)
		show(y)
		return err
	})
	// Output:
	// int64 [2 2]
	// [[0 1]
	//  [2 3]]
}

func ExampleReadNPY() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		_, err := tensor.ReadNPY(s, strings.NewReader("not a file of NumPy"))
		fmt.Println(errors.Is(err, tensor.ErrFormat))
		return nil
	})
	// Output: true
}

func ExampleWriteNPZ() {
	compute(func(ctx context.Context, s *tensor.Scope) error {
		var file bytes.Buffer
		if err := tensor.WriteNPZ(ctx, &file, map[string]*tensor.Tensor{"x": tensor.Arange(s, 3), "y": tensor.Zeros(s, dtype.Float32, 2)}); err != nil {
			return err
		}
		list, err := tensor.ReadNPZ(s, bytes.NewReader(file.Bytes()), int64(file.Len()))
		show(list["x"])
		return err
	})
	// Output:
	// int64 [3]
	// [0 1 2]
}

func ExampleReadNPZ() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		_, err := tensor.ReadNPZ(s, strings.NewReader("no archive"), 10)
		fmt.Println(errors.Is(err, tensor.ErrFormat))
		return nil
	})
	// Output: true
}

func ExampleSaveSafetensors() {
	compute(func(ctx context.Context, s *tensor.Scope) error {
		dir, err := os.MkdirTemp("", "tensors")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		name := filepath.Join(dir, "model.safetensors")
		if err := tensor.SaveSafetensors(ctx, name, map[string]*tensor.Tensor{"weight": tensor.Arange(s, 3)}); err != nil {
			return err
		}
		list, err := tensor.LoadSafetensors(s, name)
		show(list["weight"])
		return err
	})
	// Output:
	// int64 [3]
	// [0 1 2]
}

func ExampleLoadSafetensors() {
	compute(func(_ context.Context, s *tensor.Scope) error {
		_, err := tensor.LoadSafetensors(s, "missing.safetensors")
		fmt.Println(errors.Is(err, fs.ErrNotExist))
		return nil
	})
	// Output: true
}
