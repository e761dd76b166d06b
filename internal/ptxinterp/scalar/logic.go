package scalar

import (
	"math/bits"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
)

// And returns the bitwise and.
func And(a, b uint64) uint64 { return a & b }

// Or returns the bitwise or.
func Or(a, b uint64) uint64 { return a | b }

// Xor returns the bitwise exclusive or.
func Xor(a, b uint64) uint64 { return a ^ b }

// Not returns the complement.
func Not(t ptx.Type) Unary {
	w := widthOf(t)
	return func(a uint64) uint64 { return ^a & w.mask }
}

// Cnot returns 1 for 0 and 0 for all other values.
func Cnot(a uint64) uint64 {
	if a == 0 {
		return 1
	}
	return 0
}

// Shl shifts left; amounts of the width and more give 0.
func Shl(t ptx.Type) Binary {
	w := widthOf(t)
	return func(a, b uint64) uint64 { return a << b & w.mask }
}

// Shr shifts right, and fills with the sign where the type is signed; larger amounts act like
// the width.
func Shr(t ptx.Type) Binary {
	w := widthOf(t)
	if isSigned(t) {
		return func(a, b uint64) uint64 { return uint64(w.signed(a)>>b) & w.mask }
	}
	return func(a, b uint64) uint64 { return a >> b }
}

// Funnel shifts the 64 bits b:a left or right and returns the upper or lower half (shf). The
// amount wraps at 32 or is clamped to it.
func Funnel(left, wrap bool) Ternary {
	return func(a, b, c uint64) uint64 {
		n := min(c, 32)
		if wrap {
			n = c & 31
		}
		both := b<<32 | a
		if left {
			return both << n >> 32
		}
		return both >> n & 0xffffffff
	}
}

// Popc counts the bits that are set.
func Popc(a uint64) uint64 { return uint64(bits.OnesCount64(a)) }

// Clz counts the leading zeros.
func Clz(t ptx.Type) Unary {
	w := widthOf(t)
	return func(a uint64) uint64 { return uint64(bits.LeadingZeros64(a)) - uint64(w.shift) }
}

// Brev reverses the bits.
func Brev(t ptx.Type) Unary {
	w := widthOf(t)
	return func(a uint64) uint64 { return bits.Reverse64(a) >> w.shift }
}

// Bfind returns the place of the highest bit that differs from the sign, or the shift that
// moves it to the top; all ones where there is none.
func Bfind(t ptx.Type, shiftamt bool) Unary {
	w := widthOf(t)
	return func(a uint64) uint64 {
		if isSigned(t) && w.signed(a) < 0 {
			a = ^a & w.mask
		}
		if a == 0 {
			return 0xffffffff
		}
		place := uint64(bits.Len64(a) - 1)
		if shiftamt {
			return uint64(w.bits) - 1 - place
		}
		return place
	}
}

// Bfe extracts c bits from place b on; bits past the top and, for a signed type, past the
// field's end repeat the field's sign (section 9.7.1, bfe).
func Bfe(t ptx.Type) Ternary {
	w := widthOf(t)
	return func(a, b, c uint64) uint64 {
		pos, n := uint(b&0xff), uint(c&0xff)
		if n == 0 {
			return 0
		}
		field := a >> pos // 0 if pos is past the top
		if n < 64 {
			field &= 1<<n - 1
		}
		top := min(pos+n-1, w.bits-1)
		if isSigned(t) && a>>top&1 == 1 && top < pos {
			return w.mask
		}
		if isSigned(t) && a>>top&1 == 1 {
			field |= ^uint64(0) << (top - pos) // from the sign on
		}
		return field & w.mask
	}
}

// Bfi returns b with n of its bits from position pos on replaced by the low bits of a. It is the
// only instruction with four operands.
func Bfi(t ptx.Type) func(a, b, pos, n uint64) uint64 {
	w := widthOf(t)
	return func(a, b, pos, n uint64) uint64 {
		pos, n = pos&0xff, n&0xff
		field := uint64(1)<<n - 1 // all ones where n is 64 or more
		field = field << pos & w.mask
		return b&^field | a<<pos&field
	}
}

// Bmsk returns b ones from position a on; larger values are clamped to 32 or wrapped at it.
func Bmsk(wrap bool) Binary {
	return func(a, b uint64) uint64 {
		if wrap {
			a, b = a&31, b&31
		}
		return (uint64(1)<<min(b, 32) - 1) << min(a, 32) & 0xffffffff
	}
}

// Szext extends the low b bits of a to 32, by the sign for a signed type.
func Szext(t ptx.Type, wrap bool) Binary {
	return func(a, b uint64) uint64 {
		if wrap {
			b &= 31
		}
		if b == 0 {
			return 0
		}
		shift := 64 - min(b, 32)
		if isSigned(t) {
			return uint64(int64(a<<shift)>>shift) & 0xffffffff
		}
		return a << shift >> shift
	}
}

// Lop3 returns the function of three bits that the table gives, on all bits: bit 4a+2b+c of
// the table is the result for the bits a, b and c.
func Lop3(t ptx.Type, table uint8) Ternary {
	w := widthOf(t)
	return func(a, b, c uint64) uint64 {
		var r uint64
		for i := range 8 {
			if table>>i&1 == 0 {
				continue
			}
			x, y, z := a, b, c
			if i&4 == 0 {
				x = ^x
			}
			if i&2 == 0 {
				y = ^y
			}
			if i&1 == 0 {
				z = ^z
			}
			r |= x & y & z
		}
		return r & w.mask
	}
}

// prmtModes gives for each mode and each value of the low two selector bits the four
// source bytes, from the highest to the lowest (section 9.7.9, prmt).
var prmtModes = map[string][4]uint64{
	"f4e":  {0x3210, 0x4321, 0x5432, 0x6543},
	"b4e":  {0x5670, 0x6701, 0x7012, 0x0123},
	"rc8":  {0x0000, 0x1111, 0x2222, 0x3333},
	"ecl":  {0x3210, 0x3211, 0x3222, 0x3333},
	"ecr":  {0x0000, 0x1110, 0x2210, 0x3210},
	"rc16": {0x1010, 0x3232, 0x1010, 0x3232},
}

// Prmt picks four of the eight bytes b:a. The mode is "" for the general form.
func Prmt(mode string) (Ternary, bool) {
	if mode == "" {
		return permute, true
	}
	selectors, ok := prmtModes[mode]
	if !ok {
		return nil, false
	}
	return func(a, b, c uint64) uint64 { return permute(a, b, selectors[c&3]) }, true
}

// permute takes a selector of four nibbles: three bits pick a byte, the fourth replicates its
// sign instead.
func permute(a, b, selector uint64) uint64 {
	both := b<<32 | a
	var r uint64
	for i := range 4 {
		s := selector >> (4 * i) & 15
		v := both >> (8 * (s & 7)) & 0xff
		if s&8 != 0 {
			v = uint64(int64(int8(v))>>7) & 0xff
		}
		r |= v << (8 * i)
	}
	return r
}

// Fns returns the position of the n-th bit that is set in mask, counted from base up (n > 0) or
// down (n < 0). For n = 0 it returns base if that bit is set. It returns all ones if there is no
// such bit.
func Fns(mask, base, n uint64) uint64 {
	count, step := int64(int32(n)), int64(1)
	if count < 0 {
		count, step = -count, -1
	}
	if count == 0 {
		count, step = 1, 32 // looks at base only
	}
	for i := int64(base & 0xffffffff); i >= 0 && i < 32; i += step {
		if mask>>i&1 == 1 {
			if count--; count == 0 {
				return uint64(i)
			}
		}
	}
	return 0xffffffff
}
