package pass

import (
	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// simplify folds constants and replaces values by cheaper ones that are equal for all
// arguments: integers wrap, float results keep every bit, so that no sum is reordered and
// x+0 stays (it is not x for -0).
//
//	%2 = const i32 3                  %9 = const i32 8
//	%3 = add i32 %0, %2               %5 = add i32 %0, %9
//	%4 = const i32 5              ->  %8 = slt i1 %0, %1
//	%5 = add i32 %3, %4
//	%6 = sle i1 %1, %0
//	%7 = const i1 1
//	%8 = xor i1 %6, %7
func simplify(f *ir.Func, _ *Options) {
	order := ir.Dominators(f).Order()
	for range 10 { // each round sees what the one before it has made; few need more than three
		if !rewriteInOrder(f, order, simplifyValue) {
			return
		}
	}
}

func simplifyValue(e *editor, v *ir.Value) *ir.Value {
	if c, ok := analysis.Fold(v); ok {
		return e.constant(v.Type, c)
	}
	if v.Op.Commutative() && isConst(v.Args[0]) && !isConst(v.Args[1]) {
		v.Args[0], v.Args[1] = v.Args[1], v.Args[0]
	}
	switch {
	case v.Op >= ir.OpAdd && v.Op <= ir.OpBrev:
		return simplifyInt(e, v)
	case v.Op >= ir.OpEq && v.Op <= ir.OpULe:
		return simplifyCompare(e, v)
	case v.Op == ir.OpFLt && neverLess(v.Args[0], v.Args[1]):
		return e.constant(ir.I1, 0)
	case v.Op >= ir.OpFAdd && v.Op <= ir.OpFCopysign:
		return simplifyFloat(e, v)
	case v.Op >= ir.OpTrunc && v.Op <= ir.OpFToBF16:
		return simplifyConversion(e, v)
	}
	switch v.Op {
	case ir.OpSelect:
		return simplifySelect(e, v)
	case ir.OpOffset, ir.OpIndex:
		return simplifyAddress(e, v)
	case ir.OpCheck:
		if c, ok := analysis.IntConst(v.Args[0]); ok && c == 1 {
			return nil
		}
	}
	return v
}

func simplifySelect(e *editor, v *ir.Value) *ir.Value {
	c, x, y := v.Args[0], v.Args[1], v.Args[2]
	if k, ok := analysis.IntConst(c); ok {
		return v.Args[2-k]
	}
	if x == y {
		return x
	}
	if n := negated(c); n != nil {
		return e.make(ir.OpSelect, v.Type, n, y, x)
	}
	if v.Type.Kind != ir.KindI1 {
		return v
	}
	kx, okx := analysis.IntConst(x)
	ky, oky := analysis.IntConst(y)
	switch {
	case okx && oky && kx == ky:
		return x
	case okx && oky && kx == 1:
		return c
	case okx && oky:
		return not(e, c)
	case okx && kx == 1:
		return e.make(ir.OpOr, ir.I1, c, y)
	case oky && ky == 0:
		return e.make(ir.OpAnd, ir.I1, c, x)
	case okx: // c ? false : y
		return e.make(ir.OpAnd, ir.I1, not(e, c), y)
	case oky: // c ? x : true
		return e.make(ir.OpOr, ir.I1, not(e, c), x)
	}
	return v
}

// not returns the negation of the condition c.
func not(e *editor, c *ir.Value) *ir.Value {
	if n := negated(c); n != nil {
		return n
	}
	return e.make(ir.OpXor, ir.I1, c, e.constant(ir.I1, 1))
}

func simplifyAddress(e *editor, v *ir.Value) *ir.Value {
	p := v.Args[0]
	if v.Op == ir.OpIndex {
		if c, ok := analysis.IntConst(v.Args[1]); ok {
			return e.offset(p, c*v.Imm)
		}
		if v.Imm == 0 {
			return p
		}
		return v
	}
	switch {
	case v.Imm == 0:
		return p
	case p.Op == ir.OpOffset:
		return e.offset(p.Args[0], p.Imm+v.Imm)
	}
	return v
}
