package dtype_test

import (
	"fmt"
	"math"
	"sort"
	"strconv"
	"testing"

	"github.com/gopherwarp/gopherwarp/dtype"
)

// number is the constraint of the floating-point types of this package.
type number interface {
	dtype.F16 | dtype.BF16 | dtype.F8E4M3 | dtype.F8E5M2
	Float32() float32
	Float64() float64
	IsNaN() bool
	String() string
}

// layout describes a format as its standard does, independently of the implementation.
type layout[T number] struct {
	man, bias int
	sign      T
	top       T // the largest number
	inf       T // the result of converting a value that is too large
	nan       T // the result of converting a NaN
	from32    func(float32) T
	from64    func(float64) T
}

var (
	f16  = layout[dtype.F16]{10, 15, 0x8000, 0x7bff, 0x7c00, 0x7fff, dtype.F16From32, dtype.F16From64}
	bf16 = layout[dtype.BF16]{7, 127, 0x8000, 0x7f7f, 0x7f80, 0x7fff, dtype.BF16From32, dtype.BF16From64}
	e4m3 = layout[dtype.F8E4M3]{3, 7, 0x80, 0x7e, 0x7e, 0x7f, dtype.F8E4M3From32, dtype.F8E4M3From64}
	e5m2 = layout[dtype.F8E5M2]{2, 15, 0x80, 0x7b, 0x7b, 0x7f, dtype.F8E5M2From32, dtype.F8E5M2From64}
)

func TestFormats(t *testing.T) {
	t.Run("F16", f16.test)
	t.Run("BF16", bf16.test)
	t.Run("F8E4M3", e4m3.test)
	t.Run("F8E5M2", e5m2.test)
}

func (f layout[T]) test(t *testing.T) {
	for i := range int(f.sign) {
		f.testValue(t, T(i))
	}
	for i := range int(f.top) {
		f.testBetween(t, T(i))
	}
	f.testEdges(t)
	f.testRandom(t)
}

// value returns the magnitude of h according to the definition of the format.
func (f layout[T]) value(h T) float64 {
	exp, frac := int(h)>>f.man, int(h)&(1<<f.man-1)
	if exp == 0 {
		return math.Ldexp(float64(frac), 1-f.bias-f.man)
	}
	return math.Ldexp(float64(frac|1<<f.man), exp-f.bias-f.man)
}

// testValue tests h, a magnitude, and its negative.
func (f layout[T]) testValue(t *testing.T, h T) {
	plus, minus := h.Float64(), (h | f.sign).Float64()
	switch {
	case h <= f.top:
		if plus != f.value(h) || minus != -f.value(h) || math.Signbit(plus) || !math.Signbit(minus) || h.IsNaN() {
			t.Errorf("%#x is %v and %v, want %v", h, plus, minus, f.value(h))
		}
		for _, x := range []T{h, h | f.sign} {
			if f.from32(x.Float32()) != x || f.from64(x.Float64()) != x || float64(x.Float32()) != x.Float64() {
				t.Errorf("%#x does not survive", x)
			}
			if back, err := strconv.ParseFloat(x.String(), 64); err != nil || f.from64(back) != x {
				t.Errorf("%#x prints as %s", x, x)
			}
		}
	case h == f.top+1 && h != f.nan:
		if !math.IsInf(plus, 1) || !math.IsInf(minus, -1) || h.IsNaN() || h.String() != "+Inf" {
			t.Errorf("%#x is %v and %v, want infinities", h, plus, minus)
		}
		if f.from32(float32(plus)) != f.inf || f.from64(minus) != f.inf|f.sign {
			t.Errorf("infinities become %#x and %#x, want %#x", f.from32(float32(plus)), f.from64(minus), f.inf)
		}
	default:
		if plus == plus || minus == minus || !h.IsNaN() || !(h | f.sign).IsNaN() || h.String() != "NaN" {
			t.Errorf("%#x is %v and %v, want NaNs", h, plus, minus)
		}
		if f.from32(h.Float32()) != f.nan || f.from64(minus) != f.nan {
			t.Errorf("NaN %#x becomes %#x", h, f.from32(h.Float32()))
		}
	}
}

// testBetween tests the rounding of the midpoint between h and the next number, and of the
// neighbors of the midpoint.
func (f layout[T]) testBetween(t *testing.T, h T) {
	middle := (f.value(h) + f.value(h+1)) / 2
	even := h + h&1
	for _, c := range []struct {
		x    float64
		want T
	}{
		{math.Nextafter(middle, 0), h}, {middle, even}, {math.Nextafter(middle, math.Inf(1)), h + 1},
	} {
		if got := f.from64(c.x); got != c.want {
			t.Fatalf("%v becomes %#x, want %#x", c.x, got, c.want)
		}
		if got := f.from64(-c.x); got != c.want|f.sign {
			t.Fatalf("%v becomes %#x, want %#x", -c.x, got, c.want|f.sign)
		}
	}
	m := float32(middle)
	if float64(m) != middle {
		return // no float32 is between the smallest numbers of bfloat16
	}
	below, above := math.Nextafter32(m, 0), math.Nextafter32(m, math.MaxFloat32)
	if got := [3]T{f.from32(below), f.from32(m), f.from32(above)}; got != [3]T{h, even, h + 1} {
		t.Fatalf("around %v: %#x, want %#x %#x %#x", m, got, h, even, h+1)
	}
}

func (f layout[T]) testEdges(t *testing.T) {
	last := f.value(f.top)
	over := last + (last-f.value(f.top-1))/2 // the smallest value that rounds out of the format
	for _, c := range []struct {
		x    float64
		want T
	}{
		{0, 0}, {math.SmallestNonzeroFloat64, 0}, {math.Nextafter(over, 0), f.top}, {over, f.inf},
		{math.MaxFloat64, f.inf}, {math.Inf(1), f.inf}, {math.NaN(), f.nan},
	} {
		if got := f.from64(c.x); got != c.want {
			t.Errorf("%v becomes %#x, want %#x", c.x, got, c.want)
		}
		if float64(float32(c.x)) == c.x && f.from32(float32(c.x)) != c.want {
			t.Errorf("float32 %v becomes %#x, want %#x", c.x, f.from32(float32(c.x)), c.want)
		}
	}
	if got := f.from32(math.SmallestNonzeroFloat32); got != 0 {
		t.Errorf("the smallest float32 becomes %#x", got)
	}
}

// testRandom compares conversions of random float32 values of all exponents with a search for the
// nearest number.
func (f layout[T]) testRandom(t *testing.T) {
	for i := range uint32(1 << 16) {
		x := math.Float32frombits(i * 0x9e3779b1 & 0x7fffffff)
		if x != x || float64(x) > f.value(f.top) {
			continue
		}
		at := T(sort.Search(int(f.top), func(i int) bool { return f.value(T(i)) >= float64(x) }))
		if at > 0 {
			below, above := float64(x)-f.value(at-1), f.value(at)-float64(x)
			if below < above || below == above && at&1 == 1 {
				at--
			}
		}
		if got := f.from32(x); got != at {
			t.Fatalf("%v becomes %#x, want %#x", x, got, at)
		}
		if got := f.from64(float64(x)); got != at {
			t.Fatalf("float64 %v becomes %#x, want %#x", x, got, at)
		}
	}
}

// TestOneRounding converts a number for which an additional rounding to float32 changes the result.
func TestOneRounding(t *testing.T) {
	x := 1 + 1.0/2048 + 1.0/(1<<40)
	if got, twice := dtype.F16From64(x), dtype.F16From32(float32(x)); got != 0x3c01 || twice != 0x3c00 {
		t.Errorf("%#x in one rounding, %#x in two; want 0x3c01, 0x3c00", got, twice)
	}
}

func TestSaturation(t *testing.T) {
	for _, x := range []float32{449, 464, 465, 480, 1e30, float32(math.Inf(1))} {
		if p, n := dtype.F8E4M3From32(x), dtype.F8E4M3From32(-x); p.Float32() != 448 || n.Float32() != -448 {
			t.Errorf("e4m3: %v becomes %v and %v", x, p, n)
		}
	}
	for _, x := range []float32{57345, 61440, 65536, 1e30, float32(math.Inf(1))} {
		if p, n := dtype.F8E5M2From32(x), dtype.F8E5M2From32(-x); p.Float32() != 57344 || n.Float32() != -57344 {
			t.Errorf("e5m2: %v becomes %v and %v", x, p, n)
		}
	}
}

func TestIsInf(t *testing.T) {
	for sign, want := range map[int][2]bool{1: {true, false}, 0: {true, true}, -1: {false, true}} {
		f, b := dtype.F16(0x7c00), dtype.BF16(0x7f80)
		e := dtype.F8E5M2(0x7c)
		if [2]bool{f.IsInf(sign), (f | 0x8000).IsInf(sign)} != want || [2]bool{b.IsInf(sign), (b | 0x8000).IsInf(sign)} != want ||
			[2]bool{e.IsInf(sign), (e | 0x80).IsInf(sign)} != want {
			t.Errorf("IsInf(%d) is wrong", sign)
		}
	}
	if dtype.F16(0x7c01).IsInf(0) || dtype.F16(0x7bff).IsInf(0) {
		t.Error("a number or a NaN is an infinity")
	}
}

func TestFormatting(t *testing.T) {
	for _, c := range []struct {
		format string
		value  any
		want   string
	}{
		{"%v", dtype.F16From32(0.1), "0.1"},
		{"%v", dtype.BF16From32(math.Pi), "3.14"},
		{"%g", dtype.F8E4M3From32(0.3), "0.3"},
		{"%.3f", dtype.F16From32(0.1), "0.100"},
		{"%.8f", dtype.F16From32(0.1), "0.09997559"},
		{"%8.2f|", dtype.BF16From32(-2.5), "   -2.50|"},
		{"%+v", dtype.F16From32(2), "+2"},
		{"%e", dtype.F8E5M2From32(57344), "5.734400e+04"},
		{"%v", dtype.F16(0xfc00), "-Inf"},
		{"%v", dtype.BF16(0x7fff), "NaN"},
		{"%v", dtype.F16From32(65504), "65500"},
		{"%v", []dtype.BF16{0x3f80, 0x4000}, "[1 2]"},
	} {
		if got := fmt.Sprintf(c.format, c.value); got != c.want {
			t.Errorf("%s of %#v: %q, want %q", c.format, c.value, got, c.want)
		}
	}
}

func TestTypesOfNumbers(t *testing.T) {
	isType[dtype.F16](t, dtype.Float16, 2)
	isType[dtype.BF16](t, dtype.BFloat16, 2)
	isType[dtype.F8E4M3](t, dtype.Float8E4M3, 1)
	isType[dtype.F8E5M2](t, dtype.Float8E5M2, 1)
	isType[uint16](t, dtype.Uint16, 2)
}

func isType[T any](t *testing.T, want dtype.Type, size int) {
	t.Helper()
	if got, ok := dtype.Of[T](); !ok || got != want || got.Size() != size {
		t.Errorf("Of gives %v of %d bytes, want %v of %d", got, got.Size(), want, size)
	}
}

// TestBF16s converts lists of all lengths around the share of a goroutine as their numbers are converted.
func TestBF16s(t *testing.T) {
	for _, n := range []int{0, 1, 1<<18 - 1, 1 << 18, 1<<18 + 1, 3<<18 + 5} {
		list := make([]float32, n)
		for i := range list {
			list[i] = float32(i) * 1.001
		}
		got := dtype.BF16sFrom32(list)
		if len(got) != n {
			t.Fatalf("%d of %d numbers", len(got), n)
		}
		for i, x := range list {
			if got[i] != dtype.BF16From32(x) {
				t.Fatalf("number %d of %d: %v is %v", i, n, x, got[i])
			}
		}
	}
}
