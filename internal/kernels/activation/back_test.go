package activation

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// slopeOfSiLU returns the derivative of SiLU.
func slopeOfSiLU(x float64) float64 {
	s := Sigmoid.Reference(x)
	return s * (1 + x*(1-s))
}

// slopeOfGELU is the derivative of GELU.
func slopeOfGELU(x float64) float64 {
	return 0.5*math.Erfc(-x/math.Sqrt2) + x*math.Exp(-x*x/2)/math.Sqrt(2*math.Pi)
}

// TestSlope compares the derivatives of SiLU and GELU with finite differences.
func TestSlope(t *testing.T) {
	const h = 1e-5
	for f, slope := range map[Function]func(float64) float64{SiLU: slopeOfSiLU, GELU: slopeOfGELU} {
		for x := -20.0; x <= 20; x += 0.37 {
			if want := (f.Reference(x+h) - f.Reference(x-h)) / (2 * h); math.Abs(slope(x)-want) > 1e-9 {
				t.Errorf("function %d: slope at %v is %v, difference quotient %v", f, x, slope(x), want)
			}
		}
	}
}

// TestSwiGLUBack compares derivatives with the reference, in both layouts, in other memory and in place.
func TestSwiGLUBack(t *testing.T) {
	eachForm(t, func(t *testing.T, s *device.Stream, form row.Form) {
		for _, shape := range []Shape{{0, 5}, {1, 1}, {3, 7}, {5, 16}, {2, 1031}, {3, 1536}} {
			for _, layout := range []Layout{Separate, Stacked} {
				for _, inPlace := range []bool{false, true} {
					checkBack[float32](t, s, gradientProblem{form, shape, layout, inPlace})
					checkBack[dtype.BF16](t, s, gradientProblem{form, shape, layout, inPlace})
				}
			}
		}
	})
}

// gradientProblem is what a test computes.
type gradientProblem struct {
	form    row.Form
	shape   Shape
	layout  Layout
	inPlace bool
}

// checkBack compares derivatives of random numbers with the reference.
func checkBack[T Element](t *testing.T, s *device.Stream, p gradientProblem) {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(p.shape.Columns), 5))
	n, stride := p.shape.Rows*p.shape.Columns, p.shape.Columns
	list := [3][]T{make([]T, n), make([]T, n), make([]T, n)} // gates, ups and derivatives
	if p.layout == Stacked {
		list[0], list[1], stride = make([]T, 2*n), nil, 2*stride
	}
	for _, x := range list {
		for i := range x {
			x[i] = row.From64[T](3 * r.NormFloat64())
		}
	}
	x := Gradients[T]{Gate: kerneltest.Upload(t, s, list[0]), Up: kerneltest.Upload(t, s, list[1]), DY: kerneltest.Upload(t, s, list[2])}
	x.DGate, x.DUp = x.Gate, x.Up
	if !p.inPlace {
		x.DGate, x.DUp = kerneltest.Upload(t, s, poison[T](len(list[0]))), kerneltest.Upload(t, s, poison[T](len(list[1])))
	}
	if err := x.run(s, p.form, p.shape, p.layout); err != nil {
		t.Fatal(err)
	}
	up, dgate := list[1], kerneltest.Download(t, s, x.DGate)
	var dup []T
	if p.layout == Stacked && n > 0 {
		up, dup = list[0][p.shape.Columns:], dgate[p.shape.Columns:]
	} else if n > 0 {
		dup = kerneltest.Download(t, s, x.DUp)
	}
	relative, _ := row.Rounding[T]()
	for i := range n {
		at := i/p.shape.Columns*stride + i%p.shape.Columns
		gate, dy := row.Float64(list[0][at]), row.Float64(list[2][i])
		if want := dy * row.Float64(up[at]) * slopeOfSiLU(gate); !(math.Abs(row.Float64(dgate[at])-want) <= relative*math.Abs(want)+2e-6*math.Abs(dy*row.Float64(up[at]))) {
			t.Fatalf("%+v of %T: derivative %d with respect to the gate is %v, want %v", p, dgate[at], i, dgate[at], want)
		}
		if want := dy * SiLU.Reference(gate); !near(dup[at], want) {
			t.Fatalf("%+v of %T: derivative %d with respect to the other factor is %v, want %v", p, dup[at], i, dup[at], want)
		}
	}
}

// TestBackShapes passes operands that do not fit.
func TestBackShapes(t *testing.T) {
	s := kerneltest.Stream(t, kerneltest.Executions()["scalar"])
	x := kerneltest.Upload(t, s, make([]float32, 16))
	four, eight := x.Slice(0, 4), x.Slice(0, 8)
	for name, err := range map[string]error{
		"interleaved": SwiGLUBack(s, Shape{1, 4}, Interleaved, Gradients[float32]{Gate: eight, DY: four, DGate: eight}),
		"dgate":       SwiGLUBack(s, Shape{1, 4}, Separate, Gradients[float32]{four, four, four, eight, four}),
		"dup":         SwiGLUBack(s, Shape{1, 4}, Separate, Gradients[float32]{four, four, four, four, eight}),
		"dy":          SwiGLUBack(s, Shape{1, 4}, Separate, Gradients[float32]{four, four, eight, four, four}),
	} {
		if !errors.Is(err, ErrShape) {
			t.Errorf("%s: %v, want ErrShape", name, err)
		}
	}
}

// TestSlopes compares the derivatives of GELU and SiLU with those in float64, on the executions that have a kernel.
func TestSlopes(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		t.Run(name, func(t *testing.T) {
			s := kerneltest.Stream(t, open)
			checkSlopes[float32](t, s, 3e-6)
			checkSlopes[dtype.BF16](t, s, 1.0/250)
		})
	}
}

// checkSlopes compares derivatives of random numbers.
func checkSlopes[T Element](t *testing.T, s *device.Stream, tolerance float64) {
	t.Helper()
	const n = 4104
	r := rand.New(rand.NewPCG(1, 3))
	x, dy := make([]T, n), make([]T, n)
	for i := range x {
		x[i], dy[i] = row.From64[T](16*r.Float64()-8), row.From64[T](r.NormFloat64())
	}
	for _, f := range []Function{GELU, SiLU} {
		o := Slopes[T]{X: kerneltest.Upload(t, s, x), DY: kerneltest.Upload(t, s, dy), DX: kerneltest.Upload(t, s, make([]T, n))}
		if err := o.Back(s, f); !o.Fits(s, f) {
			if !errors.Is(err, ErrShape) {
				t.Errorf("without a kernel: %v", err)
			}
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		for i, got := range kerneltest.Download(t, s, o.DX) {
			v := row.Float64(x[i])
			want := slopeOfSiLU(v)
			if f == GELU {
				want = slopeOfGELU(v)
			}
			want *= row.Float64(dy[i])
			if !(math.Abs(row.Float64(got)-want) <= tolerance*(math.Abs(want)+0.2)) {
				t.Fatalf("function %d at %v: %v, want %v", f, v, got, want)
			}
		}
	}
}
