package softmax

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
)

var forms = map[row.Form]string{row.Plain: "plain", row.Wide: "wide"}

// problem is what a test computes.
type problem struct {
	form    row.Form
	shape   Shape
	options Options
	lengths bool
	inPlace bool
}

// problems are rows of odd lengths, of all lengths that the Wide form distinguishes, with and without masks. Short rows are more than a
// block takes. The longest does not fit in the shared memory of a cluster.
func problems(form row.Form) (list []problem) {
	for i, shape := range []Shape{{1, 1}, {3, 7}, {2, 16}, {13, 64}, {9, 520}, {3, 1031}, {2, 4096}, {2, 33000}} {
		list = append(list,
			problem{form, shape, Options{Scale: 1}, false, i%3 == 0},
			problem{form, shape, Options{Scale: 1, Log: true}, i%2 == 0, false},
			problem{form, shape, Options{Scale: 0.25, Queries: i + 2}, i%2 == 1, i%2 == 0},
			problem{form, shape, Options{Scale: -3, Log: i%2 == 1, Queries: 1}, true, false},
		)
	}
	return append(list,
		problem{form, Shape{137, 24}, Options{Scale: 1, Queries: 5}, true, true},
		problem{form, Shape{137, 24}, Options{Scale: 1, Log: true}, false, false},
		problem{form, Shape{1, 150000}, Options{Scale: 1}, true, true})
}

// TestRows compares rows in all forms with the reference. Except on GPUs, each problem has one type.
func TestRows(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		for form, formName := range forms {
			if !kerneltest.Runs(name, form) {
				continue
			}
			t.Run(name+"/"+formName, func(t *testing.T) {
				s := kerneltest.Stream(t, open)
				for i, p := range problems(form) {
					for k, test := range []func(*testing.T, *device.Stream, problem){check[float32], check[dtype.BF16], check[dtype.F16]} {
						if name == "cuda" || sweep.Every(3, i+i/3+k) {
							test(t, s, p)
						}
					}
				}
			})
		}
	}
}

// check compares all elements of a result with the reference.
func check[T row.Number](t *testing.T, s *device.Stream, p problem) {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(p.shape.Columns), 9))
	x, y, lengths := make([]T, p.shape.Rows*p.shape.Columns), make([]T, p.shape.Rows*p.shape.Columns), make([]int32, p.shape.Rows)
	for i := range x {
		x[i], y[i] = row.From64[T](r.NormFloat64()*4), row.From64[T](math.NaN())
	}
	for i := range lengths {
		lengths[i] = []int32{int32(r.IntN(p.shape.Columns + 1)), math.MaxInt32, -5}[i%3]
	}
	o := Operands[T]{X: kerneltest.Upload(t, s, x), Y: kerneltest.Upload(t, s, y)}
	if p.inPlace {
		o.Y = o.X
	}
	if p.lengths {
		o.Lengths = kerneltest.Upload(t, s, lengths)
	}
	if err := o.run(s, p.form, p.shape, p.options); err != nil {
		t.Fatal(err)
	}
	got, from := kerneltest.Download(t, s, o.Y), row.Float64s(x)
	relative, absolute := row.Rounding[T]()
	n := p.shape.Columns
	for at := range p.shape.Rows {
		limit := n
		if p.options.Queries > 0 {
			limit = n - p.options.Queries + at%p.options.Queries + 1
		}
		if p.lengths {
			limit = min(limit, int(lengths[at]))
		}
		want, size := Reference(from[at*n:(at+1)*n], limit, p.options)
		for i, w := range want {
			g := row.Float64(got[at*n+i])
			bound := relative*math.Abs(w) + (1e-6+2.5e-7*size[i])*math.Abs(w) + absolute
			if p.options.Log {
				bound = relative*math.Abs(w) + 1e-6 + 2.5e-7*size[i]
			}
			if !(math.Abs(g-w) <= bound || g == w) {
				t.Fatalf("%+v of %T: row %d, column %d is %v, want %v", p, x[0], at, i, g, w)
			}
		}
	}
}

// TestSpecial computes rows with NaN and infinities, and of nothing but negative infinities: of a length that a block takes, and of one
// that clusters take.
func TestSpecial(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		t.Run(name, func(t *testing.T) {
			s := kerneltest.Stream(t, open)
			for form := range forms {
				if !kerneltest.Runs(name, form) {
					continue
				}
				for _, n := range []int{264, 16640} {
					checkSpecial(t, s, problem{form: form, shape: Shape{4, n}})
					checkSpecial(t, s, problem{form: form, shape: Shape{4, n}, options: Options{Log: true}})
				}
			}
		})
	}
}

// checkSpecial computes a row with a NaN, one with an infinity, one of negative infinities and one with a negative infinity, all
// other elements being 0.
func checkSpecial(t *testing.T, s *device.Stream, p problem) {
	t.Helper()
	n := p.shape.Columns
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	x := make([]float32, 4*n)
	x[5], x[n+200], x[3*n+7] = nan, inf, -inf
	for i := range n {
		x[2*n+i] = -inf
	}
	o := Operands[float32]{X: kerneltest.Upload(t, s, x), Y: kerneltest.Upload(t, s, make([]float32, len(x)))}
	if err := o.run(s, p.form, p.shape, p.options); err != nil {
		t.Fatal(err)
	}
	for i, got := range kerneltest.Download(t, s, o.Y) {
		value := math.Exp(float64(got))
		if !p.options.Log {
			value = float64(got)
		}
		want := map[bool]float64{true: 0, false: 1 / float64(n-1)}[i/n == 2 || i == 3*n+7]
		if isNaN := got != got; isNaN != (i/n < 2) || !isNaN && math.Abs(value-want) > 4e-6*want {
			t.Fatalf("%s, %+v: element %d of row %d is %v, want %v", forms[p.form], p, i%n, i/n, got, want)
		}
	}
}

// TestShapes passes operands that do not fit, and some of no elements.
func TestShapes(t *testing.T) {
	s := kerneltest.Stream(t, kerneltest.Executions()["scalar"])
	x := kerneltest.Upload(t, s, make([]float32, 12))
	lengths := kerneltest.Upload(t, s, make([]int32, 2))
	good := Operands[float32]{X: x, Y: x}
	for name, err := range map[string]error{
		"rows":     Rows(s, Shape{2, 4}, Options{}, good),
		"negative": Rows(s, Shape{-3, -4}, Options{}, good),
		"Y":        Rows(s, Shape{3, 4}, Options{}, Operands[float32]{X: x, Y: x.Slice(0, 11)}),
		"Lengths":  Rows(s, Shape{3, 4}, Options{}, Operands[float32]{X: x, Y: x, Lengths: lengths}),
		"Queries":  Rows(s, Shape{3, 4}, Options{Queries: -1}, good),
	} {
		if !errors.Is(err, ErrShape) {
			t.Errorf("%s: %v, want ErrShape", name, err)
		}
	}
	if err := Rows(s, Shape{0, 4}, Options{}, Operands[float32]{}); err != nil {
		t.Errorf("no rows: %v", err)
	}
}

// BenchmarkCPU reports CPU nanoseconds for an element.
func BenchmarkCPU(b *testing.B) {
	for name, open := range kerneltest.VectorUnits() {
		b.Run("float32/"+name, func(b *testing.B) { measure[float32](b, kerneltest.Stream(b, open)) })
		b.Run("bfloat16/"+name, func(b *testing.B) { measure[dtype.BF16](b, kerneltest.Stream(b, open)) })
	}
}

func measure[T row.Number](b *testing.B, s *device.Stream) {
	shape := Shape{256, 2048}
	n := shape.Rows * shape.Columns
	x := kerneltest.Upload(b, s, make([]T, n))
	took := kerneltest.Measure(b, s, func() error { return Rows(s, shape, Options{}, Operands[T]{X: x, Y: x}) })
	b.ReportMetric(float64(took.Nanoseconds())/float64(n), "ns/element")
}
