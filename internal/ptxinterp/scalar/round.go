package scalar

import (
	"math"
	"math/big"
)

// Mode is a rounding mode of the ISA.
type Mode uint8

// The modes: .rn, .rz, .rm and .rp.
const (
	Nearest Mode = iota // ties to even
	Zero
	Down
	Up
)

// Rounding holds the modifiers of a float instruction that affect the rounding of its result.
type Rounding struct {
	Mode  Mode
	Flush bool // .ftz: subnormal operands and results are zeros
	Clamp bool // .sat: to 0..1
}

// aside returns where the number lies that the mode asks for, seen from the nearest one, which
// is above or below the exact value of the given sign: at the next one down (-1), at the next
// one up (1) or where it is (0).
func (m Mode) aside(acc big.Accuracy, sign int) int {
	down := m == Down || m == Zero && sign > 0
	up := m == Up || m == Zero && sign < 0
	switch {
	case acc == big.Above && down:
		return -1
	case acc == big.Below && up:
		return 1
	}
	return 0
}

// round32 rounds an exact value, which is not zero, to single precision.
func round32(x *big.Float, m Mode) float32 {
	r, acc := x.Float32()
	if d := m.aside(acc, x.Sign()); d != 0 {
		return math.Nextafter32(r, float32(math.Inf(d)))
	}
	return r
}

// round64 rounds an exact value, which is not zero, to double precision.
func round64(x *big.Float, m Mode) float64 {
	r, acc := x.Float64()
	if d := m.aside(acc, x.Sign()); d != 0 {
		return math.Nextafter(r, math.Inf(d))
	}
	return r
}

// exactBits holds every sum and product of doubles: exponents reach from -1074 to 1023, twice
// that for a product.
const exactBits = 4400

// quotientBits is enough to tell quotients and roots of doubles from numbers and midpoints
// between them: those differ within the first 110 bits where they differ at all.
const quotientBits = 240

func exact(f float64) *big.Float { return new(big.Float).SetPrec(exactBits).SetFloat64(f) }

func finite(fs ...float64) bool {
	for _, f := range fs {
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return false
		}
	}
	return true
}

// sum returns a*b + c exactly; the arguments are finite.
func sum(a, b, c float64) *big.Float {
	p := exact(a)
	p.Mul(p, exact(b))
	return p.Add(p, exact(c))
}

// exactZero is the sign of a sum that is exactly zero: -0 toward minus infinity, unless both
// terms are +0.
func exactZero(native float64, m Mode, product, c float64) float64 {
	if m == Down && (math.Signbit(product) || math.Signbit(c)) {
		return math.Copysign(0, -1)
	}
	return native
}

// fma32 rounds a*b + c once, to nearest. The product of two singles is exact in double
// precision; the double sum is rounded to odd, so that rounding it again to single is as good
// as rounding the exact sum (Boldo and Melquiond, "Emulation of FMA and correctly rounded
// sums: proved algorithms using rounding to odd", 2008).
func fma32(a, b, c float32) float32 {
	p := float64(a) * float64(b)
	z := float64(c)
	s := float64(p) + z
	if math.IsInf(s, 0) || s != s {
		return float32(s)
	}
	// The error of the sum, exactly (Knuth's two-sum). Conversions keep Go from fusing.
	t := float64(s - p)
	e := float64(p-float64(s-t)) + float64(z-t)
	u := math.Float64bits(s)
	if e != 0 && u&1 == 0 {
		if (e > 0) == (s > 0) {
			u |= 1
		} else {
			u--
		}
	}
	return float32(math.Float64frombits(u))
}
