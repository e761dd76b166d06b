package scalar

import "github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"

// Relation compares two values.
type Relation = func(a, b uint64) bool

// Compare returns the comparison op (section 9.3.1) for a type, and whether the type has it:
// bits are equal or not; unsigned order is also written lo, ls, hi, hs; floats have the
// unordered variants, which hold where an operand is NaN.
func Compare(op string, t ptx.Type, ftz bool) (Relation, bool) {
	switch {
	case t == ptx.F32:
		f, ok := compareFloat(op)
		return func(a, b uint64) bool {
			return f(float64(flushIf(ftz, f32(a))), float64(flushIf(ftz, f32(b))))
		}, ok
	case t == ptx.F64:
		f, ok := compareFloat(op)
		return func(a, b uint64) bool { return f(f64(a), f64(b)) }, ok && !ftz
	case ftz:
		return nil, false
	case t.Class() == ptx.Untyped && op != "eq" && op != "ne":
		return nil, false
	case isSigned(t):
		return compareSigned(op, widthOf(t))
	case t.Class() == ptx.Float:
		return nil, false
	}
	return compareUnsigned(op)
}

func compareSigned(op string, w width) (Relation, bool) {
	switch op {
	case "eq":
		return func(a, b uint64) bool { return a == b }, true
	case "ne":
		return func(a, b uint64) bool { return a != b }, true
	case "lt":
		return func(a, b uint64) bool { return w.signed(a) < w.signed(b) }, true
	case "le":
		return func(a, b uint64) bool { return w.signed(a) <= w.signed(b) }, true
	case "gt":
		return func(a, b uint64) bool { return w.signed(a) > w.signed(b) }, true
	case "ge":
		return func(a, b uint64) bool { return w.signed(a) >= w.signed(b) }, true
	}
	return nil, false
}

func compareUnsigned(op string) (Relation, bool) {
	switch op {
	case "eq":
		return func(a, b uint64) bool { return a == b }, true
	case "ne":
		return func(a, b uint64) bool { return a != b }, true
	case "lt", "lo":
		return func(a, b uint64) bool { return a < b }, true
	case "le", "ls":
		return func(a, b uint64) bool { return a <= b }, true
	case "gt", "hi":
		return func(a, b uint64) bool { return a > b }, true
	case "ge", "hs":
		return func(a, b uint64) bool { return a >= b }, true
	}
	return nil, false
}

func compareFloat(op string) (func(a, b float64) bool, bool) {
	switch op {
	case "eq":
		return func(a, b float64) bool { return a == b }, true
	case "ne":
		return func(a, b float64) bool { return a < b || a > b }, true
	case "lt":
		return func(a, b float64) bool { return a < b }, true
	case "le":
		return func(a, b float64) bool { return a <= b }, true
	case "gt":
		return func(a, b float64) bool { return a > b }, true
	case "ge":
		return func(a, b float64) bool { return a >= b }, true
	case "num":
		return func(a, b float64) bool { return a == a && b == b }, true
	}
	return compareUnordered(op)
}

func compareUnordered(op string) (func(a, b float64) bool, bool) {
	switch op {
	case "equ":
		return func(a, b float64) bool { return !(a < b || a > b) }, true
	case "neu":
		return func(a, b float64) bool { return a != b }, true
	case "ltu":
		return func(a, b float64) bool { return !(a >= b) }, true
	case "leu":
		return func(a, b float64) bool { return !(a > b) }, true
	case "gtu":
		return func(a, b float64) bool { return !(a <= b) }, true
	case "geu":
		return func(a, b float64) bool { return !(a < b) }, true
	case "nan":
		return func(a, b float64) bool { return a != a || b != b }, true
	}
	return nil, false
}

// AtLeastZero returns the test of slct: whether the third operand is zero or more. -0 is, NaN
// is not.
func AtLeastZero(t ptx.Type, ftz bool) (func(c uint64) bool, bool) {
	if t != ptx.S32 && t != ptx.F32 || ftz && t != ptx.F32 {
		return nil, false
	}
	f, ok := Compare("ge", t, ftz)
	return func(c uint64) bool { return f(c, 0) }, ok
}
