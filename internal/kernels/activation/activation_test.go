package activation

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

// near reports whether got is want to within the rounding of a T, the error of fast functions, and what float32 cannot represent.
func near[T row.Number](got T, want float64) bool {
	relative, absolute := row.Rounding[T]()
	g := row.Float64(got)
	switch {
	case want != want || g != g:
		return want != want && g != g
	case math.IsInf(g, 0):
		return math.Abs(want) >= row.Float64(largest[T]()) && math.Signbit(g) == math.Signbit(want)
	case math.IsInf(want, 0):
		return false
	}
	return math.Abs(g-want) <= (relative+1e-5)*math.Abs(want)+absolute+0x1p-108
}

// largest returns the largest finite T.
func largest[T row.Number]() T {
	x := row.From64[T](1)
	for next := x; !math.IsInf(row.Float64(next), 0); next = row.From64[T](row.Float64(x) * 2) {
		x = next
	}
	return x
}

// numbers returns n numbers of all magnitudes, among them special ones.
func numbers[T row.Number](n int) []T {
	r := rand.New(rand.NewPCG(uint64(n), 4))
	x := make([]T, n)
	for i := range x {
		x[i] = row.From64[T](r.NormFloat64() * math.Exp2(float64(r.IntN(12)-6)))
	}
	for i, v := range []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 1e30, -1e30, -87.5, 88.5, -104} {
		if i < n {
			x[i] = row.From64[T](v)
		}
	}
	return x
}

// TestApply compares all functions with the reference, of all bfloat16 numbers too.
func TestApply(t *testing.T) {
	every := make([]dtype.BF16, 1<<16)
	for i := range every {
		every[i] = dtype.BF16(i)
	}
	eachForm(t, func(t *testing.T, s *device.Stream, form row.Form) {
		for f := SiLU; f <= Tanh; f++ {
			checkApply(t, s, operation[dtype.BF16]{form: form, f: f}, every)
			for _, n := range []int{1, 7, 8, 16, 1031} {
				checkApply(t, s, operation[float32]{form: form, f: f}, numbers[float32](n))
				checkApply(t, s, operation[dtype.BF16]{form: form, f: f}, numbers[dtype.BF16](n))
				checkApply(t, s, operation[dtype.F16]{form: form, f: f}, numbers[dtype.F16](n))
			}
		}
	})
}

// TestGELU compares GELU with the reference at many numbers from where it is nearly 0 to where it is nearly its argument.
func TestGELU(t *testing.T) {
	x := make([]float32, 1<<16)
	for i := range x {
		x[i] = float32(i)/float32(len(x))*21 - 13
	}
	eachForm(t, func(t *testing.T, s *device.Stream, form row.Form) {
		checkApply(t, s, operation[float32]{form: form, f: GELU}, x)
	})
}

// checkApply compares a function of x with the reference.
func checkApply[T row.Number](t *testing.T, s *device.Stream, o operation[T], x []T) {
	t.Helper()
	o.x, o.y = kerneltest.Upload(t, s, x), kerneltest.Upload(t, s, poison[T](len(x)))
	if err := o.run(s); err != nil {
		t.Fatal(err)
	}
	for i, got := range kerneltest.Download(t, s, o.y) {
		want := o.f.Reference(row.Float64(x[i]))
		if math.IsInf(row.Float64(x[i]), -1) && o.f != ReLU && o.f != Tanh && o.f != Sigmoid {
			want = row.Float64(got) // negative infinity times 0: NaN or 0, by the function
			if want == want && want != 0 {
				t.Fatalf("function %d of negative infinity is %v", o.f, got)
			}
		}
		if !near(got, want) {
			t.Fatalf("function %d of %T %v is %v, want %v", o.f, x[i], row.Float64(x[i]), row.Float64(got), want)
		}
	}
}

func poison[T row.Number](n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = row.From64[T](-77)
	}
	return x
}

// TestSwiGLU compares all layouts with the reference.
func TestSwiGLU(t *testing.T) {
	eachForm(t, func(t *testing.T, s *device.Stream, form row.Form) {
		for _, shape := range []Shape{{1, 1}, {3, 7}, {5, 16}, {2, 1031}, {7, 576}} {
			for layout := Separate; layout <= Interleaved; layout++ {
				checkSwiGLU[float32](t, s, form, gluProblem{shape, layout})
				checkSwiGLU[dtype.BF16](t, s, form, gluProblem{shape, layout})
				checkSwiGLU[dtype.F16](t, s, form, gluProblem{shape, layout})
			}
		}
	})
}

// TestManyRows has more rows than a grid has blocks along y.
func TestManyRows(t *testing.T) {
	s := kerneltest.Stream(t, kerneltest.Executions()["scalar"])
	for form := range forms {
		if sweep.Every(2, int(form)) {
			checkSwiGLU[dtype.BF16](t, s, form, gluProblem{Shape{2*maxRows + 3, 8}, Stacked})
		}
		if sweep.Every(2, int(form)+1) {
			checkSwiGLU[dtype.BF16](t, s, form, gluProblem{Shape{maxRows + 1, 8}, Separate})
		}
	}
}

type gluProblem struct {
	shape  Shape
	layout Layout
}

// checkSwiGLU compares a product of gates with the reference.
func checkSwiGLU[T row.Number](t *testing.T, s *device.Stream, form row.Form, p gluProblem) {
	t.Helper()
	rows, columns := p.shape.Rows, p.shape.Columns
	x := numbers[T](2 * rows * columns)
	o := Operands[T]{Gate: kerneltest.Upload(t, s, x), Y: kerneltest.Upload(t, s, poison[T](rows*columns))}
	if p.layout == Separate {
		o.Gate, o.Up = o.Gate.Slice(0, rows*columns), o.Gate.Slice(rows*columns, 2*rows*columns)
		if columns%2 == 1 { // Up must not begin between 16 bytes for the alignment of vectors
			o.Up = kerneltest.Upload(t, s, x[rows*columns:])
		}
	}
	if err := o.run(s, form, p.shape, p.layout); err != nil {
		t.Fatal(err)
	}
	for i, got := range kerneltest.Download(t, s, o.Y) {
		at := map[Layout][2]int{Separate: {i, rows*columns + i}, Stacked: {i/columns*2*columns + i%columns, i/columns*2*columns + columns + i%columns}, Interleaved: {2 * i, 2*i + 1}}[p.layout]
		gate, up := row.Float64(x[at[0]]), row.Float64(x[at[1]])
		want := SiLU.Reference(gate) * up
		if !math.IsInf(gate, -1) && !near(got, want) {
			t.Fatalf("%+v of %T: element %d, of %v and %v, is %v, want %v", p, got, i, gate, up, row.Float64(got), want)
		}
	}
}

// TestShapes passes operands that do not fit, and some of no elements.
func TestShapes(t *testing.T) {
	s := kerneltest.Stream(t, kerneltest.Executions()["scalar"])
	x := kerneltest.Upload(t, s, make([]float32, 24))
	half := x.Slice(0, 12)
	for name, err := range map[string]error{
		"lengths":   Apply(s, SiLU, x, half),
		"function":  Apply(s, Tanh+1, x, x),
		"separate":  SwiGLU(s, Shape{3, 4}, Separate, Operands[float32]{Gate: x, Up: half, Y: half}),
		"stacked":   SwiGLU(s, Shape{3, 4}, Stacked, Operands[float32]{Gate: x, Up: half, Y: half}),
		"interlace": SwiGLU(s, Shape{3, 4}, Interleaved, Operands[float32]{Gate: half, Y: half}),
		"layout":    SwiGLU(s, Shape{3, 4}, Interleaved+1, Operands[float32]{Gate: x, Y: half}),
		"negative":  SwiGLU(s, Shape{-3, -4}, Stacked, Operands[float32]{Gate: x, Y: half}),
	} {
		if !errors.Is(err, ErrShape) {
			t.Errorf("%s: %v, want ErrShape", name, err)
		}
	}
	none := device.Slice[float32]{}
	if err := errors.Join(Apply(s, SiLU, none, none), SwiGLU(s, Shape{0, 4}, Stacked, Operands[float32]{})); err != nil {
		t.Errorf("no elements: %v", err)
	}
}

// BenchmarkCPU reports CPU nanoseconds for an element.
func BenchmarkCPU(b *testing.B) {
	const n = 1 << 20
	for name, open := range kerneltest.VectorUnits() {
		b.Run("SwiGLU/bfloat16/"+name, func(b *testing.B) {
			s := kerneltest.Stream(b, open)
			x := make([]dtype.BF16, n)
			for i := range x {
				x[i] = dtype.BF16From32(float32(i%64)/8 - 4)
			}
			o := Operands[dtype.BF16]{kerneltest.Upload(b, s, x), kerneltest.Upload(b, s, x), kerneltest.Upload(b, s, x)}
			took := kerneltest.Measure(b, s, func() error { return SwiGLU(s, Shape{256, n / 256}, Separate, o) })
			b.ReportMetric(float64(took.Nanoseconds())/n, "ns/element")
		})
		for f, what := range map[Function]string{GELU: "GELU", GELUTanh: "GELU by tanh"} {
			b.Run(fmt.Sprintf("%s/float32/%s", what, name), func(b *testing.B) {
				s := kerneltest.Stream(b, open)
				x := kerneltest.Upload(b, s, make([]float32, n))
				took := kerneltest.Measure(b, s, func() error { return Apply(s, f, x, x) })
				b.ReportMetric(float64(took.Nanoseconds())/n, "ns/element")
			})
		}
	}
}

// TestUnaligned computes functions of elements that do not begin at a multiple of 16 bytes.
func TestUnaligned(t *testing.T) {
	const n = 64
	eachForm(t, func(t *testing.T, s *device.Stream, form row.Form) {
		host := make([]dtype.BF16, n+2)
		for i := range host {
			host[i] = dtype.BF16From32(float32(i%9) - 4)
		}
		whole := kerneltest.Upload(t, s, host)
		x, y, z := whole.Slice(1, n+1), kerneltest.Upload(t, s, poison[dtype.BF16](n)), kerneltest.Upload(t, s, poison[dtype.BF16](n))
		if err := (operation[dtype.BF16]{form, SiLU, x, y}).run(s); err != nil {
			t.Fatal(err)
		}
		if err := (Operands[dtype.BF16]{Gate: x, Up: whole.Slice(2, n+2), Y: z}).run(s, form, Shape{4, n / 4}, Separate); err != nil {
			t.Fatal(err)
		}
		applied, gated := kerneltest.Download(t, s, y), kerneltest.Download(t, s, z)
		for i := range n {
			want := SiLU.Reference(row.Float64(host[i+1]))
			if !near(applied[i], want) || !near(gated[i], want*row.Float64(host[i+2])) {
				t.Fatalf("functions of element %d are %v and %v", i, applied[i].Float32(), gated[i].Float32())
			}
		}
	})
}
