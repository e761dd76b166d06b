package frontend

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// bound is an index or a bound of a slice expression, widened to 64 bits, and how the
// host reads it.
type bound struct {
	v     *ir.Value
	typ   dtype.Type
	known bool // n is its value
	n     int64
}

func (l *lowerer) bound(v ssa.Value) bound {
	if n, ok := constInt(v); ok {
		return l.knownBound(n)
	}
	typ := dtype.Int64
	if isUnsigned(v.Type()) {
		typ = dtype.Uint64
	}
	return bound{v: l.resize(l.value(v), ir.I64, isUnsigned(v.Type())), typ: typ}
}

func (l *lowerer) knownBound(n int64) bound {
	return bound{v: l.int64(n), typ: dtype.Int64, known: true, n: n}
}

func lengthBound(v *ir.Value) bound { return bound{v: v, typ: dtype.Int64} }

// checkIndex checks 0 <= i < n and returns i. Seen as unsigned numbers one comparison does: a negative
// index is larger than any length.
func (l *lowerer) checkIndex(i ssa.Value, n *ir.Value) *ir.Value {
	b := l.bound(i)
	l.checkBounds(ir.OpULt, "index out of range [%d] with length %d", b, lengthBound(n))
	return b.v
}

// checkBounds checks that x is less than y, or not greater, as op says.
func (l *lowerer) checkBounds(op ir.Op, format string, x, y bound) {
	if x.known && y.known && x.n >= 0 && (x.n < y.n || op == ir.OpULe && x.n == y.n) {
		return
	}
	l.checkPair(l.emit(op, ir.I1, x.v, y.v), format, x, y)
}

// checkPair emits a check of ok, whose message names x and y.
func (l *lowerer) checkPair(ok *ir.Value, format string, x, y bound) {
	if !l.b.unchecked {
		l.emitAux(ir.OpCheck, ir.Void, &ir.Site{Format: format, Args: []dtype.Type{x.typ, y.typ}}, ok, x.v, y.v)
	}
}

// sliced is the operand of a slice expression.
type sliced struct {
	ptr      *ir.Value
	len, cap bound
	elem     *ir.Type
	limit    string // what cap is called where it is passed
	made     bool   // the expression is what became of make
}

// slice lowers x[lo:hi:max], with the messages of Go's runtime.
func (l *lowerer) slice(v *ssa.Slice) *ir.Value {
	s := l.slicedOperand(v)
	lo, hi, limit := l.knownBound(0), s.len, s.cap
	if v.High != nil {
		hi = l.bound(v.High)
	}
	switch {
	case v.Max != nil:
		limit = l.bound(v.Max)
		l.checkBounds(ir.OpULe, "slice bounds out of range [::%d] with "+s.limit+" %d", limit, s.cap)
		l.checkBounds(ir.OpULe, "slice bounds out of range [:%d:%d]", hi, limit)
	case s.made:
		l.checkMade(hi, s.cap)
	case v.High != nil:
		l.checkBounds(ir.OpULe, "slice bounds out of range [:%d] with "+s.limit+" %d", hi, s.cap)
	}
	if v.Low != nil {
		lo = l.bound(v.Low)
		l.checkBounds(ir.OpULe, lowFormat(v), lo, hi)
	}
	if isString(v.Type()) {
		return l.emit(ir.OpStruct, stringType, l.advance(s.ptr, lo, s.elem), l.difference(hi, lo))
	}
	return l.emit(ir.OpStruct, ir.Slice, l.advance(s.ptr, lo, s.elem), l.difference(hi, lo), l.difference(limit, lo))
}

func lowFormat(v *ssa.Slice) string {
	if v.Max != nil {
		return "slice bounds out of range [%d:%d:]"
	}
	return "slice bounds out of range [%d:%d]"
}

// checkMade checks the length n of a slice of constant capacity that is made.
func (l *lowerer) checkMade(n, limit bound) {
	if n.known && n.n <= limit.n {
		return
	}
	l.check(l.emit(ir.OpSLe, ir.I1, l.int64(0), n.v), "makeslice: len out of range")
	l.check(l.emit(ir.OpSLe, ir.I1, n.v, limit.v), "makeslice: cap out of range")
}

func (l *lowerer) slicedOperand(v *ssa.Slice) sliced {
	x := l.value(v.X)
	switch u := v.X.Type().Underlying().(type) {
	case *types.Slice:
		return sliced{ptr: l.part(x, 0), len: lengthBound(l.part(x, 1)), cap: lengthBound(l.part(x, 2)), elem: l.irType(u.Elem()), limit: "capacity"}
	case *types.Pointer:
		l.checkNil(v.X, x)
		array := u.Elem().Underlying().(*types.Array)
		n := l.knownBound(array.Len())
		alloc, ok := v.X.(*ssa.Alloc)
		return sliced{ptr: x, len: n, cap: n, elem: l.irType(array.Elem()), limit: "length", made: ok && alloc.Comment == "makeslice"}
	}
	n := lengthBound(l.part(x, 1))
	return sliced{ptr: l.part(x, 0), len: n, cap: n, elem: ir.I8, limit: "length"}
}

func (l *lowerer) advance(p *ir.Value, i bound, elem *ir.Type) *ir.Value {
	if i.known {
		return l.offset(p, i.n*elem.Size())
	}
	return l.element(p, i.v, elem)
}

func (l *lowerer) difference(x, y bound) *ir.Value {
	switch {
	case x.known && y.known:
		return l.int64(x.n - y.n)
	case y.known && y.n == 0:
		return x.v
	}
	return l.emit(ir.OpSub, ir.I64, x.v, y.v)
}

// sliceToArray lowers the conversion of a slice to an array pointer.
func (l *lowerer) sliceToArray(v *ssa.SliceToArrayPointer) *ir.Value {
	x := l.value(v.X)
	n := pointee(v.Type()).Underlying().(*types.Array).Len()
	have, want := lengthBound(l.part(x, 1)), l.knownBound(n)
	const format = "cannot convert slice with length %d to array or pointer to array with length %d"
	l.checkPair(l.emit(ir.OpSLe, ir.I1, want.v, have.v), format, have, want)
	return l.part(x, 0)
}
