package scalar

import (
	"math"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
)

// FloatNeg returns negation; of a NaN it is a NaN.
func FloatNeg(t ptx.Type, ftz bool) (Unary, bool) {
	switch t {
	case ptx.F32:
		return func(a uint64) uint64 { return bits32(-flushIf(ftz, f32(a))) }, true
	case ptx.F64:
		return func(a uint64) uint64 { return bits64(-f64(a), a) }, !ftz
	}
	return nil, false
}

// FloatAbs returns the absolute value; of a NaN it is a NaN.
func FloatAbs(t ptx.Type, ftz bool) (Unary, bool) {
	switch t {
	case ptx.F32:
		return func(a uint64) uint64 { return bits32(flushIf(ftz, f32(a&^(1<<31)))) }, true
	case ptx.F64:
		return func(a uint64) uint64 { return bits64(math.Abs(f64(a)), a) }, !ftz
	}
	return nil, false
}

// Extremum holds the modifiers of min and max.
type Extremum struct {
	Max     bool
	Flush   bool // .ftz
	NaN     bool // .NaN: a NaN operand gives NaN; without it the other operand
	SignAbs bool // .xorsign.abs: of the absolute values, with the product's sign
}

// FloatMinMax returns min or max. -0 is less than +0.
func FloatMinMax(t ptx.Type, e Extremum) (Binary, bool) {
	switch t {
	case ptx.F32:
		return func(a, b uint64) uint64 {
			x, y := float64(flushIf(e.Flush, f32(a))), float64(flushIf(e.Flush, f32(b)))
			return bits32(float32(e.pick(x, y)))
		}, true
	case ptx.F64:
		return func(a, b uint64) uint64 { return bits64(e.pick(f64(a), f64(b))) }, !e.Flush && !e.SignAbs
	}
	return nil, false
}

func (e Extremum) pick(x, y float64) float64 {
	switch {
	case !e.NaN && x != x:
		return y
	case !e.NaN && y != y:
		return x
	}
	negative := math.Signbit(x) != math.Signbit(y)
	if e.SignAbs {
		x, y = math.Abs(x), math.Abs(y)
	}
	r := min(x, y) // not math.Min, to which an infinity is less than NaN
	if e.Max {
		r = max(x, y)
	}
	if e.SignAbs && negative {
		r = -r
	}
	return r
}

// Copysign returns b with the sign of a.
func Copysign(t ptx.Type) Binary {
	sign := uint64(1) << (8*t.Size() - 1)
	return func(a, b uint64) uint64 { return a&sign | b&^sign }
}

// Testp returns the function that tests a property of a float. Its result is 0 or 1.
func Testp(property string, t ptx.Type) (Unary, bool) {
	class := classOf(t)
	var want func(c numberClass) bool
	switch property {
	case "finite":
		want = func(c numberClass) bool { return c < infinite }
	case "infinite":
		want = func(c numberClass) bool { return c == infinite }
	case "number":
		want = func(c numberClass) bool { return c != notANumber }
	case "notanumber":
		want = func(c numberClass) bool { return c == notANumber }
	case "normal":
		want = func(c numberClass) bool { return c == normal }
	case "subnormal":
		want = func(c numberClass) bool { return c == subnormal }
	default:
		return nil, false
	}
	return func(a uint64) uint64 { return truth(want(class(a))) }, true
}

type numberClass uint8

const (
	zero numberClass = iota
	subnormal
	normal
	infinite
	notANumber
)

func classOf(t ptx.Type) func(uint64) numberClass {
	mantissa := 52
	if t == ptx.F32 {
		mantissa = 23
	}
	w := widthOf(t)
	return func(a uint64) numberClass {
		top := w.mask >> 1 >> mantissa // the largest exponent
		fraction, exponent := a&(1<<mantissa-1), a>>mantissa&top
		switch {
		case exponent == top && fraction != 0:
			return notANumber
		case exponent == top:
			return infinite
		case exponent != 0:
			return normal
		case fraction != 0:
			return subnormal
		}
		return zero
	}
}

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func flushIf(ftz bool, f float32) float32 {
	if ftz {
		return flush(f)
	}
	return f
}
