package scalar_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/scalar"
)

// Bits of single precision numbers.
const (
	one32   = 0x3f800000
	inf32   = 0x7f800000
	ninf32  = 0xff800000
	neg0    = 0x80000000
	tiny32  = 0x00000001 // the smallest subnormal
	least32 = 0x00800000 // the smallest normal
	max32   = 0x7f7fffff
	snan32  = 0x7f800001
)

// nan is the one NaN that single precision operations give.
const nan = scalar.NaN32

func must[F any](f F, ok bool) F {
	if !ok {
		panic("no such operation")
	}
	return f
}

func TestSingleCases(t *testing.T) {
	near, ftz, sat := scalar.Rounding{}, scalar.Rounding{Flush: true}, scalar.Rounding{Clamp: true}
	up, down, trunc := scalar.Rounding{Mode: scalar.Up}, scalar.Rounding{Mode: scalar.Down}, scalar.Rounding{Mode: scalar.Zero}
	add := func(r scalar.Rounding) scalar.Binary { return must(scalar.FloatAdd(ptx.F32, r)) }
	mul := func(r scalar.Rounding) scalar.Binary { return must(scalar.FloatMul(ptx.F32, r)) }
	div := func(r scalar.Rounding) scalar.Binary { return must(scalar.FloatDiv(ptx.F32, r)) }
	fma := func(r scalar.Rounding) scalar.Ternary { return must(scalar.FloatFma(ptx.F32, r)) }
	sqrt := func(r scalar.Rounding) scalar.Unary { return must(scalar.FloatSqrt(ptx.F32, r)) }
	for _, c := range []struct {
		name      string
		got, want uint64
	}{
		{"1+1", add(near)(one32, one32), 0x40000000},
		{"inf-inf", add(near)(inf32, ninf32), nan},
		{"snan+1", add(near)(snan32, one32), nan},
		{"-0 + -0", add(near)(neg0, neg0), neg0},
		{"1-1", add(near)(one32, one32|neg0), 0},
		{"1-1 down", add(down)(one32, one32|neg0), neg0},
		{"0+0 down", add(down)(0, 0), 0},
		{"0+-0 down", add(down)(0, neg0), neg0},
		{"1+tiny up", add(up)(one32, tiny32), one32 + 1},
		{"1+tiny down", add(down)(one32, tiny32), one32},
		{"1-tiny to zero", add(trunc)(one32, neg0|tiny32), one32 - 1},
		{"max+max to zero", add(trunc)(max32, max32), max32},
		{"max+max up", add(up)(max32, max32), inf32},
		{"-max-max up", add(up)(neg0|max32, neg0|max32), neg0 | max32},
		{"inf+1 to zero", add(trunc)(inf32, one32), inf32},
		{"ftz of operands", add(ftz)(tiny32, neg0|tiny32), 0},
		{"ftz keeps the sign", add(ftz)(neg0|tiny32, neg0), neg0},
		{"subnormal sum", add(near)(tiny32, tiny32), 2},
		{"ftz of the result", mul(ftz)(least32, 0x3f000000), 0},
		{"subnormal product", mul(near)(least32, 0x3f000000), least32 >> 1},
		{"tiny*tiny up", mul(up)(tiny32, tiny32), tiny32},
		{"-tiny*tiny up", mul(up)(neg0|tiny32, tiny32), neg0},
		{"-tiny*tiny down", mul(down)(neg0|tiny32, tiny32), neg0 | tiny32},
		{"0*inf", mul(near)(0, inf32), nan},
		{"sat of 2", mul(sat)(one32, 0x40000000), one32},
		{"sat of -1", mul(sat)(one32, neg0|one32), 0},
		{"sat of NaN", mul(sat)(nan, one32), 0},
		{"1/0", div(near)(one32, 0), inf32},
		{"1/-0", div(near)(one32, neg0), ninf32},
		{"0/0", div(near)(0, 0), nan},
		{"1/3", div(near)(one32, 0x40400000), 0x3eaaaaab},
		{"1/3 down", div(down)(one32, 0x40400000), 0x3eaaaaaa},
		{"1/3 up", div(up)(one32, 0x40400000), 0x3eaaaaab},
		{"4/2 up", div(up)(0x40800000, 0x40000000), 0x40000000},
		{"sqrt -0", sqrt(near)(neg0), neg0},
		{"sqrt -1", sqrt(near)(neg0 | one32), nan},
		{"sqrt 2", sqrt(near)(0x40000000), 0x3fb504f3},
		{"sqrt 2 up", sqrt(up)(0x40000000), 0x3fb504f4},
		{"sqrt 4 up", sqrt(up)(0x40800000), 0x40000000},
		{"fma 0*inf+nan", fma(near)(0, inf32, nan), nan},
		{"fma 1*1-1 down", fma(down)(one32, one32, neg0|one32), neg0},
		{"fma -0*1+0", fma(near)(neg0, one32, 0), 0},
		{"fma -0*1-0", fma(near)(neg0, one32, neg0), neg0},
		// Twice rounded, the first of these would be a tie to even: 1 + 2^-24 + 2^-60 or so.
		{"fma above a tie", fma(near)(0x33800000, one32+1, one32), one32 + 1},
		{"fma at a tie", fma(near)(0x33800000, one32, one32), one32},
		{"fma below a tie", fma(near)(0x33800000, one32-1, one32), one32},
		{"fma tie and a hair", fma(near)(0x00800001, 0x00800001, 0x3f800000), one32},
	} {
		if c.got != c.want {
			t.Errorf("%s = %#x, want %#x", c.name, c.got, c.want)
		}
	}
}

// TestFmaRandom compares with exact arithmetic, on operands whose exponents make the sum's
// bits lie anywhere.
func TestFmaRandom(t *testing.T) {
	f := must(scalar.FloatFma(ptx.F32, scalar.Rounding{}))
	r := rand.New(rand.NewPCG(3, 4))
	for range 200_000 {
		a, b := r.Uint32()&0x807fffff|uint32(100+r.IntN(50))<<23, r.Uint32()&0x807fffff|uint32(100+r.IntN(50))<<23
		x, y := float64(math.Float32frombits(a)), float64(math.Float32frombits(b))
		p := x * y
		c := math.Float32bits(float32(p * math.Ldexp(1, r.IntN(60)-30)))
		if r.IntN(2) == 0 {
			c ^= 1<<31 | uint32(r.IntN(4))
		}
		z := float64(math.Float32frombits(c))
		sum := new(big.Float).SetPrec(2000).SetFloat64(p)
		sum.Add(sum, big.NewFloat(z))
		want, _ := sum.Float32()
		if got := math.Float32frombits(uint32(f(uint64(a), uint64(b), uint64(c)))); got != want {
			t.Fatalf("fma(%#x, %#x, %#x) = %v, want %v", a, b, c, got, want)
		}
	}
}

func TestDoubleCases(t *testing.T) {
	bits := math.Float64bits
	up, down, trunc := scalar.Rounding{Mode: scalar.Up}, scalar.Rounding{Mode: scalar.Down}, scalar.Rounding{Mode: scalar.Zero}
	add := func(r scalar.Rounding) scalar.Binary { return must(scalar.FloatAdd(ptx.F64, r)) }
	fma := func(r scalar.Rounding) scalar.Ternary { return must(scalar.FloatFma(ptx.F64, r)) }
	div := func(r scalar.Rounding) scalar.Binary { return must(scalar.FloatDiv(ptx.F64, r)) }
	third := 1.0 / 3
	for _, c := range []struct {
		name      string
		got, want uint64
	}{
		{"payload of the first NaN", add(scalar.Rounding{})(0x7ff0000000000123, 0x7ff8000000000456), 0x7ff8000000000123},
		{"inf-inf", add(scalar.Rounding{})(bits(math.Inf(1)), bits(math.Inf(-1))), 0xfff8000000000000},
		{"1+tiny up", add(up)(bits(1), 1), bits(1) + 1},
		{"1+tiny to zero", add(trunc)(bits(1), 1), bits(1)},
		{"1/3 down", div(down)(bits(1), bits(3)), bits(third)},
		{"1/3 up", div(up)(bits(1), bits(3)), bits(third) + 1},
		{"max*2 down", must(scalar.FloatMul(ptx.F64, down))(bits(math.MaxFloat64), bits(2)), bits(math.MaxFloat64)},
		{"fma exact", fma(scalar.Rounding{})(bits(third), bits(3), bits(-1)), bits(-0x1p-54)},
		{"fma up of a hair", fma(up)(1, 1, bits(1)), bits(1) + 1},
		{"rcp 3 to zero", must(scalar.FloatRcp(ptx.F64, trunc))(bits(3)), bits(third)},
		{"sqrt 2 down", must(scalar.FloatSqrt(ptx.F64, down))(bits(2)), bits(math.Sqrt2) - 1},
		{"sqrt 2 up", must(scalar.FloatSqrt(ptx.F64, up))(bits(2)), bits(math.Sqrt2)},
	} {
		if c.got != c.want {
			t.Errorf("%s = %#x, want %#x", c.name, c.got, c.want)
		}
	}
	if _, ok := scalar.FloatAdd(ptx.F64, scalar.Rounding{Flush: true}); ok {
		t.Error("add.ftz.f64 exists")
	}
}

func TestMinMaxSign(t *testing.T) {
	mm := func(e scalar.Extremum) scalar.Binary { return must(scalar.FloatMinMax(ptx.F32, e)) }
	least, most := mm(scalar.Extremum{}), mm(scalar.Extremum{Max: true})
	xor := mm(scalar.Extremum{Max: true, SignAbs: true})
	for _, c := range []struct {
		name      string
		got, want uint64
	}{
		{"min(0, -0)", least(0, neg0), neg0},
		{"max(-0, 0)", most(neg0, 0), 0},
		{"min(nan, 1)", least(nan, one32), one32},
		{"max(1, snan)", most(one32, snan32), one32},
		{"min(nan, nan)", least(snan32, snan32), nan},
		{"min.NaN(nan, 1)", mm(scalar.Extremum{NaN: true})(nan, one32), nan},
		{"max.NaN(inf, nan)", mm(scalar.Extremum{Max: true, NaN: true})(0x7f800000, nan), nan},
		{"max.ftz(tiny, 0)", mm(scalar.Extremum{Max: true, Flush: true})(tiny32, neg0), 0},
		{"max.xorsign.abs(1, -2)", xor(one32, 0xc0000000), 0xc0000000},
		{"max.xorsign.abs(-1, -2)", xor(neg0|one32, 0xc0000000), 0x40000000},
		{"neg of NaN", must(scalar.FloatNeg(ptx.F32, false))(snan32), nan},
		{"neg 0", must(scalar.FloatNeg(ptx.F32, false))(0), neg0},
		{"abs -1", must(scalar.FloatAbs(ptx.F32, false))(neg0 | one32), one32},
		{"abs.ftz", must(scalar.FloatAbs(ptx.F32, true))(neg0 | tiny32), 0},
		{"neg.f64", must(scalar.FloatNeg(ptx.F64, false))(math.Float64bits(2)), math.Float64bits(-2)},
		{"copysign", scalar.Copysign(ptx.F32)(neg0, one32), neg0 | one32},
		{"copysign.f64", scalar.Copysign(ptx.F64)(0, math.Float64bits(-2)), math.Float64bits(2)},
	} {
		if c.got != c.want {
			t.Errorf("%s = %#x, want %#x", c.name, c.got, c.want)
		}
	}
}

func TestTestp(t *testing.T) {
	values := []uint64{0, neg0, tiny32, least32, one32, max32, inf32, ninf32, nan, snan32}
	for property, want := range map[string][]uint64{
		"finite":     {1, 1, 1, 1, 1, 1, 0, 0, 0, 0},
		"infinite":   {0, 0, 0, 0, 0, 0, 1, 1, 0, 0},
		"number":     {1, 1, 1, 1, 1, 1, 1, 1, 0, 0},
		"notanumber": {0, 0, 0, 0, 0, 0, 0, 0, 1, 1},
		"normal":     {0, 0, 0, 1, 1, 1, 0, 0, 0, 0},
		"subnormal":  {0, 0, 1, 0, 0, 0, 0, 0, 0, 0},
	} {
		f := must(scalar.Testp(property, ptx.F32))
		for i, v := range values {
			if got := f(v); got != want[i] {
				t.Errorf("testp.%s(%#x) = %d", property, v, got)
			}
		}
	}
	if f := must(scalar.Testp("subnormal", ptx.F64)); f(1) != 1 || f(math.Float64bits(1)) != 0 {
		t.Error("testp.subnormal.f64")
	}
}

// TestCompareFloat has the truth of every comparison for less, equal, greater, unordered.
func TestCompareFloat(t *testing.T) {
	pairs := [][2]uint64{{one32, 0x40000000}, {neg0, 0}, {0x40000000, one32}, {nan, one32}, {one32, nan}}
	for op, want := range map[string]string{
		"eq": "01000", "ne": "10100", "lt": "10000", "le": "11000", "gt": "00100", "ge": "01100",
		"equ": "01011", "neu": "10111", "ltu": "10011", "leu": "11011", "gtu": "00111", "geu": "01111",
		"num": "11100", "nan": "00011",
	} {
		f := must(scalar.Compare(op, ptx.F32, false))
		for i, p := range pairs {
			if got := f(p[0], p[1]); got != (want[i] == '1') {
				t.Errorf("setp.%s.f32(%#x, %#x) = %v", op, p[0], p[1], got)
			}
		}
	}
	if f := must(scalar.Compare("eq", ptx.F32, true)); !f(tiny32, 0) {
		t.Error("setp.eq.ftz.f32 does not flush")
	}
}

func TestCompareInt(t *testing.T) {
	for _, c := range []struct {
		op   string
		t    ptx.Type
		want bool // for -1 against 1
	}{
		{"lt", ptx.S32, true}, {"lt", ptx.U32, false}, {"lo", ptx.U32, false}, {"hi", ptx.U32, true}, {"ls", ptx.U16, false},
		{"hs", ptx.U64, true}, {"ge", ptx.S64, false}, {"le", ptx.S16, true}, {"gt", ptx.S16, false}, {"eq", ptx.B32, false}, {"ne", ptx.B64, true},
	} {
		minus1 := ^uint64(0) >> (64 - 8*c.t.Size())
		if got := must(scalar.Compare(c.op, c.t, false))(minus1, 1); got != c.want {
			t.Errorf("setp.%s%v(-1, 1) = %v", c.op, c.t, got)
		}
	}
	for _, no := range []struct {
		op string
		t  ptx.Type
	}{{"lt", ptx.B32}, {"lo", ptx.S32}, {"equ", ptx.U32}, {"hi", ptx.F32}} {
		if _, ok := scalar.Compare(no.op, no.t, false); ok {
			t.Errorf("setp.%s%v exists", no.op, no.t)
		}
	}
}

// TestApprox demands the errors that the ISA allows, on values across the range.
func TestApprox(t *testing.T) {
	for name, f := range map[string]func(float64) float64{
		"sqrt": math.Sqrt, "lg2": math.Log2, "ex2": math.Exp2, "sin": math.Sin, "cos": math.Cos, "tanh": math.Tanh,
		"rcp":   func(x float64) float64 { return 1 / x },
		"rsqrt": func(x float64) float64 { return 1 / math.Sqrt(x) },
	} {
		g := must(scalar.Approx(name, ptx.F32, false))
		for _, x := range []float32{0.001, 0.3, 1, 1.5, 3, 17.25, 88} {
			got := float64(math.Float32frombits(uint32(g(uint64(math.Float32bits(x))))))
			if want := f(float64(x)); math.Abs(got-want) > 0x1p-22*max(math.Abs(want), 0.5) {
				t.Errorf("%s(%v) = %v, want %v", name, x, got, want)
			}
		}
	}
	approx := func(name string, ftz bool) scalar.Unary { return must(scalar.Approx(name, ptx.F32, ftz)) }
	for _, c := range []struct {
		name      string
		got, want uint64
	}{
		{"rsqrt(-0)", approx("rsqrt", false)(neg0), ninf32},
		{"rsqrt(-1)", approx("rsqrt", false)(neg0 | one32), nan},
		{"lg2(0)", approx("lg2", false)(0), ninf32},
		{"lg2(-1)", approx("lg2", false)(neg0 | one32), nan},
		{"sin(inf)", approx("sin", false)(inf32), nan},
		{"ex2(-inf)", approx("ex2", false)(ninf32), 0},
		{"ex2.ftz(-140)", approx("ex2", true)(0xc30c0000), 0},
		{"ex2(-140)", approx("ex2", false)(0xc30c0000), 0x200},
		{"rcp.ftz(tiny)", approx("rcp", true)(tiny32), inf32},
		{"rcp.approx.ftz.f64", must(scalar.Approx("rcp", ptx.F64, true))(math.Float64bits(3)), math.Float64bits(1.0/3) &^ 0xffffffff},
		{"div.approx by 2^127", scalar.DivApprox(false)(one32, 0x7f000000), 0},
		{"div.approx inf by 2^127", scalar.DivApprox(false)(inf32, 0x7f000000), nan},
		{"div.approx", scalar.DivApprox(false)(0x40c00000, 0x40000000), 0x40400000},
	} {
		if c.got != c.want {
			t.Errorf("%s = %#x, want %#x", c.name, c.got, c.want)
		}
	}
	if _, ok := scalar.Approx("sin", ptx.F64, false); ok {
		t.Error("sin.approx.f64 exists")
	}
}
