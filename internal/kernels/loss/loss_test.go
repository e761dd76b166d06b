package loss

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

var forms = map[row.Form]string{row.Plain: "plain", row.Wide: "wide"}

// eachForm runs a test on all executions, in all forms.
func eachForm(t *testing.T, test func(t *testing.T, s *device.Stream, form row.Form)) {
	for name, open := range kerneltest.Executions() {
		for form, formName := range forms {
			if !kerneltest.Runs(name, form) {
				continue
			}
			t.Run(name+"/"+formName, func(t *testing.T) { test(t, kerneltest.Stream(t, open), form) })
		}
	}
}

// TestReference compares the derivative of the reference with finite differences.
func TestReference(t *testing.T) {
	const h = 1e-5
	x := []float64{0.5, -2, 3, 1, 0.25}
	for label := range x {
		_, dx := Reference(x, label)
		for i := range x {
			was := x[i]
			x[i] = was + h
			up, _ := Reference(x, label)
			x[i] = was - h
			down, _ := Reference(x, label)
			if x[i] = was; math.Abs(dx[i]-(up-down)/(2*h)) > 1e-8 {
				t.Errorf("label %d: derivative %d is %v, difference quotient %v", label, i, dx[i], (up-down)/(2*h))
			}
		}
	}
}

// TestCrossEntropy compares losses and derivatives with the reference, in other memory and in place.
func TestCrossEntropy(t *testing.T) {
	eachForm(t, func(t *testing.T, s *device.Stream, form row.Form) {
		for _, shape := range []Shape{{0, 8}, {3, 0}, {1, 1}, {5, 7}, {4, 16}, {3, 1031}, {2, 9000}} {
			for _, inPlace := range []bool{false, true} {
				check[float32](t, s, problem{form, shape, inPlace})
				check[dtype.BF16](t, s, problem{form, shape, inPlace})
			}
		}
	})
}

// problem is what a test computes.
type problem struct {
	form    row.Form
	shape   Shape
	inPlace bool
}

const scale = 0.125

// rows returns random scores, far from 0 in some rows, and labels, of which some are not columns.
func rows[T Element](s Shape) (x []T, labels []int32) {
	r := rand.New(rand.NewPCG(uint64(s.Columns), 6))
	for i := range s.Rows {
		for range s.Columns {
			x = append(x, row.From64[T](4*r.NormFloat64()+100*float64(i%3-1)))
		}
		label := -1
		if i%4 != 3 && s.Columns > 0 {
			label = r.IntN(s.Columns)
		}
		labels = append(labels, int32(label))
	}
	if s.Rows > 4 {
		labels[4] = int32(s.Columns)
	}
	return x, labels
}

// check compares losses and derivatives with the reference.
func check[T Element](t *testing.T, s *device.Stream, p problem) {
	t.Helper()
	x, labels := rows[T](p.shape)
	bad, losses := make([]T, len(x)), make([]float32, len(labels))
	for i := range bad {
		bad[i] = row.From64[T](math.NaN())
	}
	for i := range losses {
		losses[i] = math.MaxFloat32
	}
	o := Operands[T]{X: kerneltest.Upload(t, s, x), Labels: kerneltest.Upload(t, s, labels), Losses: kerneltest.Upload(t, s, losses), DX: kerneltest.Upload(t, s, bad), Scale: scale}
	if p.inPlace {
		o.DX = o.X
	}
	if err := o.run(s, p.form, p.shape); err != nil {
		t.Fatal(err)
	}
	relative, _ := row.Rounding[T]()
	got := kerneltest.Download(t, s, o.DX)
	for i, loss := range kerneltest.Download(t, s, o.Losses) {
		n := p.shape.Columns
		want, dx := Reference(row.Float64s(x[i*n:(i+1)*n]), int(labels[i]))
		if !(math.Abs(float64(loss)-want) <= 3e-5*(1+want)) {
			t.Fatalf("%+v of %T: loss %d is %v, want %v", p, bad, i, loss, want)
		}
		for j, w := range dx {
			if g := row.Float64(got[i*n+j]); !(math.Abs(g-scale*w) <= scale*((relative+5e-5)*math.Abs(w)+2e-7)) || w == 0 && g != 0 {
				t.Fatalf("%+v of %T: row %d, derivative %d is %v, want %v", p, bad, i, j, g, scale*w)
			}
		}
	}
}

// TestNotFinite passes rows with NaNs and infinities, with and without labels.
func TestNotFinite(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	x := []float32{1, nan, 2, 3, 1, inf, 2, 3, -inf, -inf, -inf, -inf, 1, -inf, 2, 3, nan, inf, 0, 0}
	labels := []int32{0, 0, 0, 0, -1}
	eachForm(t, func(t *testing.T, s *device.Stream, form row.Form) {
		o := Operands[float32]{X: kerneltest.Upload(t, s, x), Labels: kerneltest.Upload(t, s, labels), Losses: kerneltest.Upload(t, s, make([]float32, 5)), Scale: 1}
		o.DX = o.X
		if err := o.run(s, form, Shape{5, 4}); err != nil {
			t.Fatal(err)
		}
		dx := kerneltest.Download(t, s, o.DX)
		for i, loss := range kerneltest.Download(t, s, o.Losses) {
			if bad := i < 3; (loss != loss) != bad {
				t.Errorf("loss %d is %v", i, loss)
			}
			for j, g := range dx[4*i : 4*i+4] {
				if (g != g) != (i < 3) || i == 4 && g != 0 || i == 3 && j == 1 && g != 0 {
					t.Errorf("row %d, derivative %d is %v", i, j, g)
				}
			}
		}
	})
}

// TestUnaligned passes labels and losses that do not begin at multiples of 16 bytes.
func TestUnaligned(t *testing.T) {
	x, labels := rows[float32](Shape{2, 8})
	eachForm(t, func(t *testing.T, s *device.Stream, form row.Form) {
		o := Operands[float32]{X: kerneltest.Upload(t, s, x), Labels: kerneltest.Upload(t, s, append([]int32{-1}, labels...)).Slice(1, 3), Losses: kerneltest.Upload(t, s, make([]float32, 3)).Slice(1, 3), Scale: 1}
		o.DX = o.X
		if err := o.run(s, form, Shape{2, 8}); err != nil {
			t.Fatal(err)
		}
		for i, loss := range kerneltest.Download(t, s, o.Losses) {
			if want, _ := Reference(row.Float64s(x[8*i:8*i+8]), int(labels[i])); !(math.Abs(float64(loss)-want) <= 3e-5*(1+want)) {
				t.Errorf("loss %d is %v, want %v", i, loss, want)
			}
		}
	})
}

// TestShapes passes operands that do not fit.
func TestShapes(t *testing.T) {
	s := kerneltest.Stream(t, kerneltest.Executions()["scalar"])
	x, labels := kerneltest.Upload(t, s, make([]float32, 8)), kerneltest.Upload(t, s, make([]int32, 2))
	good := Operands[float32]{X: x, Labels: labels, Losses: x.Slice(0, 2), DX: x}
	for name, change := range map[string]func(*Operands[float32]){
		"x": func(o *Operands[float32]) { o.X = x.Slice(0, 7) }, "dx": func(o *Operands[float32]) { o.DX = x.Slice(0, 4) },
		"labels": func(o *Operands[float32]) { o.Labels = labels.Slice(0, 1) }, "losses": func(o *Operands[float32]) { o.Losses = x },
	} {
		o := good
		change(&o)
		if err := CrossEntropy(s, Shape{2, 4}, o); !errors.Is(err, ErrShape) {
			t.Errorf("%s: %v, want ErrShape", name, err)
		}
	}
}
