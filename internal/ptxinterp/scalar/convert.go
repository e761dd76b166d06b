package scalar

import (
	"math"
	"math/big"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
)

// Conversion holds the modifiers of cvt.
type Conversion struct {
	Rounding
	Integral bool // the mode is .rni, .rzi, .rmi or .rpi: to an integral value
}

// Convert returns cvt from one type to another. Its result is extended to 64 bits, by the
// sign for a signed type, because the destination register may be wider than the type.
func Convert(to, from ptx.Type, c Conversion) (Unary, bool) {
	toFloat, fromFloat := to == ptx.F32 || to == ptx.F64, from == ptx.F32 || from == ptx.F64
	switch {
	case from == ptx.F16 && to == ptx.F32:
		return func(a uint64) uint64 { return widened(dtype.F16(a).Float32(), c) }, true
	case from == ptx.BF16 && to == ptx.F32:
		return func(a uint64) uint64 { return widened(dtype.BF16(a).Float32(), c) }, true
	case from == ptx.F32 && to == ptx.F16 && !c.Clamp && c.Mode == Nearest:
		return func(a uint64) uint64 { return uint64(dtype.F16From32(flushIf(c.Flush, f32(a)))) }, true
	case from == ptx.F32 && to == ptx.BF16 && !c.Clamp && !c.Flush && c.Mode == Nearest:
		return func(a uint64) uint64 { return uint64(dtype.BF16From32(f32(a))) }, true
	case isInt(to) && isInt(from):
		return convertInts(to, from, c.Clamp), true
	case toFloat && isInt(from):
		return intToFloat(to, from, c), true
	case isInt(to) && fromFloat:
		return floatToInt(to, from, c), true
	case toFloat && fromFloat:
		return convertFloats(to, from, c), true
	}
	return nil, false
}

// widened is the result of a conversion from a narrower float, which is exact.
func widened(f float32, c Conversion) uint64 {
	if f != f && !c.Clamp {
		return NaN32
	}
	return finish(float64(f), ptx.F32, c)
}

func convertInts(to, from ptx.Type, clamp bool) Unary {
	read, write := Extend(from), Extend(to)
	if !clamp {
		return func(a uint64) uint64 { return write(read(a)) }
	}
	lo, hi := limits(to)
	return func(a uint64) uint64 {
		v := read(a)
		switch {
		case isSigned(from) && int64(v) < 0:
			return uint64(max(int64(v), lo))
		case v > hi:
			return hi
		}
		return v
	}
}

// limits returns the smallest and the largest value of an integer type.
func limits(t ptx.Type) (int64, uint64) {
	w := widthOf(t)
	if isSigned(t) {
		return w.min(), uint64(w.max())
	}
	return 0, w.mask
}

func intToFloat(to, from ptx.Type, c Conversion) Unary {
	read := Extend(from)
	return func(a uint64) uint64 {
		v := read(a)
		if c.Mode == Nearest || v == 0 {
			return finish(nearest(v, to, isSigned(from)), to, c)
		}
		x := new(big.Float).SetPrec(64)
		if isSigned(from) {
			x.SetInt64(int64(v))
		} else {
			x.SetUint64(v)
		}
		if to == ptx.F32 {
			return finish(float64(round32(x, c.Mode)), to, c)
		}
		return finish(round64(x, c.Mode), to, c)
	}
}

// nearest converts an integer to the float type, in one rounding.
func nearest(v uint64, to ptx.Type, signed bool) float64 {
	switch {
	case to == ptx.F32 && signed:
		return float64(float32(int64(v)))
	case to == ptx.F32:
		return float64(float32(v))
	case signed:
		return float64(int64(v))
	}
	return float64(v)
}

// finish clamps, flushes and returns the bits of a value that the type can hold.
func finish(f float64, t ptx.Type, c Conversion) uint64 {
	if c.Clamp {
		f = saturate(f)
	}
	if t == ptx.F64 {
		return math.Float64bits(f)
	}
	return bits32(flushIf(c.Flush, float32(f)))
}

// load returns the value of a float operand.
func load(a uint64, t ptx.Type, ftz bool) float64 {
	if t == ptx.F64 {
		return f64(a)
	}
	return float64(flushIf(ftz, f32(a)))
}

// integral rounds to an integral value.
func integral(f float64, m Mode) float64 {
	switch m {
	case Zero:
		return math.Trunc(f)
	case Down:
		return math.Floor(f)
	case Up:
		return math.Ceil(f)
	}
	return math.RoundToEven(f)
}

// floatToInt clamps to the type's range. NaN becomes 0 if the operand is single and the
// result narrower than 64 bits, and otherwise the result's top bit (section 9.7.9, cvt).
func floatToInt(to, from ptx.Type, c Conversion) Unary {
	lo, hi := limits(to)
	nan := Extend(to)(1 << (8*to.Size() - 1))
	if from == ptx.F32 && to.Size() < 8 {
		nan = 0
	}
	return func(a uint64) uint64 {
		f := integral(load(a, from, c.Flush), c.Mode)
		switch {
		case f != f:
			return nan
		case f <= float64(lo):
			return uint64(lo)
		case f >= float64(hi):
			return hi
		case isSigned(to):
			return uint64(int64(f))
		}
		return uint64(f)
	}
}

func convertFloats(to, from ptx.Type, c Conversion) Unary {
	return func(a uint64) uint64 {
		f := load(a, from, c.Flush)
		if f != f {
			return convertNaN(a, to, from, c)
		}
		if c.Integral {
			f = integral(f, c.Mode)
		} else if to == ptx.F32 && from == ptx.F64 && c.Mode != Nearest && f != 0 && finite(f) {
			f = float64(round32(exact(f), c.Mode))
		}
		return finish(f, to, c)
	}
}

func convertNaN(a uint64, to, from ptx.Type, c Conversion) uint64 {
	switch {
	case c.Clamp:
		return 0
	case to == ptx.F32:
		return NaN32
	case from == ptx.F64:
		return a | 1<<51
	}
	return math.Float64bits(float64(f32(a)))
}
