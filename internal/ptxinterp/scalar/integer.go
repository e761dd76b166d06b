package scalar

import (
	"math/bits"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
)

// Add returns addition that wraps.
func Add(t ptx.Type) Binary {
	w := widthOf(t)
	return func(a, b uint64) uint64 { return (a + b) & w.mask }
}

// Sub returns subtraction that wraps.
func Sub(t ptx.Type) Binary {
	w := widthOf(t)
	return func(a, b uint64) uint64 { return (a - b) & w.mask }
}

// AddSat returns addition of .s32 values that clamps.
func AddSat() Binary {
	w := widthOf(ptx.S32)
	return func(a, b uint64) uint64 { return clampSigned(w, w.signed(a)+w.signed(b)) }
}

// SubSat returns subtraction of .s32 values that clamps.
func SubSat() Binary {
	w := widthOf(ptx.S32)
	return func(a, b uint64) uint64 { return clampSigned(w, w.signed(a)-w.signed(b)) }
}

func clampSigned(w width, v int64) uint64 { return uint64(min(max(v, w.min()), w.max())) & w.mask }

// MulLo returns the low half of the product.
func MulLo(t ptx.Type) Binary {
	w := widthOf(t)
	return func(a, b uint64) uint64 { return (a * b) & w.mask }
}

// MulHi returns the high half of the product.
func MulHi(t ptx.Type) Binary {
	w := widthOf(t)
	switch {
	case w.bits == 64 && isSigned(t):
		return mulHigh64
	case w.bits == 64:
		return func(a, b uint64) uint64 { hi, _ := bits.Mul64(a, b); return hi }
	case isSigned(t):
		return func(a, b uint64) uint64 { return uint64(w.signed(a)*w.signed(b)>>w.bits) & w.mask }
	}
	return func(a, b uint64) uint64 { return (a * b >> w.bits) & w.mask }
}

// mulHigh64 corrects the unsigned high half for the signs, as two's complement has it.
func mulHigh64(a, b uint64) uint64 {
	hi, _ := bits.Mul64(a, b)
	return hi - uint64(int64(a)>>63)&b - uint64(int64(b)>>63)&a
}

// MulWide returns the whole product of 16 or 32-bit operands, of twice their width.
func MulWide(t ptx.Type) Binary {
	w := widthOf(t)
	if isSigned(t) {
		double := uint64(1)<<(2*w.bits-1)<<1 - 1
		return func(a, b uint64) uint64 { return uint64(w.signed(a)*w.signed(b)) & double }
	}
	return func(a, b uint64) uint64 { return a * b }
}

// Mul24 returns the low or high 32 bits of the 48-bit product of the operands' low 24 bits.
func Mul24(t ptx.Type, high bool) Binary {
	operand := func(a uint64) int64 {
		if isSigned(t) {
			return int64(a<<40) >> 40
		}
		return int64(a & 0xffffff)
	}
	shift := 0
	if high {
		shift = 16
	}
	return func(a, b uint64) uint64 { return uint64(operand(a)*operand(b)>>shift) & 0xffffffff }
}

// Div returns the quotient rounded toward zero. Division by zero, which is machine-specific in the
// ISA, returns all ones, as NVIDIA's machines do; the smallest number divided by -1 wraps.
func Div(t ptx.Type) Binary {
	w := widthOf(t)
	if isSigned(t) {
		return func(a, b uint64) uint64 {
			if b == 0 {
				return w.mask
			}
			return uint64(w.signed(a)/w.signed(b)) & w.mask
		}
	}
	return func(a, b uint64) uint64 {
		if b == 0 {
			return w.mask
		}
		return a / b
	}
}

// Rem returns the remainder of Div, with the dividend's sign.
func Rem(t ptx.Type) Binary {
	w := widthOf(t)
	if isSigned(t) {
		return func(a, b uint64) uint64 {
			if b == 0 {
				return w.mask
			}
			return uint64(w.signed(a)%w.signed(b)) & w.mask
		}
	}
	return func(a, b uint64) uint64 {
		if b == 0 {
			return w.mask
		}
		return a % b
	}
}

// Abs returns the absolute value; that of the smallest number is itself.
func Abs(t ptx.Type) Unary {
	w := widthOf(t)
	return func(a uint64) uint64 {
		if w.signed(a) < 0 {
			return -a & w.mask
		}
		return a
	}
}

// Neg returns the two's complement.
func Neg(t ptx.Type) Unary {
	w := widthOf(t)
	return func(a uint64) uint64 { return -a & w.mask }
}

// Min returns the smaller operand.
func Min(t ptx.Type) Binary {
	w := widthOf(t)
	if isSigned(t) {
		return func(a, b uint64) uint64 { return uint64(min(w.signed(a), w.signed(b))) & w.mask }
	}
	return func(a, b uint64) uint64 { return min(a, b) }
}

// Max returns the larger operand.
func Max(t ptx.Type) Binary {
	w := widthOf(t)
	if isSigned(t) {
		return func(a, b uint64) uint64 { return uint64(max(w.signed(a), w.signed(b))) & w.mask }
	}
	return func(a, b uint64) uint64 { return max(a, b) }
}

// Sad returns c plus the distance of a and b.
func Sad(t ptx.Type) Ternary {
	w := widthOf(t)
	less := func(a, b uint64) bool { return a < b }
	if isSigned(t) {
		less = func(a, b uint64) bool { return w.signed(a) < w.signed(b) }
	}
	return func(a, b, c uint64) uint64 {
		if less(a, b) {
			a, b = b, a
		}
		return (c + a - b) & w.mask
	}
}

// Mad returns the function that adds c to a product. The product has the width of sum.
func Mad(product Binary, sum ptx.Type) Ternary {
	w := widthOf(sum)
	return func(a, b, c uint64) uint64 { return (product(a, b) + c) & w.mask }
}

// MadHiSat returns the clamping mad.hi.sat.s32.
func MadHiSat() Ternary {
	w := widthOf(ptx.S32)
	hi := MulHi(ptx.S32)
	return func(a, b, c uint64) uint64 { return clampSigned(w, w.signed(hi(a, b))+w.signed(c)) }
}

// Dot4 returns c plus the dot product of the operands' four bytes (dp4a).
func Dot4(ta, tb ptx.Type) Ternary {
	element := func(t ptx.Type, a uint64, i int) uint64 {
		b := a >> (8 * i) & 0xff
		if isSigned(t) {
			return uint64(int64(int8(b)))
		}
		return b
	}
	return func(a, b, c uint64) uint64 {
		for i := range 4 {
			c += element(ta, a, i) * element(tb, b, i)
		}
		return c & 0xffffffff
	}
}
