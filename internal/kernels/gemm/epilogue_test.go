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

// after is what follows a product.
type after struct {
	activation     Activation
	bias, residual []float32
}

// epilogues returns activations with and without a bias and a residual.
func epilogues(p problem) (all []after) {
	r := rand.New(rand.NewPCG(5, 6))
	bias := make([]float32, p.shape.N)
	for i := range bias {
		bias[i] = float32(r.NormFloat64())
	}
	residual := make([]float32, len(p.c))
	for i := range residual {
		residual[i] = dtype.BF16From64(r.NormFloat64()).Float32()
	}
	for a := None; a <= SwiGLU; a++ {
		all = append(all, after{a, nil, nil}, after{a, bias, nil}, after{a, nil, residual}, after{a, bias, residual})
	}
	return all
}

// element returns an element of C in float64, and a bound of what its error is relative to.
func (p problem) element(e after, row, col int) (want, scale float64) {
	sum := func(col int) (want, scale float64) {
		if e.bias != nil {
			want, scale = float64(e.bias[col]), math.Abs(float64(e.bias[col]))
		}
		product, size := p.product(row, col)
		return want + product, scale + size
	}
	want, scale = sum(col)
	switch e.activation {
	case SiLU:
		want /= 1 + math.Exp(-want)
	case GELU:
		want *= 0.5 * math.Erfc(-want/math.Sqrt2)
	case SwiGLU:
		up, upScale := sum(col + p.shape.N/2)
		scale = scale*math.Abs(up) + math.Abs(want)*upScale
		want = want / (1 + math.Exp(-want)) * up
	}
	if e.residual != nil {
		r := float64(e.residual[row*p.shape.LDC+col])
		want, scale = want+r, scale+math.Abs(r)
	}
	return want, scale
}

// checkAfter compares all elements of C. Its error may be tolerance times the sum of the magnitudes of terms, and round
// times its own, besides that of GELU.
func (p problem) checkAfter(t *testing.T, e after, got []float32, tolerance, round float64) {
	t.Helper()
	width, curve := p.shape.N, 1e-30
	switch e.activation {
	case SwiGLU:
		width /= 2
	case GELU:
		curve = 2.6e-5
	}
	for row := range p.shape.M {
		for col := range width {
			want, scale := p.element(e, row, col)
			if g := float64(got[row*p.shape.LDC+col]); !(math.Abs(g-want) <= tolerance*scale+round*math.Abs(want)+curve) {
				t.Fatalf("%+v, activation %d, bias %t, residual %t: row %d, column %d is %v, want %v", p.shape, e.activation, e.bias != nil, e.residual != nil, row, col, g, want)
			}
		}
	}
}

// gated returns the problem with the C of an activation.
func (p problem) gated(a Activation) problem {
	if a == SwiGLU {
		p.shape.LDC = p.shape.N/2 + 4*8
	}
	return p
}

// TestFloat32Epilogues compares what follows float32 products.
func TestFloat32Epilogues(t *testing.T) {
	for name, open := range kerneltest.Executions() {
		t.Run(name, func(t *testing.T) {
			s := kerneltest.Stream(t, open)
			p := newProblem(Shape{Layout: NT, M: 19, N: 90, K: 33, LDC: 100}, true)
			for i, e := range epilogues(p) {
				if name == "interp" && !sweep.Every(2, i+i/4) { // each activation with two of the four combinations of a bias and a residual
					continue
				}
				c := kerneltest.Upload(t, s, poisoned(len(p.c)))
				x := Operands[float32, float32, float32]{A: kerneltest.Upload(t, s, p.a), B: kerneltest.Upload(t, s, p.b), C: c, Activation: e.activation}
				p := p.gated(e.activation)
				x.Bias, x.Residual = optional(t, s, e.bias), optional(t, s, e.residual)
				if err := Float32(s, p.shape, x); err != nil {
					t.Fatal(err)
				}
				p.checkAfter(t, e, kerneltest.Download(t, s, c), 1e-6, 1e-6)
			}
		})
	}
}

// optional uploads a slice, unless it is nil.
func optional(t *testing.T, s *device.Stream, x []float32) device.Slice[float32] {
	if x == nil {
		return device.Slice[float32]{}
	}
	return kerneltest.Upload(t, s, x)
}

// poisoned returns NaNs.
func poisoned(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(math.NaN())
	}
	return x
}

// TestHalfEpilogues compares what follows products of 16-bit elements, in all forms that fit. The interpreter has an eighth of the results in
// float32, and an eighth in bfloat16; of the form Tiles half of those in bfloat16.
func TestHalfEpilogues(t *testing.T) {
	for _, name := range []string{"interp", "cuda"} {
		for _, f := range []Form{Auto, Tiles, Split, Few, Lean, Plain} {
			t.Run(fmt.Sprintf("%s/%v", name, f), func(t *testing.T) {
				s := kerneltest.Stream(t, kerneltest.Executions()[name])
				if f != Plain && s.Device().Info().Capability != (device.Capability{Major: 9}) {
					t.Skip("needs a GPU of compute capability 9.0")
				}
				shape := Shape{Layout: NT, M: 35, N: 272, K: 72, LDC: 280}
				if f == Lean {
					shape.M, shape.K = 13, 512
				}
				p := newProblem(shape, true)
				for i, e := range epilogues(p) {
					p := p.gated(e.activation)
					if name == "cuda" || sweep.Every(8, i+i/4+int(f)) || f == Tiles && i%4%2 == i/4%2 {
						p.half(t, s, f, e)
					}
					if name == "cuda" || sweep.Every(8, i+i/4+int(f)+4) || f == Tiles {
						p.single(t, s, f, e)
					}
				}
			})
		}
	}
}

// half computes the product of bfloat16 matrices.
func (p problem) half(t *testing.T, s *device.Stream, f Form, e after) {
	t.Helper()
	c := kerneltest.Upload(t, s, halves(poisoned(len(p.c))))
	x := Operands[dtype.BF16, dtype.BF16, dtype.BF16]{
		A: kerneltest.Upload(t, s, halves(p.a)), B: kerneltest.Upload(t, s, halves(p.b)), C: c,
		Bias: optional(t, s, e.bias), Activation: e.activation, Workspace: spare(t, s),
	}
	if e.residual != nil {
		x.Residual = kerneltest.Upload(t, s, halves(e.residual))
	}
	if err := HalfIn(s, f, p.shape, x); err != nil {
		t.Fatal(err)
	}
	p.checkAfter(t, e, singles(kerneltest.Download(t, s, c)), 1e-6, 1.0/256)
}

// single computes the product of bfloat16 matrices in float32.
func (p problem) single(t *testing.T, s *device.Stream, f Form, e after) {
	t.Helper()
	if f == Tiles && (e.bias != nil || e.residual != nil || e.activation != None) {
		return // only sums are stored in float32
	}
	c := kerneltest.Upload(t, s, poisoned(len(p.c)))
	x := Operands[dtype.BF16, dtype.BF16, float32]{
		A: kerneltest.Upload(t, s, halves(p.a)), B: kerneltest.Upload(t, s, halves(p.b)), C: c,
		Bias: optional(t, s, e.bias), Residual: optional(t, s, e.residual), Activation: e.activation, Workspace: spare(t, s),
	}
	if err := HalfTo32In(s, f, p.shape, x); err != nil {
		t.Fatal(err)
	}
	p.checkAfter(t, e, kerneltest.Download(t, s, c), 2e-6, 2e-6)
}

// spare returns a workspace for all forms.
func spare(t *testing.T, s *device.Stream) device.Slice[float32] {
	t.Helper()
	return kerneltest.Upload(t, s, poisoned((4+s.Device().Info().Cores)*tileRows*tileCols))
}

// singles converts bfloat16 numbers.
func singles(x []dtype.BF16) []float32 {
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = v.Float32()
	}
	return y
}

// TestAccumulate adds products to a float32 C.
func TestAccumulate(t *testing.T) {
	for _, name := range []string{"interp", "cuda"} {
		t.Run(name, func(t *testing.T) {
			s := kerneltest.Stream(t, kerneltest.Executions()[name])
			for _, shape := range []Shape{{Layout: TN, M: 136, N: 264, K: 40}, {Layout: NN, M: 7, N: 13, K: 9}, {Layout: NT, M: 131, N: 37, K: 64}} {
				p := newProblem(shape, true)
				c := kerneltest.Upload(t, s, p.c)
				x := Operands[dtype.BF16, dtype.BF16, float32]{A: kerneltest.Upload(t, s, halves(p.a)), B: kerneltest.Upload(t, s, halves(p.b)), C: c, Residual: c}
				if err := HalfTo32(s, shape, x); err != nil {
					t.Fatal(err)
				}
				p.check(t, kerneltest.Download(t, s, c), true, 2e-6)
			}
		})
	}
}

// TestHalfShapes compares products of float16 and bfloat16 matrices of odd sizes.
func TestHalfShapes(t *testing.T) {
	for _, name := range []string{"native", "interp", "cuda"} {
		for k, layout := range []Layout{NT, NN, TN} {
			t.Run(fmt.Sprintf("%s/%v", name, layout), func(t *testing.T) {
				s := kerneltest.Stream(t, kerneltest.Executions()[name])
				for i, shape := range shapes(layout) {
					if name == "interp" && !sweep.Every(3, i/2+k) || name == "native" && !sweep.Every(2, i/2+k) { // shapes with and without gaps
						continue
					}
					if name == "native" && shape.M*shape.N*shape.K > 1<<17 {
						continue // slow
					}
					p := newProblem(shape, false)
					c := kerneltest.Upload(t, s, halves(p.c))
					if err := Half(s, shape, Operands[dtype.BF16, dtype.BF16, dtype.BF16]{A: kerneltest.Upload(t, s, halves(p.a)), B: kerneltest.Upload(t, s, halves(p.b)), C: c}); err != nil {
						t.Fatal(err)
					}
					p.check(t, singles(kerneltest.Download(t, s, c)), false, 1.0/256)
					p.float16(t, s)
				}
			})
		}
	}
}

// float16 multiplies float16 numbers.
func (p problem) float16(t *testing.T, s *device.Stream) {
	t.Helper()
	to := func(x []float32) []dtype.F16 {
		y := make([]dtype.F16, len(x))
		for i, v := range x {
			y[i] = dtype.F16From32(v)
		}
		return y
	}
	a, b, c := kerneltest.Upload(t, s, to(p.a)), kerneltest.Upload(t, s, to(p.b)), kerneltest.Upload(t, s, to(p.c))
	wide := kerneltest.Upload(t, s, p.c)
	if err := errors.Join(Half(s, p.shape, Operands[dtype.F16, dtype.F16, dtype.F16]{A: a, B: b, C: c}), HalfTo32(s, p.shape, Operands[dtype.F16, dtype.F16, float32]{A: a, B: b, C: wide})); err != nil {
		t.Fatal(err)
	}
	p.check(t, kerneltest.Download(t, s, wide), false, 2e-6)
	got := make([]float32, c.Len())
	for i, v := range kerneltest.Download(t, s, c) {
		got[i] = v.Float32()
	}
	p.check(t, got, false, 1.0/2048)
}
