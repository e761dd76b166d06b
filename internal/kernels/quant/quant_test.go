package quant

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/weights/blocks"
)

func random(n int) *rand.Rand { return rand.New(rand.NewPCG(uint64(n), 5)) }

// blocksQ4 returns random blocks for a matrix.
func blocksQ4(s Shape) []blocks.Q4_1 {
	r, list := random(s.Columns), make([]blocks.Q4_1, s.Rows*s.Blocks())
	for i := range list {
		b := &list[i]
		b.D, b.M = dtype.F16From64(r.NormFloat64()/64), dtype.F16From64(r.NormFloat64()/8)
		for k := range b.Q {
			b.Q[k] = uint8(r.UintN(256))
		}
	}
	return list
}

func blocksQ8(s Shape) []blocks.Q8_0 {
	r, list := random(s.Columns), make([]blocks.Q8_0, s.Rows*s.Blocks())
	for i := range list {
		b := &list[i]
		b.D = dtype.F16From64(r.NormFloat64() / 1024)
		for k := range b.Q {
			b.Q[k] = int8(r.IntN(256) - 128)
		}
	}
	return list
}

func vector(n int) []float32 {
	r, x := random(n), make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

// product is a matrix on a device, ready to be multiplied.
type product struct {
	s    *device.Stream
	v    Vectors
	want func() (y, scale []float64) // and the sums of the terms' magnitudes
	run  func(f Form) error
}

// newProduct returns a product of a matrix of a format.
func newProduct(tb testing.TB, s *device.Stream, format string, shape Shape) *product {
	tb.Helper()
	x := vector(shape.Columns)
	p := &product{s: s, v: Vectors{kerneltest.Upload(tb, s, x), kerneltest.Upload(tb, s, make([]float32, shape.Rows)), kerneltest.Upload(tb, s, make([]float32, shape.Blocks()))}}
	var weights func() []float32
	if format == "Q4_1" {
		list := blocksQ4(shape)
		m, err := PackQ4(list, shape)
		if err != nil {
			tb.Fatal(err)
		}
		d := DeviceQ4{shape, kerneltest.Upload(tb, s, m.Planes), kerneltest.Upload(tb, s, m.Scales), kerneltest.Upload(tb, s, m.Minima)}
		p.run = func(f Form) error { return d.Multiply(s, f, p.v) }
		weights = func() (w []float32) { return flatten(list, (*blocks.Q4_1).Weights) }
	} else {
		list := blocksQ8(shape)
		m, err := PackQ8(list, shape)
		if err != nil {
			tb.Fatal(err)
		}
		d := DeviceQ8{shape, kerneltest.Upload(tb, s, m.Planes), kerneltest.Upload(tb, s, m.Scales)}
		p.run = func(f Form) error { return d.Multiply(s, f, p.v) }
		weights = func() (w []float32) { return flatten(list, (*blocks.Q8_0).Weights) }
	}
	p.want = func() (y, scale []float64) {
		w := weights()
		return Multiply(w, x), Multiply(absolute(w), absolute(x))
	}
	return p
}

func flatten[B any](list []B, weights func(*B) [BlockSize]float32) (flat []float32) {
	for i := range list {
		w := weights(&list[i])
		flat = append(flat, w[:]...)
	}
	return flat
}

func absolute(x []float32) []float32 {
	list := make([]float32, len(x))
	for i, v := range x {
		list[i] = float32(math.Abs(float64(v)))
	}
	return list
}

// TestMultiply compares products with the reference: of float32 sums, an error of a few units in the last place of the sum of
// the magnitudes.
func TestMultiply(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		for _, format := range []string{"Q4_1", "Q8_0"} {
			t.Run(name+"/"+format, func(t *testing.T) {
				s := kerneltest.Stream(t, open)
				for _, shape := range []Shape{{1, 32}, {16, 64}, {40, 576}, {67, 288}} {
					compare(t, newProduct(t, s, format, shape))
				}
			})
		}
	}
}

// compare compares a product in all forms with the reference.
func compare(t *testing.T, p *product) {
	want, scale := p.want()
	for _, f := range []Form{Tiles, Warps} {
		if err := p.run(f); err != nil {
			t.Fatal(err)
		}
		for i, got := range kerneltest.Download(t, p.s, p.v.Y) {
			if math.Abs(float64(got)-want[i]) > 1e-6*scale[i] {
				t.Fatalf("%d rows, form %d: row %d is %v, want %v", len(want), f, i, got, want[i])
			}
		}
	}
}

// TestShapes passes operands that do not fit.
func TestShapes(t *testing.T) {
	for _, s := range []Shape{{2, 32}, {1, 33}, {1, 0}, {-1, 32}} {
		if _, err := PackQ4(make([]blocks.Q4_1, 1), s); !errors.Is(err, ErrShape) {
			t.Errorf("a block of %v in Q4_1: %v", s, err)
		}
		if _, err := PackQ8(make([]blocks.Q8_0, 1), s); !errors.Is(err, ErrShape) {
			t.Errorf("a block of %v in Q8_0: %v", s, err)
		}
	}
	if err := (DeviceQ8{Shape: Shape{1, 32}}).Multiply(nil, Tiles, Vectors{}); !errors.Is(err, ErrShape) {
		t.Errorf("vectors of no elements: %v", err)
	}
}
