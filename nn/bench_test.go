package nn_test

import (
	"fmt"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/nn"
	"github.com/gopherwarp/gopherwarp/tensor"
	"github.com/gopherwarp/gopherwarp/weights"
)

// BenchmarkFrozen measures products of 256 rows with matrices of SmolLM2 on the CPU, forward, and for derivatives, and the loss of a head.
func BenchmarkFrozen(b *testing.B) {
	const rows, in, out, words = 256, 576, 1536, 49152
	dev := kerneltest.Device(b, cpu.Open)
	for _, of := range []weights.Type{weights.F32, weights.BF16, weights.Q4_1} {
		err := tensor.Run(b.Context(), dev, func(s *tensor.Scope) error {
			p := nn.NewParams(s.Stream(), nn.Options{})
			model := struct {
				Up nn.Linear `weights:"up"`
			}{nn.Linear{In: in, Out: out}}
			head := struct {
				Embed nn.Embedding `weights:"embed"`
			}{nn.Embedding{Count: words, Width: in}}
			if err := nn.Load(p, &model, benchFile(b, "up.weight", of, out, in), nn.LoadOptions{}); err != nil {
				return err
			}
			if err := nn.Load(p, &head, benchFile(b, "embed.weight", of, words, in), nn.LoadOptions{}); err != nil {
				return err
			}
			x, labels := tensor.From(s, numbers(rows*in), rows, in), tensor.From(s, make([]int32, rows), rows)
			measure := func(name string, flops float64, f func(x *tensor.Tensor)) {
				b.Run(fmt.Sprintf("%v/%s", of, name), func(b *testing.B) {
					for b.Loop() {
						s.Tidy(func() *tensor.Tensor {
							s.Record()
							f(s.Variable(x))
							return nil
						})
						if err := s.Stream().Synchronize(b.Context()); err != nil {
							b.Fatal(err)
						}
					}
					b.ReportMetric(flops*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
				})
			}
			measure("forward", 2*rows*in*out, func(x *tensor.Tensor) { model.Up.Forward(x); s.Backward(x.Sum()) })
			measure("backward", 4*rows*in*out, func(x *tensor.Tensor) { s.Backward(model.Up.Forward(x).Sum()) })
			measure("loss", 4*rows*in*words, func(x *tensor.Tensor) { s.Backward(head.Embed.CrossEntropy(x, labels)) })
			return p.Close()
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// benchFile returns a file with a matrix.
func benchFile(b *testing.B, name string, of weights.Type, rows, columns int) *weights.File {
	b.Helper()
	return file(b, "", entry{name, of, []int{rows, columns}, numbers(rows * columns)})
}
