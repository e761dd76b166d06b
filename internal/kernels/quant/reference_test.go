package quant

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/weights/blocks"
)

// formats are the formats by name.
var formats = map[string]Format{"Q4_0": Q4_0, "Q4_1": Q4_1, "Q8_0": Q8_0}

func random(n int) *rand.Rand { return rand.New(rand.NewPCG(uint64(n), 5)) }

// block returns a random block as in a file.
func block(r *rand.Rand, f Format) (b any, weights [BlockSize]float32) {
	d := dtype.F16From64(r.NormFloat64() / 64)
	var q [BlockSize]uint8
	for k := range q {
		q[k] = uint8(r.UintN(256))
	}
	switch f {
	case Q4_0:
		b := blocks.Q4_0{D: d, Q: [BlockSize / 2]uint8(q[:])}
		return b, b.Weights()
	case Q4_1:
		b := blocks.Q4_1{D: d, M: dtype.F16From64(r.NormFloat64() / 8), Q: [BlockSize / 2]uint8(q[:])}
		return b, b.Weights()
	}
	var signed [BlockSize]int8
	for k := range q {
		signed[k] = int8(q[k])
	}
	signed[r.IntN(BlockSize)] = -128
	c := blocks.Q8_0{D: dtype.F16From32(d.Float32() / 16), Q: signed}
	return c, c.Weights()
}

// file returns the blocks of a random matrix and its weights.
func file(tb testing.TB, f Format, s Shape) (data []byte, weights []float32) {
	tb.Helper()
	r := random(s.Columns)
	for range s.Rows * s.blocks() {
		b, w := block(r, f)
		var err error
		if data, err = binary.Append(data, binary.LittleEndian, b); err != nil {
			tb.Fatal(err)
		}
		weights = append(weights, w[:]...)
	}
	return data, weights
}

// upload returns a random matrix and its weights.
func upload(tb testing.TB, s *device.Stream, f Format, shape Shape) (Matrix, []float32) {
	tb.Helper()
	data, weights := file(tb, f, shape)
	p, err := Pack(f, data, shape)
	if err != nil {
		tb.Fatal(err)
	}
	m := Matrix{Shape: shape, Format: f, Planes: kerneltest.Upload(tb, s, p.Planes), Scales: kerneltest.Upload(tb, s, p.Scales)}
	if f == Q4_1 {
		m.Minima = kerneltest.Upload(tb, s, p.Minima)
	}
	return m, weights
}

// vector returns n random elements.
func vector[T row.Number](n int) []T {
	r, x := random(n), make([]T, n)
	for i := range x {
		x[i] = row.From64[T](r.NormFloat64())
	}
	return x
}

// reference returns the products of a matrix and vectors that have an element for each of its columns, and the sums of the magnitudes
// of their terms.
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
