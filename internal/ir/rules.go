package ir

import (
	"fmt"
	"slices"
)

// A rule says what is wrong with the types of a value whose number of arguments is right,
// or returns "".
type rule func(v *Value) string

func never(*Value) string { return "is not an operation" }

func any1(*Value) string { return "" }

func want(ok bool, format string, args ...any) string {
	if ok {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

// same reports a problem unless the result and all arguments satisfy is and are equal.
func same(v *Value, is func(*Type) bool, what string) string {
	for _, a := range v.Args {
		if !a.Type.Equal(v.Type) {
			return fmt.Sprintf("has type %v and an argument of type %v", v.Type, a.Type)
		}
	}
	if !is(v.Type) {
		return fmt.Sprintf("wants %s, not %v", what, v.Type)
	}
	return ""
}

func scalar(v *Value) string { return want(v.Type.IsScalar(), "wants a scalar type, not %v", v.Type) }

func aggregate(v *Value) string {
	return want(v.Type.Kind >= KindStruct, "wants a struct or array type, not %v", v.Type)
}

func phi(v *Value) string {
	if len(v.Args) != len(v.Block.Preds) {
		return fmt.Sprintf("has %d arguments, its block %d predecessors", len(v.Args), len(v.Block.Preds))
	}
	return same(v, func(t *Type) bool { return t.Kind != KindVoid }, "a value")
}

func selects(v *Value) string {
	if v.Args[0].Type.Kind != KindI1 {
		return "wants an i1 to choose by"
	}
	ok := v.Args[1].Type.Equal(v.Type) && v.Args[2].Type.Equal(v.Type)
	return want(ok, "chooses between %v and %v", v.Args[1].Type, v.Args[2].Type)
}

func intBinary(v *Value) string    { return same(v, (*Type).IsInt, "integers") }
func intUnary(v *Value) string     { return same(v, (*Type).IsInt, "an integer") }
func floatBinary(v *Value) string  { return same(v, (*Type).IsFloat, "floats") }
func floatUnary(v *Value) string   { return same(v, (*Type).IsFloat, "a float") }
func floatTernary(v *Value) string { return same(v, (*Type).IsFloat, "floats") }

func approximate(v *Value) string {
	return same(v, func(t *Type) bool { return t.Kind == KindF32 }, "f32")
}

func shift(v *Value) string {
	if v.Args[1].Type.Kind != KindI32 {
		return fmt.Sprintf("wants a count of type i32, not %v", v.Args[1].Type)
	}
	return want(v.Type.IsInt() && v.Args[0].Type.Equal(v.Type), "shifts %v to %v", v.Args[0].Type, v.Type)
}

// compares checks a comparison of arguments that satisfy is.
func compares(v *Value, is func(*Type) bool) string {
	a, b := v.Args[0].Type, v.Args[1].Type
	return want(v.Type.Kind == KindI1 && a.Equal(b) && is(a), "compares %v and %v to %v", a, b, v.Type)
}

func intCompare(v *Value) string {
	return compares(v, func(t *Type) bool { return t.IsInt() || t.IsPtr() })
}

func floatCompare(v *Value) string { return compares(v, (*Type).IsFloat) }

func narrower(v *Value) string {
	a := v.Args[0].Type
	ok := sameClass(a, v.Type) && a.Bits() > v.Type.Bits()
	return want(ok, "cannot narrow %v to %v", a, v.Type)
}

func wider(v *Value) string {
	a := v.Args[0].Type
	ok := sameClass(a, v.Type) && a.Bits() < v.Type.Bits()
	return want(ok, "cannot widen %v to %v", a, v.Type)
}

// sameClass reports whether the operation of a conversion between a and b is one of integers or floats.
func sameClass(a, b *Type) bool { return a.IsInt() && b.IsInt() || a.IsFloat() && b.IsFloat() }

func intToFloat(v *Value) string {
	a := v.Args[0].Type
	return want(a.IsInt() && v.Type.IsFloat(), "converts %v to %v", a, v.Type)
}

func floatToInt(v *Value) string {
	a := v.Args[0].Type
	return want(a.IsFloat() && v.Type.IsInt(), "converts %v to %v", a, v.Type)
}

func sameBits(v *Value) string {
	a := v.Args[0].Type
	ok := a.IsScalar() && v.Type.IsScalar() && a.Bits() == v.Type.Bits()
	return want(ok, "cannot reinterpret %v as %v", a, v.Type)
}

func halfToFloat(v *Value) string {
	a := v.Args[0].Type
	return want(a.Kind == KindI16 && v.Type.Kind == KindF32, "converts %v to %v", a, v.Type)
}

func floatToHalf(v *Value) string {
	a := v.Args[0].Type
	return want(a.Kind == KindF32 && v.Type.Kind == KindI16, "converts %v to %v", a, v.Type)
}

func parts(v *Value) string {
	if s := aggregate(v); s != "" {
		return s
	}
	if len(v.Args) != v.Type.NumParts() {
		return fmt.Sprintf("has %d arguments for %v", len(v.Args), v.Type)
	}
	for i, a := range v.Args {
		if !a.Type.Equal(v.Type.Part(i)) {
			return fmt.Sprintf("has part %d of type %v in %v", i, a.Type, v.Type)
		}
	}
	return ""
}

func hasPart(t *Type, i int64, part *Type) bool {
	return t.Kind >= KindStruct && i >= 0 && i < int64(t.NumParts()) && t.Part(int(i)).Equal(part)
}

func extract(v *Value) string {
	return want(hasPart(v.Args[0].Type, v.Imm, v.Type), "%v has no part %d of type %v", v.Args[0].Type, v.Imm, v.Type)
}

func insert(v *Value) string {
	ok := hasPart(v.Type, v.Imm, v.Args[1].Type) && v.Args[0].Type.Equal(v.Type)
	return want(ok, "%v has no part %d of type %v", v.Type, v.Imm, v.Args[1].Type)
}

func pointer(v *Value) string { return want(v.Type.IsPtr(), "wants a pointer type, not %v", v.Type) }

func offset(v *Value) string { return same(v, (*Type).IsPtr, "pointers") }

func index(v *Value) string {
	i := v.Args[1].Type
	ok := v.Type.IsPtr() && v.Args[0].Type.Equal(v.Type) && (i.Kind == KindI64 || i.Kind == KindI32)
	return want(ok, "indexes %v by %v to %v", v.Args[0].Type, i, v.Type)
}

func load(v *Value) string {
	ok := v.Args[0].Type.IsPtr() && v.Type.Kind != KindVoid
	return want(ok, "loads %v from %v", v.Type, v.Args[0].Type)
}

func store(v *Value) string {
	ok := v.Type.Kind == KindVoid && v.Args[0].Type.IsPtr() && v.Args[1].Type.Kind != KindVoid
	return want(ok, "stores %v to %v", v.Args[1].Type, v.Args[0].Type)
}

// atomic checks an atomic operation on numbers of type t, whose arguments after the address
// are such numbers, and that it knows its order.
func atomic(v *Value, t *Type, orders ...Order) string {
	if !v.Args[0].Type.IsPtr() || !t.IsInt() && !t.IsFloat() || t.Bits() < 8 {
		return fmt.Sprintf("cannot access %v through %v", t, v.Args[0].Type)
	}
	for _, a := range v.Args[1:] {
		if !a.Type.Equal(t) {
			return fmt.Sprintf("has an argument of type %v for %v", a.Type, t)
		}
	}
	return ordered(v, orders...)
}

// ordered checks that the order is among those given, all where none is.
func ordered(v *Value, orders ...Order) string {
	if !isMemory(v.Imm) {
		return fmt.Sprintf("has no order and scope %d", v.Imm)
	}
	o, _ := v.Memory()
	return want(len(orders) == 0 || slices.Contains(orders, o), "cannot be %v", o)
}

func atomicAdd(v *Value) string { return atomic(v, v.Type) }

func atomicInt(v *Value) string {
	if !v.Type.IsInt() {
		return fmt.Sprintf("wants an integer, not %v", v.Type)
	}
	return atomic(v, v.Type)
}

func atomicLoad(v *Value) string { return atomic(v, v.Type, Relaxed, Acquire, Sequential) }

func atomicStore(v *Value) string {
	if s := nothing(v); s != "" {
		return s
	}
	return atomic(v, v.Args[1].Type, Relaxed, Release, Sequential)
}

func fence(v *Value) string {
	if s := nothing(v); s != "" {
		return s
	}
	return ordered(v, AcqRel, Sequential)
}

func unroll(v *Value) string {
	if s := nothing(v); s != "" {
		return s
	}
	return want(v.Imm >= 1, "wants one iteration or more")
}

func copyAsync(v *Value) string {
	if !v.Args[0].Type.IsPtr() || !v.Args[1].Type.IsPtr() || v.Imm != 4 && v.Imm != 8 && v.Imm != 16 {
		return fmt.Sprintf("cannot copy %d bytes from %v to %v", v.Imm, v.Args[1].Type, v.Args[0].Type)
	}
	return nothing(v)
}

func fetchAsync(v *Value) string {
	if n := v.Args[2].Type; n.Kind != KindI32 {
		return fmt.Sprintf("wants a number of bytes of type i32, not %v", n)
	}
	return copyAsync(v)
}

func copyWait(v *Value) string {
	if v.Imm < 0 || v.Imm > 7 {
		return fmt.Sprintf("cannot leave %d groups", v.Imm)
	}
	return nothing(v)
}

func special(v *Value) string {
	return want(v.Type.Kind == KindI32 && v.Imm >= 0 && v.Imm < 3, "wants type i32 and an axis of 0 to 2")
}

func clusterBarrier(v *Value) string {
	if v.Imm < 0 || v.Imm > 2 {
		return fmt.Sprintf("has no half %d", v.Imm)
	}
	return nothing(v)
}

func peer(v *Value) string {
	ok := v.Type.IsPtr() && v.Type.Space == Generic && v.Args[0].Type.IsPtr() && v.Args[1].Type.Kind == KindI32
	return want(ok, "takes %v of block %v to %v", v.Args[0].Type, v.Args[1].Type, v.Type)
}

func word(v *Value) string { return want(v.Type.Kind == KindI32, "wants type i32") }

func clock(v *Value) string {
	return want(v.Type.Kind == KindI64 && (v.Imm == 0 || v.Imm == 1), "wants type i64 and a clock of 0 or 1")
}

func sleep(v *Value) string {
	if k := v.Args[0].Type; k.Kind != KindI32 {
		return fmt.Sprintf("sleeps %v", k)
	}
	return nothing(v)
}

func barrierCount(v *Value) string { return counted(v, KindI32) }

// vote checks that arg0 and the result are truths.
func vote(v *Value) string { return counted(v, KindI1) }

func ballot(v *Value) string { return counted(v, KindI32) }

// counted checks an operation that makes a number of a truth in each thread.
func counted(v *Value, result Kind) string {
	ok := v.Args[0].Type.Kind == KindI1 && v.Type.Kind == result
	return want(ok, "makes %v of %v", v.Type, v.Args[0].Type)
}

// exchangeable reports whether threads of a warp exchange values of type t.
func exchangeable(t *Type) bool { return (t.IsInt() || t.IsFloat()) && t.Bits() >= 32 }

func match(v *Value) string {
	t := v.Args[0].Type
	ok := exchangeable(t) && t.IsInt() && v.Type.Kind == KindI32
	return want(ok, "compares %v to %v", t, v.Type)
}

func shuffle(v *Value) string {
	ok := exchangeable(v.Type) && v.Args[0].Type.Equal(v.Type) && v.Args[1].Type.Kind == KindI32
	return want(ok, "exchanges %v for %v by %v", v.Args[0].Type, v.Type, v.Args[1].Type)
}

// Reduction is how OpWarpReduce combines numbers: its Imm.
type Reduction int64

// The reductions.
const (
	ReduceAdd Reduction = iota
	ReduceSMin
	ReduceUMin
	ReduceSMax
	ReduceUMax
	ReduceAnd
	ReduceOr
	ReduceXor
)

func warpReduce(v *Value) string {
	ok := v.Type.Kind == KindI32 && v.Args[0].Type.Kind == KindI32 && v.Imm >= 0 && v.Imm <= int64(ReduceXor)
	return want(ok, "reduces %v to %v by %d", v.Args[0].Type, v.Type, v.Imm)
}

func nothing(v *Value) string { return want(v.Type.Kind == KindVoid, "has no result") }

func condition(v *Value) string {
	return want(v.Args[0].Type.Kind == KindI1, "wants a condition of type i1, not %v", v.Args[0].Type)
}

func check(v *Value) string {
	if len(v.Args) == 0 || v.Args[0].Type.Kind != KindI1 {
		return "wants a condition of type i1"
	}
	return siteArgs(v, v.Args[1:])
}

func anyArgs(v *Value) string { return siteArgs(v, v.Args) }

func siteArgs(v *Value, args []*Value) string {
	site, ok := v.Aux.(*Site)
	if ok && v.Block.Func.Coarse > 0 && v.Op != OpPrint {
		n := len(args) - 1
		if n < 0 || args[n].Type.Kind != KindI32 {
			return "does not say which element it is about"
		}
		args = args[:n]
	}
	if !ok || len(site.Args) != len(args) {
		return fmt.Sprintf("has %d arguments that do not fit its site", len(args))
	}
	for i, a := range args {
		if !a.Type.IsScalar() || a.Type.Size() != int64(site.Args[i].Size()) {
			return fmt.Sprintf("has an argument of type %v for a %v", a.Type, site.Args[i])
		}
	}
	return nothing(v)
}

func call(v *Value) string {
	f, ok := v.Aux.(*Func)
	if !ok || len(f.Params) != len(v.Args) || !f.Result.Equal(v.Type) {
		return "does not fit the function that it calls"
	}
	for i, a := range v.Args {
		if !a.Type.Equal(f.Params[i].Type) {
			return fmt.Sprintf("passes %v to %s as parameter %d of type %v", a.Type, f.Name, i, f.Params[i].Type)
		}
	}
	return ""
}

func ret(v *Value) string {
	result := v.Block.Func.Result
	if result.Kind == KindVoid {
		return want(len(v.Args) == 0, "returns a value from a function without result")
	}
	return want(len(v.Args) == 1 && v.Args[0].Type.Equal(result), "does not return a %v", result)
}
