package scalar

import "github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"

// Atomic returns the function from the old value in memory and the operand of an atom or red
// instruction to the new value: add, min, max, and, or, xor, exch, inc or dec. Compare-and-swap has
// one more operand and is not included. With ftz a sum of singles flushes subnormals, as it does in
// global memory.
func Atomic(op string, t ptx.Type, ftz bool) (Binary, bool) {
	class := t.Class()
	ok := false
	var f Binary
	switch op {
	case "add":
		if class == ptx.Float {
			return FloatAdd(t, Rounding{Flush: ftz && t == ptx.F32})
		}
		f, ok = Add(t), isInt(t)
	case "min":
		f, ok = Min(t), isInt(t)
	case "max":
		f, ok = Max(t), isInt(t)
	case "and":
		f, ok = And, class == ptx.Untyped
	case "or":
		f, ok = Or, class == ptx.Untyped
	case "xor":
		f, ok = Xor, class == ptx.Untyped
	case "exch":
		f, ok = func(_, b uint64) uint64 { return b }, class == ptx.Untyped
	case "inc":
		f, ok = increment, t == ptx.U32
	case "dec":
		f, ok = decrement, t == ptx.U32
	}
	return f, ok && t.Size() >= 4
}

// increment counts up to the operand and starts again at 0.
func increment(old, top uint64) uint64 {
	if old >= top {
		return 0
	}
	return old + 1
}

// decrement counts down to 0 and starts again at the operand, also from above it.
func decrement(old, top uint64) uint64 {
	if old == 0 || old > top {
		return top
	}
	return old - 1
}
