package math32_test

import (
	"flag"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gopherwarp/gopherwarp/math32"
)

var special = []float32{
	0, math32.Copysign(0, -1), 1, -1, 0.5, -0.5, 1.5, 2, -2, 2.5, -2.5, 3, -3, 7.5, -7.5, 100, -100, 1 << 23, -1<<23 - 1, 1 << 24, 1<<24 + 2,
	1e30, -1e30, 0x1p-126, -0x1p-127, math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32, -math.SmallestNonzeroFloat32,
	math32.Inf(1), math32.Inf(-1), math32.NaN(),
}

// one lists the functions of one argument that package math has too.
var one = map[string]struct {
	f func(float32) float32
	m func(float64) float64
}{
	"Abs": {math32.Abs, math.Abs}, "Ceil": {math32.Ceil, math.Ceil}, "Floor": {math32.Floor, math.Floor}, "Trunc": {math32.Trunc, math.Trunc},
	"Round": {math32.Round, math.Round}, "RoundToEven": {math32.RoundToEven, math.RoundToEven}, "Sqrt": {math32.Sqrt, math.Sqrt},
	"Cbrt": {math32.Cbrt, math.Cbrt}, "Exp": {math32.Exp, math.Exp}, "Exp2": {math32.Exp2, math.Exp2}, "Expm1": {math32.Expm1, math.Expm1},
	"Log": {math32.Log, math.Log}, "Log2": {math32.Log2, math.Log2}, "Log10": {math32.Log10, math.Log10}, "Log1p": {math32.Log1p, math.Log1p},
	"Sin": {math32.Sin, math.Sin}, "Cos": {math32.Cos, math.Cos}, "Tan": {math32.Tan, math.Tan}, "Asin": {math32.Asin, math.Asin},
	"Acos": {math32.Acos, math.Acos}, "Atan": {math32.Atan, math.Atan}, "Sinh": {math32.Sinh, math.Sinh}, "Cosh": {math32.Cosh, math.Cosh},
	"Tanh": {math32.Tanh, math.Tanh}, "Asinh": {math32.Asinh, math.Asinh}, "Acosh": {math32.Acosh, math.Acosh}, "Atanh": {math32.Atanh, math.Atanh},
	"Erf": {math32.Erf, math.Erf}, "Erfc": {math32.Erfc, math.Erfc}, "Rsqrt": {math32.Rsqrt, func(x float64) float64 { return 1 / math.Sqrt(x) }},
}

// two lists the functions of two arguments with their documented errors.
var two = map[string]struct {
	f     func(x, y float32) float32
	m     func(x, y float64) float64
	bound float64
}{
	"Pow": {math32.Pow, math.Pow, 2.2}, "Hypot": {math32.Hypot, math.Hypot, 1}, "Atan2": {math32.Atan2, math.Atan2, 2}, "Mod": {math32.Mod, math.Mod, 0},
	"Max": {math32.Max, math.Max, 0}, "Min": {math32.Min, math.Min, 0}, "Dim": {math32.Dim, math.Dim, 0.5}, "Copysign": {math32.Copysign, math.Copysign, 0},
}

// units returns the difference of got and want in units in the last place of want.
func units(got float32, want float64) float64 {
	if want != want && got != got || float64(got) == want && math32.Signbit(got) == math.Signbit(want) {
		return 0
	}
	g := max(-0x1p128, min(float64(got), 0x1p128))
	w := max(-0x1p128, min(want, 0x1p128))
	_, e := math.Frexp(w)
	if g == 0 && w == 0 && want == 0 || math.IsNaN(g-w) {
		return math.Inf(1)
	}
	return math.Abs(g-w) / math.Ldexp(1, max(e-24, -149))
}

func TestSpecial(t *testing.T) {
	for name, f := range one {
		for _, x := range special {
			if got, want := f.f(x), f.m(float64(x)); !(units(got, want) <= 4) {
				t.Errorf("%s(%g) is %g, want %g", name, x, got, want)
			}
		}
	}
	for name, f := range two {
		for _, x := range special {
			for _, y := range special {
				if got, want := f.f(x, y), f.m(float64(x), float64(y)); !(units(got, want) <= f.bound) {
					t.Errorf("%s(%g, %g) is %g, want %g", name, x, y, got, want)
				}
			}
		}
	}
}

var seed = flag.Uint64("seed", 1, "seed of the random inputs of functions of two arguments")

// TestTwo tests random numbers of all magnitudes, and for Pow many pairs whose power is in the
// range of float32. The seed is fixed, because the bound of Pow has not been verified for all
// pairs.
func TestTwo(t *testing.T) {
	r := rand.New(rand.NewPCG(*seed, 2))
	for range 300_000 {
		x, y := number(r), number(r)
		if r.IntN(2) == 0 {
			x = math32.Abs(x)
			y = float32((r.Float64()*280 - 150) / math.Log2(float64(x)))
		}
		for name, f := range two {
			if got, want := f.f(x, y), f.m(float64(x), float64(y)); !(units(got, want) <= f.bound) {
				t.Fatalf("seed %d: %s(%g, %g) is %g, want %g", *seed, name, x, y, got, want)
			}
		}
	}
}

func TestParts(t *testing.T) {
	same := func(a float32, b float64) bool {
		return a != a && b != b || math.Float32bits(a) == math.Float32bits(float32(b))
	}
	for _, x := range special {
		frac, exp := math32.Frexp(x)
		if f, e := math.Frexp(float64(x)); !same(frac, f) || exp != e {
			t.Errorf("Frexp(%g) is %g, %d, want %g, %d", x, frac, exp, f, e)
		}
		whole, rest := math32.Modf(x)
		if w, r := math.Modf(float64(x)); !same(whole, w) || !same(rest, r) {
			t.Errorf("Modf(%g) is %g, %g, want %g, %g", x, whole, rest, w, r)
		}
		for _, e := range []int{0, 1, -1, 30, -30, 250, -250, 1 << 40, -1 << 40} {
			if got, want := math32.Ldexp(x, e), math.Ldexp(float64(x), e); !same(got, want) {
				t.Errorf("Ldexp(%g, %d) is %g, want %g", x, e, got, want)
			}
		}
		if math32.Signbit(x) != math.Signbit(float64(x)) || math32.IsNaN(x) != math.IsNaN(float64(x)) {
			t.Errorf("Signbit or IsNaN of %g is wrong", x)
		}
		for _, sign := range []int{-1, 0, 1} {
			if math32.IsInf(x, sign) != math.IsInf(float64(x), sign) {
				t.Errorf("IsInf(%g, %d) is wrong", x, sign)
			}
		}
	}
}

func BenchmarkExp(b *testing.B)  { bench(b, math32.Exp) }
func BenchmarkLog(b *testing.B)  { bench(b, math32.Log) }
func BenchmarkSin(b *testing.B)  { bench(b, math32.Sin) }
func BenchmarkTanh(b *testing.B) { bench(b, math32.Tanh) }
func BenchmarkErf(b *testing.B)  { bench(b, math32.Erf) }
func BenchmarkPow(b *testing.B) {
	bench(b, func(x float32) float32 { return math32.Pow(x, 1.7) })
}

func BenchmarkMathExp(b *testing.B) {
	bench(b, func(x float32) float32 { return float32(math.Exp(float64(x))) })
}

func bench(b *testing.B, f func(float32) float32) {
	var in, out [1024]float32
	for i := range in {
		in[i] = float32(i) / 100
	}
	for i := 0; b.Loop(); i++ {
		out[i%1024] = f(in[i%1024])
	}
}

// TestSincos compares Sincos with Sin and Cos for numbers of all exponents.
func TestSincos(t *testing.T) {
	same := func(a, b float32) bool { return a != a && b != b || math.Float32bits(a) == math.Float32bits(b) }
	for bits := uint64(0); bits < 1<<32; bits += 10007 {
		x := math.Float32frombits(uint32(bits))
		if s, c := math32.Sincos(x); !same(s, math32.Sin(x)) || !same(c, math32.Cos(x)) {
			t.Fatalf("Sincos(%g) is %g, %g, want %g, %g", x, s, c, math32.Sin(x), math32.Cos(x))
		}
	}
	for _, x := range special {
		if s, c := math32.Sincos(x); !same(s, math32.Sin(x)) || !same(c, math32.Cos(x)) {
			t.Errorf("Sincos(%g) is %g, %g, want %g, %g", x, s, c, math32.Sin(x), math32.Cos(x))
		}
	}
}
