package norm

import (
	"errors"
	"fmt"
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

// shapes are rows of odd lengths, of lengths that the Wide form's teams take, and of more elements than fit in shared memory.
var shapes = []Shape{{1, 1}, {3, 7}, {2, 16}, {5, 64}, {17, 136}, {3, 576}, {2, 1031}, {2, 4096}, {2, 40000}}

// TestNorms compares both norms in all forms with the reference.
func TestNorms(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		for form, formName := range forms {
			if !kerneltest.Runs(name, form) {
				continue
			}
			t.Run(name+"/"+formName, func(t *testing.T) {
				s := kerneltest.Stream(t, open)
				for i, shape := range shapes {
					for variant := range 8 {
						if shape.Columns > 1000 && variant%7 != 0 { // long rows once without and once with everything
							continue
						}
						p := problem{shape: shape, form: form, centred: variant&1 != 0, bias: variant&2 != 0, residual: variant&4 != 0}
						for k, test := range []func(*testing.T, *device.Stream, problem){check[float32], check[dtype.BF16], check[dtype.F16]} {
							if name == "cuda" || sweep.Every(3, i+variant+k) {
								test(t, s, p)
							}
						}
					}
				}
			})
		}
	}
}

// problem is what a test computes.
type problem struct {
	shape                   Shape
	form                    row.Form
	centred, bias, residual bool
}

const epsilon = 1e-5

// check compares a norm of random rows with the reference.
func check[T row.Number](t *testing.T, s *device.Stream, p problem) {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(p.shape.Columns), 7))
	n := p.shape.Rows * p.shape.Columns
	x, residual, sum := random[T](r, n), random[T](r, n), make([]T, n)
	ref := Reference{Weight: random[float32](r, p.shape.Columns), Epsilon: epsilon, Centred: p.centred}
	o := Operands[T]{X: kerneltest.Upload(t, s, x), Y: kerneltest.Upload(t, s, poison[T](n)), Weight: kerneltest.Upload(t, s, ref.Weight)}
	if p.bias {
		ref.Bias = random[float32](r, p.shape.Columns)
		o.Bias = kerneltest.Upload(t, s, ref.Bias)
	}
	copy(sum, x)
	if p.residual {
		o.Residual = kerneltest.Upload(t, s, residual)
		o.Sum = o.Residual
		for i := range sum {
			sum[i] = row.From64[T](row.Float64(x[i]) + row.Float64(residual[i]))
		}
	}
	if err := run(s, p.form, function{p.shape, epsilon, p.centred}, o); err != nil {
		t.Fatal(err)
	}
	compare(t, p, ref, sum, kerneltest.Download(t, s, o.Y))
	if p.residual {
		for i, got := range kerneltest.Download(t, s, o.Sum) {
			if got != sum[i] {
				t.Fatalf("%v of %T: sum %d is %v, want %v", p, got, i, got, sum[i])
			}
		}
	}
}

// compare compares all elements of a result with the reference.
func compare[T row.Number](t *testing.T, p problem, ref Reference, x, y []T) {
	t.Helper()
	relative, absolute := row.Rounding[T]()
	n := p.shape.Columns
	for i := range p.shape.Rows {
		want, size := ref.Row(row.Float64s(x[i*n : (i+1)*n]))
		for j, w := range want {
			got := row.Float64(y[i*n+j])
			if !(math.Abs(got-w) <= relative*math.Abs(w)+2e-6*size[j]+absolute) {
				t.Fatalf("%v of %T: row %d, column %d is %v, want %v", p, y[0], i, j, got, w)
			}
		}
	}
}

func random[T row.Number](r *rand.Rand, n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = row.From64[T](r.NormFloat64() + 0.5)
	}
	return x
}

func poison[T row.Number](n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = row.From64[T](math.NaN())
	}
	return x
}

// TestUnaligned normalizes rows that do not begin at multiples of 16 bytes.
func TestUnaligned(t *testing.T) {
	shape := Shape{3, 64}
	n := shape.Rows * shape.Columns
	r := rand.New(rand.NewPCG(1, 1))
	x, weight := random[dtype.BF16](r, n+1), random[float32](r, shape.Columns+1)
	for name, open := range kerneltest.Executions() {
		t.Run(name, func(t *testing.T) {
			s := kerneltest.Stream(t, open)
			for form := range forms {
				o := Operands[dtype.BF16]{
					X: kerneltest.Upload(t, s, x).Slice(1, n+1), Y: kerneltest.Upload(t, s, poison[dtype.BF16](n+3)).Slice(3, n+3),
					Weight: kerneltest.Upload(t, s, weight).Slice(1, shape.Columns+1),
				}
				if err := run(s, form, function{shape, epsilon, false}, o); err != nil {
					t.Fatal(err)
				}
				compare(t, problem{shape: shape, form: form}, Reference{Weight: weight[1:], Epsilon: epsilon}, x[1:], kerneltest.Download(t, s, o.Y))
			}
		})
	}
}

// TestSpecial normalizes rows of zeros, with a NaN, with an infinity, and whose squares overflow.
func TestSpecial(t *testing.T) {
	const n = 64
	big, inf, nan := float32(0x1p100), float32(math.Inf(1)), float32(math.NaN())
	x := make([]float32, 4*n)
	x[n+5], x[2*n+6], x[3*n+7] = nan, inf, big
	weight := make([]float32, n)
	for i := range weight {
		weight[i] = 1
	}
	for name, open := range kerneltest.Executions() {
		t.Run(name, func(t *testing.T) {
			s := kerneltest.Stream(t, open)
			for form, formName := range forms {
				if !kerneltest.Runs(name, form) {
					continue
				}
				o := Operands[float32]{X: kerneltest.Upload(t, s, x), Y: kerneltest.Upload(t, s, poison[float32](len(x))), Weight: kerneltest.Upload(t, s, weight)}
				if err := run(s, form, function{Shape{4, n}, epsilon, false}, o); err != nil {
					t.Fatal(err)
				}
				for i, got := range kerneltest.Download(t, s, o.Y) {
					if isNaN := got != got; isNaN != (i/n == 1 || i == 2*n+6) || !isNaN && got != 0 {
						t.Errorf("%s: element %d of row %d is %v", formName, i%n, i/n, got)
					}
				}
			}
		})
	}
}

// TestShapes passes operands that do not fit, and some of no elements.
func TestShapes(t *testing.T) {
	s := kerneltest.Stream(t, kerneltest.Executions()["scalar"])
	x := kerneltest.Upload(t, s, make([]float32, 12))
	good := Operands[float32]{X: x, Y: x, Weight: x.Slice(0, 4)}
	for name, change := range map[string]func(*Operands[float32], *Shape){
		"rows":         func(_ *Operands[float32], shape *Shape) { shape.Rows = 2 },
		"negative":     func(_ *Operands[float32], shape *Shape) { shape.Rows, shape.Columns = -3, -4 },
		"Y":            func(o *Operands[float32], _ *Shape) { o.Y = x.Slice(0, 11) },
		"Weight":       func(o *Operands[float32], _ *Shape) { o.Weight = x.Slice(0, 3) },
		"Bias":         func(o *Operands[float32], _ *Shape) { o.Bias = x.Slice(0, 3) },
		"Residual":     func(o *Operands[float32], _ *Shape) { o.Residual, o.Sum = x.Slice(0, 11), x.Slice(0, 11) },
		"Residual, no": func(o *Operands[float32], _ *Shape) { o.Residual = x },
	} {
		o, shape := good, Shape{3, 4}
		change(&o, &shape)
		if err := RMSNorm(s, shape, epsilon, o); !errors.Is(err, ErrShape) {
			t.Errorf("%s: %v, want ErrShape", name, err)
		}
	}
	if err := LayerNorm(s, Shape{0, 4}, epsilon, Operands[float32]{Weight: x.Slice(0, 4)}); err != nil {
		t.Errorf("no rows: %v", err)
	}
}

// BenchmarkCPU reports CPU nanoseconds for an element.
func BenchmarkCPU(b *testing.B) {
	shape := Shape{256, 4096}
	for name, open := range kerneltest.VectorUnits() {
		b.Run(fmt.Sprintf("RMSNorm/float32/%s", name), func(b *testing.B) { measure[float32](b, kerneltest.Stream(b, open), shape) })
		b.Run(fmt.Sprintf("RMSNorm/bfloat16/%s", name), func(b *testing.B) { measure[dtype.BF16](b, kerneltest.Stream(b, open), shape) })
	}
}

func measure[T row.Number](b *testing.B, s *device.Stream, shape Shape) {
	n := shape.Rows * shape.Columns
	r := rand.New(rand.NewPCG(1, 2))
	o := Operands[T]{X: kerneltest.Upload(b, s, random[T](r, n)), Y: kerneltest.Upload(b, s, make([]T, n)), Weight: kerneltest.Upload(b, s, random[float32](r, shape.Columns))}
	took := kerneltest.Measure(b, s, func() error { return RMSNorm(s, shape, epsilon, o) })
	b.ReportMetric(float64(took.Nanoseconds())/float64(n), "ns/element")
}
