package scalar

import (
	"math"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
)

// Functions of one to three operands. The operands are in the order of the instruction's operands.
type (
	Unary   = func(a uint64) uint64
	Binary  = func(a, b uint64) uint64
	Ternary = func(a, b, c uint64) uint64
)

// NaN32 is the NaN of single precision operations.
const NaN32 = 0x7fffffff

// nan64 is the NaN that a double precision operation on numbers makes.
const nan64 = 0xfff8000000000000

// width is a type's size as the functions here need it.
type width struct {
	bits  uint   // 8 to 64
	mask  uint64 // the bits that a value has
	shift uint   // what moves the sign to bit 63
}

func widthOf(t ptx.Type) width {
	n := uint(8 * t.Size())
	return width{n, math.MaxUint64 >> (64 - n), 64 - n}
}

// signed extends the sign of a value.
func (w width) signed(a uint64) int64 { return int64(a<<w.shift) >> w.shift }

// max and min are the largest and smallest signed value.
func (w width) max() int64 { return int64(w.mask >> 1) }
func (w width) min() int64 { return -w.max() - 1 }

func isSigned(t ptx.Type) bool { return t.Class() == ptx.Signed }

func isInt(t ptx.Type) bool { return t.Class() == ptx.Signed || t.Class() == ptx.Unsigned }

// Extend returns the function that extends a value of type t to 64 bits: by its sign where
// the type is signed.
func Extend(t ptx.Type) Unary {
	w := widthOf(t)
	if isSigned(t) {
		return func(a uint64) uint64 { return uint64(w.signed(a)) }
	}
	return func(a uint64) uint64 { return a & w.mask }
}

func f32(a uint64) float32 { return math.Float32frombits(uint32(a)) }

// bits32 returns the bits of f, with the one NaN.
func bits32(f float32) uint64 {
	if f != f {
		return NaN32
	}
	return uint64(math.Float32bits(f))
}

func f64(a uint64) float64 { return math.Float64frombits(a) }

// bits64 returns the bits of f, computed from the operands: the first NaN among them, made
// quiet, is the result where f is one (section 9.7.3: double precision keeps payloads).
func bits64(f float64, operands ...uint64) uint64 {
	if f == f {
		return math.Float64bits(f)
	}
	for _, o := range operands {
		if x := f64(o); x != x {
			return o | 1<<51
		}
	}
	return nan64
}

// flush replaces a subnormal by zero of its sign (.ftz).
func flush(f float32) float32 {
	const smallest = 0x1p-126
	if f < smallest && f > -smallest {
		return float32(math.Copysign(0, float64(f)))
	}
	return f
}

// saturate clamps to 0..1; NaN becomes 0 (.sat).
func saturate[F float32 | float64](f F) F {
	switch {
	case f > 1:
		return 1
	case f > 0:
		return f
	}
	return 0
}
