package quant

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	files "github.com/gopherwarp/gopherwarp/weights"
	"github.com/gopherwarp/gopherwarp/weights/blocks/blockstest"
	"github.com/gopherwarp/gopherwarp/weights/gguf"
)

// formats are the formats by name.
var formats = map[string]Format{
	"Q4_0": Q4_0, "Q4_1": Q4_1, "Q5_0": Q5_0, "Q5_1": Q5_1, "Q8_0": Q8_0, "Q2_K": Q2_K, "Q3_K": Q3_K, "Q4_K": Q4_K, "Q5_K": Q5_K, "Q6_K": Q6_K,
}

func random(n int) *rand.Rand { return rand.New(rand.NewPCG(uint64(n), 5)) }

// file returns the blocks of a random matrix and its weights.
func file(tb testing.TB, f Format, s Shape) (data []byte, weights []float32) {
	tb.Helper()
	r, name := random(s.Columns), layouts[f].name
	for range s.Rows * s.Columns / layouts[f].size {
		data = append(data, blockstest.Random(r, name, 1./16)...)
	}
	of, _ := files.ParseType(name)
	weights = make([]float32, s.Rows*s.Columns)
	if err := gguf.Dequantize(of, weights, data); err != nil {
		tb.Fatal(err)
	}
	return data, weights
}

// in returns the shape with columns that blocks of the format divide.
func (s Shape) in(f Format) Shape {
	n := layouts[f].size
	return Shape{s.Rows, (s.Columns + n - 1) / n * n}
}

// upload returns a random matrix and its weights.
func upload(tb testing.TB, s *device.Stream, f Format, shape Shape) (Matrix, []float32) {
	tb.Helper()
	data, weights := file(tb, f, shape)
	p, err := Pack(f, data, shape)
	if err != nil {
		tb.Fatal(err)
	}
	return uploadPacked(tb, s, p), weights
}

// uploadPacked returns a matrix on a device.
func uploadPacked(tb testing.TB, s *device.Stream, p *Packed) Matrix {
	tb.Helper()
	m := Matrix{Shape: p.Shape, Format: p.Format, Planes: kerneltest.Upload(tb, s, p.Planes), Scales: kerneltest.Upload(tb, s, p.Scales)}
	if len(p.Minima) > 0 {
		m.Minima = kerneltest.Upload(tb, s, p.Minima)
	}
	if len(p.Groups) > 0 {
		m.Groups = kerneltest.Upload(tb, s, p.Groups)
	}
	return m
}

// vector returns n random elements.
func vector[T row.Number](n int) []T {
	r, x := random(n), make([]T, n)
	for i := range x {
		x[i] = row.From64[T](r.NormFloat64())
	}
	return x
}

// reference returns the products of a matrix and vectors of so many columns, and the sums of the magnitudes of their terms.
func reference(weights []float32, x []float64, columns int) (y, size []float64) {
	for ; len(x) > 0; x = x[columns:] {
		for w := weights; len(w) > 0; w = w[columns:] {
			var sum, magnitude float64
			for i, v := range x[:columns] {
				term := float64(w[i]) * v
				sum, magnitude = sum+term, magnitude+math.Abs(term)
			}
			y, size = append(y, sum), append(size, magnitude)
		}
	}
	return y, size
}
