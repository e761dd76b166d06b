package frontend

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

var intOps = map[token.Token]ir.Op{token.ADD: ir.OpAdd, token.SUB: ir.OpSub, token.MUL: ir.OpMul, token.AND: ir.OpAnd, token.OR: ir.OpOr, token.XOR: ir.OpXor}

var floatOps = map[token.Token]ir.Op{token.ADD: ir.OpFAdd, token.SUB: ir.OpFSub, token.MUL: ir.OpFMul, token.QUO: ir.OpFDiv}

func (l *lowerer) binary(v *ssa.BinOp) *ir.Value {
	switch v.Op {
	case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
		return l.compare(v)
	case token.SHL, token.SHR:
		return l.shift(v)
	case token.QUO, token.REM:
		if isInteger(v.Type()) {
			return l.divide(v)
		}
	}
	if isString(v.Type()) {
		l.lacks(&lackString)
	}
	t, x, y := l.typeOf(v), l.value(v.X), l.value(v.Y)
	switch {
	case t.IsFloat():
		p := l.emit(floatOps[v.Op], t, x, y)
		if v.Op == token.MUL && l.rounded[v.Pos()] {
			p.Imm = 1
		}
		return p
	case v.Op == token.AND_NOT:
		return l.emit(ir.OpAnd, t, x, l.emit(ir.OpXor, t, y, l.constant(t, -1)))
	}
	return l.emit(intOps[v.Op], t, x, y)
}

// divide lowers integer division: by zero it faults, the smallest number by -1 wraps.
func (l *lowerer) divide(v *ssa.BinOp) *ir.Value {
	t, x, y := l.typeOf(v), l.value(v.X), l.value(v.Y)
	if n, ok := constInt(v.Y); !ok && !isConst(v.Y) || ok && n == 0 {
		l.check(l.emit(ir.OpNe, ir.I1, y, l.constant(t, 0)), "integer divide by zero")
	}
	ops := map[token.Token][2]ir.Op{token.QUO: {ir.OpSDiv, ir.OpUDiv}, token.REM: {ir.OpSRem, ir.OpURem}}[v.Op]
	if isUnsigned(v.Type()) {
		return l.emit(ops[1], t, x, y)
	}
	return l.emit(ops[0], t, x, y)
}

func isConst(v ssa.Value) bool { _, ok := v.(*ssa.Const); return ok }

// shift lowers << and >>. The operations take a count of 32 bits and saturate, as Go does.
func (l *lowerer) shift(v *ssa.BinOp) *ir.Value {
	t, x := l.typeOf(v), l.value(v.X)
	op := ir.OpShl
	switch {
	case v.Op == token.SHR && isUnsigned(v.Type()):
		op = ir.OpLShr
	case v.Op == token.SHR:
		op = ir.OpAShr
	}
	return l.emit(op, t, x, l.shiftCount(v.Y))
}

// shiftLimit is a count past the width of every type.
const shiftLimit = 64

func (l *lowerer) shiftCount(y ssa.Value) *ir.Value {
	if isConst(y) {
		n, ok := constInt(y)
		if ok && n < 0 { // a variable whose value is known
			l.check(l.constant(ir.I1, 0), "negative shift amount")
		}
		if !ok || n < 0 || n > shiftLimit {
			n = shiftLimit
		}
		return l.constant(ir.I32, n)
	}
	n := l.value(y)
	if !isUnsigned(y.Type()) && !(notNegative{}).has(y) {
		l.check(l.emit(ir.OpSLe, ir.I1, l.constant(n.Type, 0), n), "negative shift amount")
	}
	switch {
	case n.Type.Bits() < 32:
		return l.emit(ir.OpZExt, ir.I32, n)
	case n.Type.Bits() == 32:
		return n
	}
	limit := l.int64(shiftLimit)
	n = l.emit(ir.OpSelect, ir.I64, l.emit(ir.OpULt, ir.I1, n, limit), n, limit)
	return l.emit(ir.OpTrunc, ir.I32, n)
}

// notNegative holds what is known of the integers that were asked about, each of them once: there are twice as many ways
// to a value with each between that is used twice.
type notNegative map[ssa.Value]bool

// has reports whether the integer v of a signed type is plainly not negative.
func (n notNegative) has(v ssa.Value) bool {
	is, ok := n[v]
	if !ok {
		is = n.look(v)
		n[v] = is
	}
	return is
}

func (n notNegative) look(v ssa.Value) bool {
	switch v := v.(type) {
	case *ssa.Const:
		c, ok := constInt(v)
		return ok && c >= 0
	case *ssa.Convert:
		from, to := v.X.Type().Underlying(), v.Type().Underlying()
		return isInteger(from) && (isUnsigned(from) && sizeOf(from) < sizeOf(to) || sizeOf(from) <= sizeOf(to) && !isUnsigned(from) && n.has(v.X))
	case *ssa.BinOp:
		return v.Op == token.AND && (n.has(v.X) || n.has(v.Y)) ||
			(v.Op == token.REM || v.Op == token.SHR) && n.has(v.X) ||
			(v.Op == token.QUO || v.Op == token.OR || v.Op == token.XOR) && n.has(v.X) && n.has(v.Y)
	case *ssa.Call:
		return neverNegative(v.Common())
	}
	return false
}

func sizeOf(t types.Type) int64 {
	k, lack := irType(t)
	if lack != nil {
		return 0
	}
	return k.Size()
}

// convert lowers a conversion between numbers.
func (l *lowerer) convert(v *ssa.Convert) *ir.Value {
	from, to := v.X.Type(), v.Type()
	if isString(from) || isString(to) {
		l.lacks(&lackString)
	}
	t, x := l.typeOf(v), l.value(v.X)
	switch {
	case isInteger(from) && isInteger(to):
		return l.resize(x, t, isUnsigned(from))
	case isInteger(from) && isFloat(to):
		return l.emit(pick(isUnsigned(from), ir.OpUToF, ir.OpSToF), t, x)
	case isFloat(from) && isInteger(to):
		return l.emit(pick(isUnsigned(to), ir.OpFToU, ir.OpFToS), t, x)
	case isFloat(from) && isFloat(to):
		return l.refloat(x, t)
	}
	l.lacks(&lackUnsafe)
	return nil
}

// pick returns a where first holds, else b.
func pick[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

// resize returns the integer x with the width of t.
func (l *lowerer) resize(x *ir.Value, t *ir.Type, unsigned bool) *ir.Value {
	switch {
	case x.Type.Bits() == t.Bits():
		return x
	case x.Type.Bits() > t.Bits():
		return l.emit(ir.OpTrunc, t, x)
	}
	return l.emit(pick(unsigned, ir.OpZExt, ir.OpSExt), t, x)
}

func (l *lowerer) refloat(x *ir.Value, t *ir.Type) *ir.Value {
	switch {
	case x.Type.Bits() == t.Bits():
		return x
	case x.Type.Bits() > t.Bits():
		return l.emit(ir.OpFRound, t, x)
	}
	return l.emit(ir.OpFExt, t, x)
}
