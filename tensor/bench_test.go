package tensor_test

import (
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/array"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// BenchmarkHost measures the host's time for an operation on few elements, beside that of the launch alone and of memory for the result.
func BenchmarkHost(b *testing.B) {
	dev, err := cpu.Open()
	if err != nil {
		b.Fatal(err)
	}
	defer dev.Close()
	err = tensor.Run(b.Context(), dev, func(s *tensor.Scope) error {
		x := tensor.From(s, []float32{1, 2, 3, 4}, 2, 2)
		row := tensor.From(s, []float32{5, 6}, 2)
		v, err := tensor.SliceOf[float32](x)
		if err != nil {
			return err
		}
		a := array.Array{Bytes: device.View[byte](v), Type: dtype.Float32, Strides: []int{2, 1}}
		shape := []int{2, 2}
		b.Run("Launch", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := array.Apply(s.Stream(), shape, &array.Operands{Op: array.Add, X: a, Y: a, Out: a}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("Memory", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m, err := device.MakeDirty[byte](s.Stream(), 16)
				if err != nil {
					b.Fatal(err)
				}
				if err := m.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
		step := func(name string, f func() *tensor.Tensor) {
			b.Run(name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					s.Tidy(func() *tensor.Tensor {
						for range 10 {
							f()
						}
						return nil
					})
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(10*b.N), "ns/operation")
			})
		}
		step("Add", func() *tensor.Tensor { return x.Add(x) })
		step("AddRow", func() *tensor.Tensor { return x.Add(row) })
		step("Exp", func() *tensor.Tensor { return x.Exp() })
		step("Sum", func() *tensor.Tensor { return x.Sum(1) })
		step("MatMul", func() *tensor.Tensor { return x.MatMul(x) })
		return s.Err()
	})
	if err != nil {
		b.Fatal(err)
	}
}
