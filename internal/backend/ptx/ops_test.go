package ptx_test

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/dtype"
)

// A formula is an operation of the IR and what Go says it computes: want takes and returns
// the bits of values, the bits above the type's width zero.
type formula struct {
	text string // "add i8 X, Y": X, Y and N stand for the operands, N for a count of type i32
	want func(x, y uint64, n uint32) uint64
}

// result returns the type of the formula's value.
func (f formula) result() string { return strings.Fields(f.text)[1] }

// integers returns the formulas on integers of a width, in Go's own arithmetic: S and U
// are its types with and without sign.
func integers[S int8 | int16 | int32 | int64, U uint8 | uint16 | uint32 | uint64]() []formula {
	width := bits.Len64(uint64(^U(0)))
	s := func(name string, op func(x, y S) S) formula {
		return formula{fmt.Sprintf("%s i%d X, Y", name, width), func(x, y uint64, _ uint32) uint64 { return uint64(U(op(S(x), S(y)))) }}
	}
	u := func(name string, op func(x, y U) U) formula {
		return formula{fmt.Sprintf("%s i%d X, Y", name, width), func(x, y uint64, _ uint32) uint64 { return uint64(op(U(x), U(y))) }}
	}
	shift := func(name string, op func(x U, n uint32) U) formula {
		return formula{fmt.Sprintf("%s i%d X, N", name, width), func(x, _ uint64, n uint32) uint64 { return uint64(op(U(x), n)) }}
	}
	one := func(name string, op func(x U) U) formula {
		return formula{fmt.Sprintf("%s i%d X", name, width), func(x, _ uint64, _ uint32) uint64 { return uint64(op(U(x))) }}
	}
	is := func(name string, op func(x, y U) bool) formula {
		return formula{name + " i1 X, Y", func(x, y uint64, _ uint32) uint64 { return truth(op(U(x), U(y))) }}
	}
	return []formula{
		s("add", func(x, y S) S { return x + y }),
		s("sub", func(x, y S) S { return x - y }),
		s("mul", func(x, y S) S { return x * y }),
		s("sdiv", func(x, y S) S { return orZero(y, func() S { return x / y }) }),
		s("srem", func(x, y S) S { return orZero(y, func() S { return x % y }) }),
		u("udiv", func(x, y U) U { return orZero(y, func() U { return x / y }) }),
		u("urem", func(x, y U) U { return orZero(y, func() U { return x % y }) }),
		s("smulhi", func(x, y S) S {
			hi, lo := bits.Mul64(uint64(int64(x)), uint64(int64(y)))
			if x < 0 {
				hi -= uint64(int64(y))
			}
			if y < 0 {
				hi -= uint64(int64(x))
			}
			if width == 64 {
				return S(hi)
			}
			return S(lo >> width)
		}),
		u("umulhi", func(x, y U) U {
			hi, lo := bits.Mul64(uint64(x), uint64(y))
			if width == 64 {
				return U(hi)
			}
			return U(lo >> width)
		}),
		u("and", func(x, y U) U { return x & y }),
		u("or", func(x, y U) U { return x | y }),
		u("xor", func(x, y U) U { return x ^ y }),
		shift("shl", func(x U, n uint32) U { return x << n }),
		shift("lshr", func(x U, n uint32) U { return x >> n }),
		shift("ashr", func(x U, n uint32) U { return U(S(x) >> n) }),
		one("popc", func(x U) U { return U(bits.OnesCount64(uint64(x))) }),
		one("clz", func(x U) U { return U(bits.LeadingZeros64(uint64(x)) - 64 + width) }),
		one("brev", func(x U) U { return U(bits.Reverse64(uint64(x)) >> (64 - width)) }),
		is("eq", func(x, y U) bool { return x == y }),
		is("ne", func(x, y U) bool { return x != y }),
		is("slt", func(x, y U) bool { return S(x) < S(y) }),
		is("sle", func(x, y U) bool { return S(x) <= S(y) }),
		is("ult", func(x, y U) bool { return x < y }),
		is("ule", func(x, y U) bool { return x <= y }),
	}
}

// orZero keeps a division by zero, whose result is arbitrary, from panicking.
func orZero[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64](y T, op func() T) T {
	if y == 0 {
		return 0
	}
	return op()
}

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// booleans returns the formulas on i1, a number of one bit: 0 and, with a sign, -1.
func booleans() []formula {
	var out []formula
	add := func(name string, want func(x, y bool) bool) {
		out = append(out, formula{name + " i1 X, Y", func(x, y uint64, _ uint32) uint64 { return truth(want(x != 0, y != 0)) }})
	}
	for _, name := range []string{"add", "sub", "xor", "ne"} {
		add(name, func(x, y bool) bool { return x != y })
	}
	for _, name := range []string{"mul", "and"} {
		add(name, func(x, y bool) bool { return x && y })
	}
	for _, name := range []string{"sdiv", "udiv"} { // a division by 0 is not compared
		add(name, func(x, y bool) bool { return x })
	}
	for _, name := range []string{"srem", "urem", "smulhi", "umulhi"} {
		add(name, func(x, y bool) bool { return false })
	}
	add("or", func(x, y bool) bool { return x || y })
	add("eq", func(x, y bool) bool { return x == y })
	add("slt", func(x, y bool) bool { return x && !y })
	add("sle", func(x, y bool) bool { return x || !y })
	add("ult", func(x, y bool) bool { return !x && y })
	add("ule", func(x, y bool) bool { return !x || y })
	count := func(name string, want func(x uint64, n uint32) uint64) {
		out = append(out, formula{name, func(x, _ uint64, n uint32) uint64 { return want(x, n) }})
	}
	count("shl i1 X, N", func(x uint64, n uint32) uint64 { return x << n & 1 })
	count("lshr i1 X, N", func(x uint64, n uint32) uint64 { return x >> n })
	count("ashr i1 X, N", func(x uint64, _ uint32) uint64 { return x })
	count("popc i1 X", func(x uint64, _ uint32) uint64 { return x })
	count("clz i1 X", func(x uint64, _ uint32) uint64 { return 1 - x })
	count("brev i1 X", func(x uint64, _ uint32) uint64 { return x })
	return out
}

// floats returns the formulas on F, whose type in the IR is typ.
func floats[F float32 | float64](typ string) []formula {
	f2 := func(name string, op func(x, y F) F) formula {
		return formula{name + " " + typ + " X, Y", func(x, y uint64, _ uint32) uint64 { return toBits(op(ofBits[F](x), ofBits[F](y))) }}
	}
	f1 := func(name string, op func(x float64) float64) formula {
		return formula{name + " " + typ + " X", func(x, _ uint64, _ uint32) uint64 { return toBits(F(op(float64(ofBits[F](x))))) }}
	}
	is := func(name string, op func(x, y F) bool) formula {
		return formula{name + " i1 X, Y", func(x, y uint64, _ uint32) uint64 { return truth(op(ofBits[F](x), ofBits[F](y))) }}
	}
	return []formula{
		f2("fadd", func(x, y F) F { return x + y }),
		f2("fsub", func(x, y F) F { return x - y }),
		f2("fmul", func(x, y F) F { return x * y }),
		f2("fdiv", func(x, y F) F { return x / y }),
		f2("fmin", func(x, y F) F { return min(x, y) }),
		f2("fmax", func(x, y F) F { return max(x, y) }),
		f2("fcopysign", func(x, y F) F { return F(math.Copysign(float64(x), float64(y))) }),
		{"fma " + typ + " X, Y, X", func(x, y uint64, _ uint32) uint64 { return toBits(fusedMulAdd(ofBits[F](x), ofBits[F](y))) }},
		f1("fneg", func(x float64) float64 { return -x }),
		f1("fabs", math.Abs),
		f1("fsqrt", math.Sqrt), // exact for float32 too: its root has more than twice the bits
		f1("ffloor", math.Floor),
		f1("fceil", math.Ceil),
		f1("ftrunc", math.Trunc),
		f1("frint", math.RoundToEven),
		is("feq", func(x, y F) bool { return x == y }),
		is("fne", func(x, y F) bool { return x != y }),
		is("flt", func(x, y F) bool { return x < y }),
		is("fle", func(x, y F) bool { return x <= y }),
	}
}

// fusedMulAdd returns x*y+x rounded once.
func fusedMulAdd[F float32 | float64](x, y F) F {
	if _, ok := any(x).(float64); ok {
		return F(math.FMA(float64(x), float64(y), float64(x)))
	}
	// The product is exact in float64. Rounding the sum to odd there makes rounding it to
	// float32 the only rounding (Boldo and Melquiond, "Emulation of FMA").
	p, z := float64(x)*float64(y), float64(x)
	sum := p + z
	t := sum - p
	rest := (p - (sum - t)) + (z - t)
	if b := math.Float64bits(sum); rest != 0 && b&1 == 0 && !math.IsNaN(rest) {
		if (rest > 0) == (sum > 0) {
			b++
		} else {
			b--
		}
		sum = math.Float64frombits(b)
	}
	return F(sum)
}

func ofBits[F float32 | float64](b uint64) F {
	var zero F
	if _, ok := any(zero).(float32); ok {
		return F(math.Float32frombits(uint32(b)))
	}
	return F(math.Float64frombits(b))
}

func toBits[F float32 | float64](f F) uint64 {
	if f, ok := any(f).(float32); ok {
		return uint64(math.Float32bits(f))
	}
	return math.Float64bits(float64(f))
}

// edges are the operands that every pair of is tried: of integers of up to 64 bits
// and of floats.
var intEdges = []uint64{0, 1, 2, 3, 7, 0x55, 0x7f, 0x80, 0x81, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x12345678,
	0x7fffffff, 0x80000000, 0xffffffff, 0x123456789abcdef0, 1<<63 - 1, 1 << 63, 1<<64 - 2, 1<<64 - 1}

var floatEdges = []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 0.1, 3, 1e-40, -1e-310, 5e-324, 127.5, 128, -129,
	255.9, 256, 32768, -32769, 65536, 1 << 24, 1 << 31, -1 << 31, 1 << 32, 1 << 52, 1 << 63, -1 << 63, 1 << 64, 1e20, -1e30, 3e38, 1e300,
	math.MaxFloat32, math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN()}

// counts of shifts, which a thread takes in turn.
var counts = []uint32{0, 1, 2, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 1 << 20, 1<<32 - 1}

func edgesOf(typ string) []uint64 {
	var out []uint64
	seen := map[uint64]bool{}
	add := func(b uint64) {
		if !seen[b] {
			seen[b] = true
			out = append(out, b)
		}
	}
	switch typ {
	case "f32":
		for _, f := range floatEdges {
			add(toBits(float32(f)))
		}
	case "f64":
		for _, f := range floatEdges {
			add(toBits(f))
		}
	default:
		for _, i := range intEdges {
			add(i & (1<<bitsOf(typ) - 1))
		}
	}
	return out
}

func bitsOf(typ string) int {
	var n int
	fmt.Sscanf(typ[1:], "%d", &n)
	return n
}

func TestIntegers(t *testing.T) {
	for typ, formulas := range map[string][]formula{
		"i1": booleans(), "i8": integers[int8, uint8](), "i16": integers[int16, uint16](),
		"i32": integers[int32, uint32](), "i64": integers[int64, uint64](),
	} {
		t.Run(typ, func(t *testing.T) { tryAll(t, typ, formulas) })
	}
}

func TestFloats(t *testing.T) {
	t.Run("f32", func(t *testing.T) { tryAll(t, "f32", floats[float32]("f32")) })
	t.Run("f64", func(t *testing.T) { tryAll(t, "f64", floats[float64]("f64")) })
}

func TestConversions(t *testing.T) {
	for _, from := range []string{"i1", "i8", "i16", "i32", "i64", "f32", "f64"} {
		t.Run(from, func(t *testing.T) { tryAll(t, from, conversions(from)) })
	}
}

// conversions returns the formulas that turn a value of a type into another.
func conversions(from string) []formula {
	var out []formula
	add := func(op, to string, want func(x uint64) uint64) {
		out = append(out, formula{op + " " + to + " X", func(x, _ uint64, _ uint32) uint64 { return want(x) }})
	}
	n := bitsOf(from)
	for _, to := range []string{"i1", "i8", "i16", "i32", "i64"} {
		m := bitsOf(to)
		mask := uint64(1)<<m - 1
		switch {
		case from[0] == 'f':
			add("ftos", to, func(x uint64) uint64 { return toSigned(floatOf(from, x), m) & mask })
			add("ftou", to, func(x uint64) uint64 { return toUnsigned(floatOf(from, x), m) })
		case m < n:
			add("trunc", to, func(x uint64) uint64 { return x & mask })
		case m > n:
			add("zext", to, func(x uint64) uint64 { return x })
			add("sext", to, func(x uint64) uint64 { return uint64(signed(x, n)) & mask })
		}
	}
	switch from {
	case "f32":
		add("fext", "f64", func(x uint64) uint64 { return toBits(float64(ofBits[float32](x))) })
		add("bitcast", "i32", func(x uint64) uint64 { return x })
		add("ftof16", "i16", func(x uint64) uint64 { return uint64(dtype.F16From32(ofBits[float32](x))) })
		add("ftobf16", "i16", func(x uint64) uint64 { return uint64(dtype.BF16From32(ofBits[float32](x))) })
	case "f64":
		add("fround", "f32", func(x uint64) uint64 { return toBits(float32(ofBits[float64](x))) })
		add("bitcast", "i64", func(x uint64) uint64 { return x })
	default:
		add("stof", "f32", func(x uint64) uint64 { return toBits(float32(signed(x, n))) })
		add("utof", "f32", func(x uint64) uint64 { return toBits(float32(x)) })
		add("stof", "f64", func(x uint64) uint64 { return toBits(float64(signed(x, n))) })
		add("utof", "f64", func(x uint64) uint64 { return toBits(float64(x)) })
		if n == 16 {
			add("f16tof", "f32", func(x uint64) uint64 { return toBits(dtype.F16(x).Float32()) })
			add("bf16tof", "f32", func(x uint64) uint64 { return toBits(dtype.BF16(x).Float32()) })
		}
		if n >= 32 {
			add("bitcast", fmt.Sprintf("f%d", n), func(x uint64) uint64 { return x })
		}
	}
	return out
}

func floatOf(typ string, x uint64) float64 {
	if typ == "f32" {
		return float64(ofBits[float32](x))
	}
	return ofBits[float64](x)
}

// signed reads n bits as a number with sign.
func signed(x uint64, n int) int64 { return int64(x<<(64-n)) >> (64 - n) }

// toSigned clamps f to n bits with sign, a NaN to 0.
func toSigned(f float64, n int) uint64 {
	top := math.Ldexp(1, n-1)
	switch {
	case f != f:
		return 0
	case f >= top:
		return 1<<(n-1) - 1
	case f < -top:
		return -(uint64(1) << (n - 1))
	}
	return uint64(int64(f))
}

// toUnsigned clamps f to n bits without sign, a NaN to 0.
func toUnsigned(f float64, n int) uint64 {
	switch {
	case !(f > 0):
		return 0
	case f >= math.Ldexp(1, n):
		return 1<<n - 1
	case f >= 1<<63:
		return uint64(f-1<<63) + 1<<63
	}
	return uint64(f)
}
