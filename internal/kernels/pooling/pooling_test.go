package pooling

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

// TestReduce compares all methods in all forms with the reference.
func TestReduce(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		for form, formName := range forms {
			if !kerneltest.Runs(name, form) {
				continue
			}
			t.Run(name+"/"+formName, func(t *testing.T) {
				s := kerneltest.Stream(t, open)
				for _, columns := range []int{1, 7, 16, 129, 384} {
					for m := Mean; m <= First; m++ {
						check[float32](t, s, problem{form, columns, m, m == Mean})
						check[dtype.BF16](t, s, problem{form, columns, m, m != Mean})
						check[dtype.F16](t, s, problem{form, columns, m, true})
					}
				}
			})
		}
	}
}

// problem is a reduction of the sequences of starts.
type problem struct {
	form    row.Form
	columns int
	method  Method
	unit    bool
}

// starts are those of sequences of 3, 0, 1, 29 and 4 rows; the last one would end after the matrix.
var starts = []int32{0, 3, 3, 4, 33, 50}

const rows = 37

// check compares all elements of a result with the reference.
func check[T row.Number](t *testing.T, s *device.Stream, p problem) {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(p.columns), 5))
	x, y := make([]T, rows*p.columns), make([]float32, (len(starts)-1)*p.columns)
	for i := range x {
		x[i] = row.From64[T](r.NormFloat64() - 1)
	}
	for i := range y {
		y[i] = float32(math.NaN())
	}
	o := Operands[T]{X: kerneltest.Upload(t, s, x), Starts: kerneltest.Upload(t, s, starts), Y: kerneltest.Upload(t, s, y), Unit: p.unit}
	if err := o.run(s, p.form, Shape{len(starts) - 1, rows, p.columns}, p.method); err != nil {
		t.Fatal(err)
	}
	got := kerneltest.Download(t, s, o.Y)
	for i := range len(starts) - 1 {
		from, to := int(starts[i])*p.columns, min(int(starts[i+1]), rows)*p.columns
		want := Reference(p.method, p.unit, p.columns, row.Float64s(x[from:to]))
		for c, w := range want {
			if g := float64(got[i*p.columns+c]); !(math.Abs(g-w) <= 4e-6) {
				t.Fatalf("%+v of %T: sequence %d, column %d is %v, want %v", p, x, i, c, g, w)
			}
		}
	}
}

// TestSpecial passes NaNs, infinities, rows of zeros, and starts that make no sense.
func TestSpecial(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for name, open := range kerneltest.Executions() {
		t.Run(name, func(t *testing.T) {
			s := kerneltest.Stream(t, open)
			x := kerneltest.Upload(t, s, []float32{nan, inf, 0, 1, -inf, 0})
			bad := kerneltest.Upload(t, s, []int32{-5, 2, 1, math.MaxInt32})
			y := kerneltest.Upload(t, s, make([]float32, 9))
			o := Operands[float32]{X: x, Starts: bad, Y: y, Unit: false}
			if err := Reduce(s, Shape{3, 2, 3}, Max, o); err != nil {
				t.Fatal(err)
			}
			for i, w := range []float32{nan, inf, 0, 0, 0, 0, 1, -inf, 0} {
				if g := kerneltest.Download(t, s, y)[i]; g != w && (g == g || w == w) {
					t.Errorf("element %d is %v, want %v", i, g, w)
				}
			}
		})
	}
}

// TestShapes passes operands that do not fit, and some of no elements.
func TestShapes(t *testing.T) {
	s := kerneltest.Stream(t, kerneltest.Executions()["scalar"])
	x, at := kerneltest.Upload(t, s, make([]float32, 12)), kerneltest.Upload(t, s, []int32{0, 1, 4})
	o := Operands[float32]{X: x, Starts: at, Y: x.Slice(0, 6)}
	for name, shape := range map[string]Shape{"sequences": {3, 4, 3}, "rows": {2, 5, 3}, "columns": {2, 4, 4}, "negative": {2, -4, -3}} {
		if err := Reduce(s, shape, Mean, o); !errors.Is(err, ErrShape) {
			t.Errorf("%s: %v, want ErrShape", name, err)
		}
	}
	if err := Reduce(s, Shape{2, 4, 3}, First+1, o); !errors.Is(err, ErrShape) {
		t.Errorf("method: %v, want ErrShape", err)
	}
	none := Operands[float32]{Starts: at, Y: x.Slice(0, 6), Unit: true}
	if err := errors.Join(Reduce(s, Shape{2, 0, 3}, Mean, none), s.Synchronize(t.Context())); err != nil {
		t.Errorf("no rows: %v", err)
	}
	if err := Reduce(s, Shape{0, 4, 3}, Mean, Operands[float32]{X: x, Starts: at.Slice(0, 1)}); err != nil {
		t.Errorf("no sequences: %v", err)
	}
}
