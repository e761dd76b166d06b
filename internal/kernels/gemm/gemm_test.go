package gemm

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
)

// sizes are M, N and K of the tested products.
var sizes = [][3]int{
	{0, 5, 3}, {5, 0, 3}, {5, 3, 0}, {1, 1, 1}, {1, 32, 7}, {7, 8, 63}, {8, 33, 64}, {9, 31, 65}, {63, 64, 127}, {65, 127, 128},
	{127, 65, 129}, {300, 40, 17}, {3, 300, 300},
}

// shapes returns the tested products of a layout, with and without gaps between rows.
func shapes(l Layout) (all []Shape) {
	for i, n := range sizes {
		s := Shape{Layout: l, M: n[0], N: n[1], K: n[2]}
		if i%2 == 1 {
			s.LDA, s.LDB, s.LDC = s.a().cols+3, s.b().cols+8, s.N+5
		}
		all = append(all, s)
	}
	return all
}

// problem holds operands on the host: the numbers that a matrix of elements of type W can represent, for W.
type problem struct {
	shape   Shape
	a, b, c []float32
}

// newProblem returns random operands. All elements of C are NaN, unless the product is added to them.
func newProblem(shape Shape, add bool) problem {
	r := rand.New(rand.NewPCG(uint64(shape.M), uint64(shape.K)))
	full := shape.complete(shape.N)
	fill := func(m matrix) []float32 {
		n, _ := m.length()
		x := make([]float32, n)
		for i := range x {
			x[i] = dtype.BF16From64(r.NormFloat64()).Float32()
		}
		return x
	}
	p := problem{full, fill(full.a()), fill(full.b()), fill(matrix{full.M, full.N, full.LDC})}
	if !add {
		for i := range p.c {
			p.c[i] = float32(math.NaN())
		}
	}
	return p
}

// check compares a result with float64 sums: an element may differ by tolerance times the sum of the magnitudes of its terms. Elements
// between rows must be as they were.
func (p problem) check(t *testing.T, got []float32, add bool, tolerance float64) {
	t.Helper()
	s := p.shape
	for i, g := range got {
		row, col := i/max(1, s.LDC), i%max(1, s.LDC)
		if col >= s.N {
			if g != p.c[i] && !(math.IsNaN(float64(g)) && math.IsNaN(float64(p.c[i]))) {
				t.Fatalf("%+v: element %d between rows is %v, want %v", s, i, g, p.c[i])
			}
			continue
		}
		var want, scale float64
		if add {
			want, scale = float64(p.c[i]), math.Abs(float64(p.c[i]))
		}
		sum, size := p.product(row, col)
		want, scale = want+sum, scale+size
		if !(math.Abs(float64(g)-want) <= tolerance*scale) {
			t.Fatalf("%+v: row %d, column %d is %v, want %v", s, row, col, g, want)
		}
	}
}

// product returns the sum of the terms of an element, and that of their magnitudes.
func (p problem) product(row, col int) (sum, size float64) {
	s := p.shape
	a, b := s.indexA(row, 0), s.indexB(0, col)
	stepA, stepB := s.indexA(row, 1)-a, s.indexB(1, col)-b
	for k := range s.K {
		term := float64(p.a[a+k*stepA]) * float64(p.b[b+k*stepB])
		sum, size = sum+term, size+math.Abs(term)
	}
	return sum, size
}

// TestFloat32 compares products of float32 matrices with sums in float64.
func TestFloat32(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		for l, layout := range []Layout{NT, NN, TN} {
			for k, add := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%v/%v", name, layout, add), func(t *testing.T) {
					s := kerneltest.Stream(t, open)
					for i, shape := range shapes(layout) {
						if name != "cuda" && !sweep.Every(2, i/2+k) || name == "interp" && !sweep.Every(4, i/2+k+2*l) { // shapes with and without gaps, with and without addition
							continue
						}
						p := newProblem(shape, add)
						c := kerneltest.Upload(t, s, p.c)
						x := Operands[float32, float32, float32]{A: kerneltest.Upload(t, s, p.a), B: kerneltest.Upload(t, s, p.b), C: c}
						if add {
							x.Residual = c
						}
						if err := Float32(s, shape, x); err != nil {
							t.Fatal(err)
						}
						p.check(t, kerneltest.Download(t, s, c), add, 1e-6)
					}
				})
			}
		}
	}
}

// TestWeights compares products with bfloat16 weights with sums in float64.
func TestWeights(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		t.Run(name, func(t *testing.T) {
			s := kerneltest.Stream(t, open)
			for _, shape := range shapes(NT) {
				p := newProblem(shape, false)
				c := kerneltest.Upload(t, s, p.c)
				b := make([]dtype.BF16, len(p.b))
				for i, v := range p.b {
					b[i] = dtype.BF16From32(v)
				}
				x := Operands[float32, dtype.BF16, float32]{A: kerneltest.Upload(t, s, p.a), B: kerneltest.Upload(t, s, b), C: c}
				if err := Weights(s, shape, x); err != nil {
					t.Fatal(err)
				}
				p.check(t, kerneltest.Download(t, s, c), false, 1e-6)
			}
		})
	}
}

// TestSpecials multiplies infinities and NaNs: they spread to the elements of their row or column only, and 0 x Inf is NaN.
func TestSpecials(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		t.Run(name, func(t *testing.T) {
			s := kerneltest.Stream(t, open)
			const n = 35
			a, b := make([]float32, n*n), make([]float32, n*n)
			for i := range a {
				a[i], b[i] = 1, 1
			}
			a[2*n+5], a[4*n+5] = float32(math.Inf(1)), float32(math.NaN())
			b[33*n+5] = 0 // column 33 of op(B), which meets column 5 of A
			c := kerneltest.Upload(t, s, make([]float32, n*n))
			x := Operands[float32, float32, float32]{A: kerneltest.Upload(t, s, a), B: kerneltest.Upload(t, s, b), C: c}
			if err := Float32(s, Shape{Layout: NT, M: n, N: n, K: n}, x); err != nil {
				t.Fatal(err)
			}
			for i, got := range kerneltest.Download(t, s, c) {
				want := float64(n)
				switch row, col := i/n, i%n; {
				case row == 4 || row == 2 && col == 33:
					want = math.NaN()
				case row == 2:
					want = math.Inf(1)
				case col == 33:
					want = n - 1
				}
				if float64(got) != want && !(math.IsNaN(want) && math.IsNaN(float64(got))) {
					t.Fatalf("row %d, column %d is %v, want %v", i/n, i%n, got, want)
				}
			}
		})
	}
}

// TestShapes passes operands that do not fit.
func TestShapes(t *testing.T) {
	s := kerneltest.Stream(t, kerneltest.Executions()["native"])
	x := kerneltest.Upload(t, s, make([]float32, 12))
	good := Shape{Layout: NT, M: 3, N: 3, K: 4}
	bad := map[string]Shape{
		"layout": {Layout: 3, M: 3, N: 3, K: 4}, "negative layout": {Layout: -1, M: 3, N: 3, K: 4},
		"negative M": {M: -1, N: 3, K: 4}, "negative N": {M: 3, N: -1, K: 4}, "negative K": {M: 3, N: 3, K: -1},
		"A": {M: 4, N: 3, K: 4}, "B": {M: 3, N: 4, K: 4}, "C": {M: 6, N: 6, K: 2},
		"rows overlap": {M: 3, N: 3, K: 4, LDA: 3}, "too far apart": {M: 3, N: 3, K: 4, LDB: 5},
		"overflow": {M: math.MaxInt64, N: 3, K: math.MaxInt64},
	}
	run := func(shape Shape) error {
		return Float32(s, shape, Operands[float32, float32, float32]{A: x, B: x, C: device.Slice[float32](x)})
	}
	if err := run(good); err != nil {
		t.Fatal(err)
	}
	for name, shape := range bad {
		if err := run(shape); !errors.Is(err, ErrShape) {
			t.Errorf("%s: error %v, want ErrShape", name, err)
		}
	}
	if err := Weights(s, Shape{Layout: NN}, Operands[float32, dtype.BF16, float32]{}); !errors.Is(err, ErrShape) {
		t.Errorf("weights NN: error %v, want ErrShape", err)
	}
}

// BenchmarkCPU reports GFLOP per CPU second.
func BenchmarkCPU(b *testing.B) {
	for _, shape := range []Shape{
		{NT, 1024, 1024, 1024, 0, 0, 0}, {NN, 1024, 1024, 1024, 0, 0, 0}, {TN, 1024, 1024, 1024, 0, 0, 0},
		{NT, 128, 1536, 576, 0, 0, 0}, {NT, 16, 1536, 576, 0, 0, 0}, {NT, 128, 4096, 4096, 0, 0, 0},
	} {
		for name, open := range kerneltest.VectorUnits() {
			b.Run(fmt.Sprintf("%v/%dx%dx%d/%s", shape.Layout, shape.M, shape.N, shape.K, name), func(b *testing.B) {
				s := kerneltest.Stream(b, open)
				p := newProblem(shape, true)
				x := Operands[float32, float32, float32]{A: kerneltest.Upload(b, s, p.a), B: kerneltest.Upload(b, s, p.b), C: kerneltest.Upload(b, s, p.c)}
				took := kerneltest.Measure(b, s, func() error { return Float32(s, shape, x) })
				kerneltest.ReportRate(b, 2*float64(shape.M)*float64(shape.N)*float64(shape.K), took)
			})
		}
	}
}
