package matvec

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
)

// operands returns random operands of a product. The weights repeat after a prime number of them: generating all took most of the time.
func operands(shape Shape) (w []dtype.BF16, x []float32) {
	const period = 8191
	r := rand.New(rand.NewPCG(1, 2))
	w, x = make([]dtype.BF16, shape.Rows*shape.Columns), make([]float32, shape.Columns)
	for i := range w[:min(period, len(w))] {
		w[i] = dtype.BF16From64(r.NormFloat64())
	}
	for i := period; i < len(w); i++ {
		w[i] = w[i-period]
	}
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return w, x
}

// TestMultiply compares products with sums in float64, and those of bfloat16 weights with those of the same weights in float32.
func TestMultiply(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		t.Run(name, func(t *testing.T) {
			s := kerneltest.Stream(t, open)
			for _, shape := range []Shape{{1, 1}, {8, 16}, {21, 100}, {64, 576}} {
				w, x := operands(shape)
				y := kerneltest.Upload(t, s, make([]float32, shape.Rows))
				if err := Multiply(s, shape, Operands[dtype.BF16]{kerneltest.Upload(t, s, w), kerneltest.Upload(t, s, x), y}); err != nil {
					t.Fatal(err)
				}
				wide, same := make([]float32, len(w)), kerneltest.Upload(t, s, make([]float32, shape.Rows))
				for i := range w {
					wide[i] = w[i].Float32()
				}
				if err := Multiply(s, shape, Operands[float32]{kerneltest.Upload(t, s, wide), kerneltest.Upload(t, s, x), same}); err != nil {
					t.Fatal(err)
				}
				if a, b := kerneltest.Download(t, s, y), kerneltest.Download(t, s, same); !slices.Equal(a, b) {
					t.Fatalf("%v: %v from bfloat16 weights, %v from the same in float32", shape, a, b)
				}
				for row, got := range kerneltest.Download(t, s, y) {
					var want, scale float64
					for i, v := range x {
						term := w[row*shape.Columns+i].Float64() * float64(v)
						want, scale = want+term, scale+math.Abs(term)
					}
					if math.Abs(float64(got)-want) > 1e-6*scale {
						t.Fatalf("%v: row %d is %v, want %v", shape, row, got, want)
					}
				}
			}
		})
	}
}

// TestShapes passes operands that do not fit.
func TestShapes(t *testing.T) {
	if err := Multiply(nil, Shape{1, 1}, Operands[dtype.BF16]{X: device.Slice[float32]{}}); !errors.Is(err, ErrShape) {
		t.Errorf("operands of no elements: %v", err)
	}
}

// BenchmarkCPU reports GFLOP per CPU second, two operations for each weight.
func BenchmarkCPU(b *testing.B) {
	for _, shape := range []Shape{{4096, 4096}, {1536, 576}, {576, 1536}} {
		for name, open := range kerneltest.VectorUnits() {
			b.Run(fmt.Sprintf("%dx%d/%s", shape.Rows, shape.Columns, name), func(b *testing.B) {
				s := kerneltest.Stream(b, open)
				w, x := operands(shape)
				o := Operands[dtype.BF16]{kerneltest.Upload(b, s, w), kerneltest.Upload(b, s, x), kerneltest.Upload(b, s, make([]float32, shape.Rows))}
				took := kerneltest.Measure(b, s, func() error { return Multiply(s, shape, o) })
				kerneltest.ReportRate(b, 2*float64(shape.Rows)*float64(shape.Columns), took)
			})
		}
	}
}
