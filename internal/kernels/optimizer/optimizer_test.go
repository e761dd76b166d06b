package optimizer

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/kernels/kerneltest"
	"github.com/gopherwarp/gopherwarp/internal/kernels/row"
)

// problem is steps of an optimizer with n parameters.
type problem struct {
	n     int
	limit float32 // of the norm, or 0 for steps without Clip
	adam  *Adam   // or
	sgd   *Descent
	form  row.Form
}

func problems() []problem {
	return []problem{
		{n: 1, adam: &Adam{Rate: 1e-2, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8, Decay: 0.1}},
		{n: 1000, adam: &Adam{Rate: 3e-3, Beta1: 0.9, Beta2: 0.95, Epsilon: 1e-6}, limit: 1},
		{n: 4099, adam: &Adam{Rate: 1e-1, Beta1: 0, Beta2: 0.5, Epsilon: 1e-3, Decay: 1}, limit: 1e6},
		{n: 1000, adam: &Adam{Rate: 3e-3, Beta1: 0.9, Beta2: 0.95, Epsilon: 1e-6, Decay: 0.5}, limit: 1, form: row.Wide},
		{n: 2052, adam: &Adam{Rate: 1e-2, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8}, form: row.Wide},
		{n: 77, sgd: &Descent{Rate: 0.1}},
		{n: 5003, sgd: &Descent{Rate: 0.01, Momentum: 0.9, Decay: 0.01}, limit: 0.5},
	}
}

func TestSteps(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		t.Run(name, func(t *testing.T) {
			s := kerneltest.Stream(t, open)
			for i, p := range problems() {
				t.Run(fmt.Sprint(i), func(t *testing.T) {
					compare[float32](t, s, p)
					compare[dtype.BF16](t, s, p)
				})
			}
		})
	}
}

// compare takes steps with random derivatives and compares the parameters with the reference's after each.
func compare[T Element](t *testing.T, s *device.Stream, p problem) {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(p.n), 5))
	values, zeros := make([]float32, p.n), make([]float32, p.n)
	for i := range values {
		values[i] = float32(r.NormFloat64())
	}
	want := newReference(values)
	x := Operands[T]{
		Master: kerneltest.Upload(t, s, values), First: kerneltest.Upload(t, s, zeros), Second: kerneltest.Upload(t, s, zeros),
		Grad: kerneltest.Upload(t, s, make([]T, p.n)),
	}
	if row.Elements[T]() > row.Elements[float32]() {
		x.Copy = kerneltest.Upload(t, s, make([]T, p.n))
	}
	for step := 1; step <= 5; step++ {
		grad := make([]T, p.n)
		for i := range grad {
			grad[i] = row.From64[T](r.NormFloat64() * math.Exp2(float64(r.IntN(8)-4)))
		}
		if err := device.UploadTo(s, x.Grad, grad); err != nil {
			t.Fatal(err)
		}
		exact := row.Float64s(grad)
		x.Factor = clipped(t, s, p, x.Grad, exact)
		if err := take(s, p, x, step); err != nil {
			t.Fatal(err)
		}
		p.expect(want, exact, step)
		verify(t, s, x, want)
	}
}

// clipped launches Clip, if there is a limit, compares the factor and the norm, and multiplies exact by the factor.
func clipped[T Element](t *testing.T, s *device.Stream, p problem, grad device.Slice[T], exact []float64) device.Slice[float32] {
	t.Helper()
	if p.limit == 0 {
		return device.Slice[float32]{}
	}
	c := Clipping[T]{Limit: p.limit, Grad: grad, Workspace: kerneltest.Upload(t, s, make([]float32, Workspace(p.n))), Factor: kerneltest.Upload(t, s, make([]float32, 2))}
	if err := Clip(s, c); err != nil {
		t.Fatal(err)
	}
	factor, norm := clip(exact, float64(p.limit))
	got := kerneltest.Download(t, s, c.Factor)
	if math.Abs(float64(got[0])-factor) > 1e-6*factor || math.Abs(float64(got[1])-norm) > 1e-6*norm {
		t.Errorf("factor %g and norm %g, want %g and %g", got[0], got[1], factor, norm)
	}
	for i := range exact {
		exact[i] *= factor
	}
	return c.Factor
}

// take takes a step.
func take[T Element](s *device.Stream, p problem, x Operands[T], step int) error {
	if p.sgd != nil {
		return SGD(s, *p.sgd, x)
	}
	a := *p.adam
	a.Step = step
	return x.adamW(s, p.form, a)
}

// expect takes the reference's step.
func (p problem) expect(want *reference, grad []float64, step int) {
	if p.sgd != nil {
		want.sgd(grad, *p.sgd, step)
		return
	}
	a := *p.adam
	a.Step = step
	want.adamW(grad, a)
}

// verify compares the parameters, their copy, and the derivatives, which must be 0.
func verify[T Element](t *testing.T, s *device.Stream, x Operands[T], want *reference) {
	t.Helper()
	got, grad := kerneltest.Download(t, s, x.Master), kerneltest.Download(t, s, x.Grad)
	var rounded []T
	if x.Copy.Len() > 0 {
		rounded = kerneltest.Download(t, s, x.Copy)
	}
	for i, v := range got {
		if math.Abs(float64(v)-want.x[i]) > 4e-6*(1+math.Abs(want.x[i])) || row.Float64(grad[i]) != 0 {
			t.Fatalf("parameter %d is %g, want %g; its derivative is %v, want 0", i, v, want.x[i], grad[i])
		}
		if rounded != nil && rounded[i] != row.From64[T](float64(v)) {
			t.Fatalf("the copy of parameter %d, %g, is %v", i, v, rounded[i])
		}
	}
}

// TestKnown compares a step with numbers that were computed by hand: the first step of Adam moves each parameter by the rate, whatever
// the derivative is, after decay.
func TestKnown(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		t.Run(name, func(t *testing.T) {
			s := kerneltest.Stream(t, open)
			up := func(v ...float32) device.Slice[float32] { return kerneltest.Upload(t, s, v) }
			x := Operands[float32]{Master: up(1, -2, 4), First: up(0, 0, 0), Second: up(0, 0, 0), Grad: up(1024, -1./1024, 0)}
			if err := AdamW(s, Adam{Rate: 0.125, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-12, Decay: 2, Step: 1}, x); err != nil {
				t.Fatal(err)
			}
			for i, want := range []float32{0.75 - 0.125, -1.5 + 0.125, 3} {
				if got := kerneltest.Download(t, s, x.Master)[i]; math.Abs(float64(got-want)) > 1e-6 {
					t.Errorf("parameter %d is %g, want %g", i, got, want)
				}
			}
		})
	}
}

// TestClipIsReproducible compares the bits of the norms of two calls, and of large and empty arrays with the sums.
func TestClipIsReproducible(t *testing.T) {
	for name, open := range kerneltest.VectorUnits() {
		t.Run(name, func(t *testing.T) {
			s := kerneltest.Stream(t, open)
			for _, n := range []int{0, 1, 255, 1 << 20} {
				grad := make([]float32, n)
				for i := range grad {
					grad[i] = float32(i%7) - 3
				}
				var last []float32
				for range 3 {
					c := Clipping[float32]{Grad: kerneltest.Upload(t, s, grad), Workspace: kerneltest.Upload(t, s, make([]float32, Workspace(n))), Factor: kerneltest.Upload(t, s, make([]float32, 2))}
					if err := Clip(s, c); err != nil {
						t.Fatal(err)
					}
					got := kerneltest.Download(t, s, c.Factor)
					if last != nil && !slices.Equal(got, last) {
						t.Errorf("n = %d: %v, before %v", n, got, last)
					}
					last = got
				}
				_, norm := clip(row.Float64s(grad), 1)
				if last[0] != 1 || math.Abs(float64(last[1])-norm) > 1e-6*norm {
					t.Errorf("n = %d: %v, want a factor of 1 and a norm of %g", n, last, norm)
				}
			}
		})
	}
}

// TestNorm computes the norm of three arrays together, for derivatives of both types.
func TestNorm(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		t.Run(name, func(t *testing.T) {
			s := kerneltest.Stream(t, open)
			var all []float64
			var singles []device.Slice[float32]
			var brains []device.Slice[dtype.BF16]
			for _, n := range []int{1000, 1, 3000} {
				grad, rounded := make([]float32, n), make([]dtype.BF16, n)
				for i := range grad {
					grad[i] = float32(i%9) - 3
					rounded[i] = dtype.BF16From32(grad[i])
				}
				all = append(all, row.Float64s(grad)...)
				singles, brains = append(singles, kerneltest.Upload(t, s, grad)), append(brains, kerneltest.Upload(t, s, rounded))
			}
			_, want := clip(all, 1)
			workspace, factor := kerneltest.Upload(t, s, make([]float32, Workspace(1000))), kerneltest.Upload(t, s, make([]float32, 2))
			for kind, f := range map[string]func() error{
				"float32": func() error { return Norm(s, singles, workspace, factor) }, "bfloat16": func() error { return Norm(s, brains, workspace, factor) },
			} {
				if err := f(); err != nil {
					t.Fatal(err)
				}
				if got := kerneltest.Download(t, s, factor); got[0] != 1 || math.Abs(float64(got[1])-want) > 1e-6*want {
					t.Errorf("%s: %v, want a factor of 1 and a norm of %g", kind, got, want)
				}
			}
		})
	}
}

func TestShapes(t *testing.T) {
	s := kerneltest.Stream(t, kerneltest.Executions()["scalar"])
	up := func(n int) device.Slice[float32] { return kerneltest.Upload(t, s, make([]float32, n)) }
	for i, err := range []error{
		AdamW(s, Adam{Step: 1}, Operands[float32]{Master: up(3), First: up(3), Second: up(3), Grad: up(2)}),
		AdamW(s, Adam{Step: 1}, Operands[float32]{Master: up(3), First: up(3), Second: up(2), Grad: up(3)}),
		SGD(s, Descent{}, Operands[float32]{Master: up(3), First: up(3), Grad: up(3), Copy: up(1)}),
		SGD(s, Descent{}, Operands[float32]{Master: up(3), First: up(3), Grad: up(3), Factor: up(1)}),
		Clip(s, Clipping[float32]{Grad: up(3), Workspace: up(1), Factor: up(2)}),
		Norm(s, []device.Slice[float32]{up(3)}, up(256), up(1)),
	} {
		if !errors.Is(err, ErrShape) {
			t.Errorf("%d: %v, want ErrShape", i, err)
		}
	}
}

// BenchmarkAdamW measures steps of all parameters, with and without Clip, on the first GPU, or else on the CPU with fewer parameters. A
// step moves 32 bytes of each parameter, or 30 if derivatives are bfloat16; Clip reads the derivatives once more.
func BenchmarkAdamW(b *testing.B) {
	for name, open := range kerneltest.Executions() {
		n := map[string]int{"cuda": 1 << 27, "AVX-512": 1 << 20, "AVX2": 1 << 20}[name]
		for form, formName := range map[row.Form]string{row.Plain: "plain", row.Wide: "wide"} {
			for _, clip := range []bool{false, true} {
				if n > 0 && (form == row.Plain || name == "cuda") {
					b.Run(fmt.Sprintf("%s/%s/clip=%t/float32", name, formName, clip), func(b *testing.B) { measure[float32](b, open, n, form, clip) })
					b.Run(fmt.Sprintf("%s/%s/clip=%t/bfloat16", name, formName, clip), func(b *testing.B) { measure[dtype.BF16](b, open, n, form, clip) })
				}
			}
		}
	}
}

func measure[T Element](b *testing.B, open kerneltest.Opener, n int, form row.Form, clip bool) {
	s := kerneltest.Stream(b, open)
	array := func() device.Slice[float32] { return zeros[float32](b, s, n) }
	x := Operands[T]{Master: array(), First: array(), Second: array(), Grad: zeros[T](b, s, n)}
	scratch, factor := zeros[float32](b, s, Workspace(n)), zeros[float32](b, s, 2)
	bytes := 24 + 2*16/row.Elements[T]()
	if row.Elements[T]() > 4 {
		x.Copy = zeros[T](b, s, n)
		bytes += 16 / row.Elements[T]()
	}
	if clip {
		x.Factor = factor
		bytes += 16 / row.Elements[T]()
	}
	b.SetBytes(int64(n * bytes))
	launch := func(times int) {
		for i := range times {
			var err error
			if clip {
				err = Clip(s, Clipping[T]{Limit: 1, Grad: x.Grad, Workspace: scratch, Factor: factor})
			}
			if err := errors.Join(err, x.adamW(s, form, Adam{Rate: 1e-3, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8, Step: i + 1})); err != nil {
				b.Fatal(err)
			}
		}
		if err := s.Synchronize(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	launch(1)
	b.ResetTimer()
	launch(b.N)
}

// zeros returns n zeros, which are freed when the benchmark ends.
func zeros[T any](b *testing.B, s *device.Stream, n int) device.Slice[T] {
	b.Helper()
	x, err := device.Make[T](s, n)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := x.Close(); err != nil {
			b.Error(err)
		}
	})
	return x.All()
}
