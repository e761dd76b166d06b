package frontend

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

func (l *lowerer) compare(v *ssa.BinOp) *ir.Value {
	switch {
	case isFunc(v.X.Type()):
		return l.compareFunc(v)
	case v.X.Type() == types.Typ[types.UntypedNil]: // go/ssa takes the type off a nil that it compares to nil
		return l.constant(ir.I1, pick[int64](v.Op == token.EQL, -1, 0))
	}
	x, y := l.value(v.X), l.value(v.Y)
	if isString(v.X.Type()) {
		return l.compareStrings(v, x, y)
	}
	switch v.Op {
	case token.EQL:
		return l.equal(v.X.Type(), x, y)
	case token.NEQ:
		return l.unequal(v.X.Type(), x, y)
	case token.GTR, token.GEQ:
		x, y = y, x
	}
	strict := v.Op == token.LSS || v.Op == token.GTR
	switch {
	case isFloat(v.X.Type()):
		return l.emit(pick(strict, ir.OpFLt, ir.OpFLe), ir.I1, x, y)
	case isUnsigned(v.X.Type()):
		return l.emit(pick(strict, ir.OpULt, ir.OpULe), ir.I1, x, y)
	}
	return l.emit(pick(strict, ir.OpSLt, ir.OpSLe), ir.I1, x, y)
}

// compareFunc compares a function to nil: one that is known is not nil.
func (l *lowerer) compareFunc(v *ssa.BinOp) *ir.Value {
	if l.resolve(v.X) == nil && l.resolve(v.Y) == nil {
		l.lacks(&lackFunc)
	}
	return l.constant(ir.I1, pick[int64](v.Op == token.NEQ, -1, 0))
}

func (l *lowerer) unequal(t types.Type, x, y *ir.Value) *ir.Value {
	switch {
	case x.Type.IsFloat():
		return l.emit(ir.OpFNe, ir.I1, x, y)
	case x.Type.IsScalar():
		return l.emit(ir.OpNe, ir.I1, x, y)
	}
	return l.emit(ir.OpXor, ir.I1, l.equal(t, x, y), l.constant(ir.I1, -1))
}

// equal compares two values of type t, structs and arrays part by part. Slices are compared to
// nil only: compare the address.
func (l *lowerer) equal(t types.Type, x, y *ir.Value) *ir.Value {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		return l.equalParts(u.NumFields(), func(i int) *types.Var { return u.Field(i) }, x, y)
	case *types.Array:
		elem := types.NewVar(token.NoPos, nil, "elem", u.Elem())
		return l.equalParts(int(u.Len()), func(int) *types.Var { return elem }, x, y)
	case *types.Basic:
		if u.Info()&types.IsString != 0 {
			return l.equalStrings(x, y)
		}
	case *types.Slice:
		return l.emit(ir.OpEq, ir.I1, l.part(x, 0), l.part(y, 0))
	}
	return l.emit(pick(x.Type.IsFloat(), ir.OpFEq, ir.OpEq), ir.I1, x, y)
}

func (l *lowerer) equalParts(n int, field func(int) *types.Var, x, y *ir.Value) *ir.Value {
	all := l.constant(ir.I1, -1)
	for i := range n {
		f := field(i)
		if f.Name() == "_" {
			continue
		}
		same := l.equal(f.Type(), l.part(x, i), l.part(y, i))
		if i == 0 {
			all = same
		} else {
			all = l.emit(ir.OpAnd, ir.I1, all, same)
		}
	}
	return all
}

// part returns field or element i of x.
func (l *lowerer) part(x *ir.Value, i int) *ir.Value {
	return l.emitImm(ir.OpExtract, x.Type.Part(i), int64(i), x)
}
