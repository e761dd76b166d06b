package pass

import (
	"math"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

func simplifyFloat(e *editor, v *ir.Value) *ir.Value {
	x := v.Args[0]
	var y *ir.Value
	c := math.NaN() // the constant second argument
	if len(v.Args) > 1 {
		y = v.Args[1]
		if isConst(y) {
			c = analysis.FloatOf(y.Type, y.Imm)
		}
	}
	switch v.Op {
	case ir.OpFAdd:
		if c == 0 && math.Signbit(c) {
			return x
		}
		if y.Op == ir.OpFNeg {
			return e.make(ir.OpFSub, v.Type, x, y.Args[0])
		}
		if x.Op == ir.OpFNeg {
			return e.make(ir.OpFSub, v.Type, y, x.Args[0])
		}
	case ir.OpFSub:
		if c == 0 && !math.Signbit(c) {
			return x
		}
		if y.Op == ir.OpFNeg {
			return e.make(ir.OpFAdd, v.Type, x, y.Args[0])
		}
	case ir.OpFMul:
		if c == 1 {
			return x
		}
	case ir.OpFDiv:
		return simplifyQuotient(e, v, c)
	case ir.OpFNeg:
		if x.Op == ir.OpFNeg {
			return x.Args[0]
		}
	case ir.OpFAbs:
		if x.Op == ir.OpFNeg || x.Op == ir.OpFAbs {
			return e.make(ir.OpFAbs, v.Type, x.Args[0])
		}
	}
	return v
}

// neverLess reports whether the signs of x and y forbid x < y.
func neverLess(x, y *ir.Value) bool {
	return (isConst(x) || isConst(y)) && !analysis.SignsOf(x).Below && !analysis.SignsOf(y).Above
}

// simplifyConjunction replaces two comparisons of a float with constants by one, in either order:
//
//	-c < x && x < c       |x| < c
//	x == x && !(c < x)    x <= c
//	x == x && !(x < c)    c <= x
func simplifyConjunction(e *editor, v *ir.Value) *ir.Value {
	if v.Op != ir.OpAnd || v.Type.Kind != ir.KindI1 {
		return v
	}
	for i, p := range v.Args {
		q := v.Args[1-i]
		if (p.Op == ir.OpFLt || p.Op == ir.OpFLe) && p.Op == q.Op && p.Args[1] == q.Args[0] && opposite(p.Args[0], q.Args[1]) {
			return e.make(p.Op, ir.I1, e.make(ir.OpFAbs, q.Args[0].Type, q.Args[0]), q.Args[1])
		}
		if n := negated(q); n != nil && p.Op == ir.OpFEq && p.Args[0] == p.Args[1] && comparesWithConst(n, p.Args[0]) {
			op := ir.OpFLe
			if n.Op == ir.OpFLe {
				op = ir.OpFLt
			}
			return e.make(op, ir.I1, n.Args[1], n.Args[0])
		}
	}
	return v
}

// opposite reports whether c and d are constants and c is -d.
func opposite(c, d *ir.Value) bool {
	return isConst(c) && isConst(d) && analysis.FloatOf(c.Type, c.Imm) == -analysis.FloatOf(d.Type, d.Imm)
}

// comparesWithConst reports whether c says which of x and a constant, no NaN, is less.
func comparesWithConst(c, x *ir.Value) bool {
	if c.Op != ir.OpFLt && c.Op != ir.OpFLe {
		return false
	}
	for i, a := range c.Args {
		if k := c.Args[1-i]; a == x && isConst(k) {
			return !math.IsNaN(analysis.FloatOf(k.Type, k.Imm))
		}
	}
	return false
}

// simplifyQuotient divides by a power of two by multiplying: both are exact, but for the
// rounding at the edge of the range, which is the same. The reciprocal must be a normal number.
func simplifyQuotient(e *editor, v *ir.Value, c float64) *ir.Value {
	if c == 1 {
		return v.Args[0]
	}
	frac, exp := math.Frexp(c)
	lowest, highest := -1020, 1020
	if v.Type.Kind == ir.KindF32 {
		lowest, highest = -124, 124
	}
	if math.Abs(frac) != 0.5 || exp < lowest || exp > highest {
		return v
	}
	r, _ := analysis.FloatBits(v.Type, 1/c)
	// The quotient is rounded by itself: it must not become part of an fma.
	return e.makeImm(ir.OpFMul, v.Type, 1, v.Args[0], e.constant(v.Type, r))
}

func simplifyConversion(e *editor, v *ir.Value) *ir.Value {
	x := v.Args[0]
	switch v.Op {
	case ir.OpTrunc:
		return simplifyTrunc(e, v)
	case ir.OpZExt:
		if x.Op == ir.OpZExt {
			return e.make(ir.OpZExt, v.Type, x.Args[0])
		}
	case ir.OpSExt:
		if x.Op == ir.OpSExt || x.Op == ir.OpZExt {
			return e.make(x.Op, v.Type, x.Args[0])
		}
	case ir.OpFRound:
		return simplifyRound(e, v)
	case ir.OpBitcast:
		if x.Type.Equal(v.Type) {
			return x
		}
		if x.Op == ir.OpBitcast && !x.Type.IsPtr() && !v.Type.IsPtr() && !x.Args[0].Type.IsPtr() {
			return e.make(ir.OpBitcast, v.Type, x.Args[0])
		}
		if v.Type.IsInt() && (x.Op == ir.OpFNeg || x.Op == ir.OpFAbs) {
			return signedBits(e, v, x)
		}
	}
	return v
}

// signedBits changes the sign among the bits of a float, where it is these that are asked for. ptxas 13.0, which drivers
// of version 580 have too, reads -x as an integer's where x is a parameter and the bits are compared: those of
// -0.0 are 0 then. 13.5 does not.
func signedBits(e *editor, v, x *ir.Value) *ir.Value {
	bits := e.make(ir.OpBitcast, v.Type, x.Args[0])
	sign := analysis.SignExtend(v.Type, 1<<(v.Type.Bits()-1))
	if x.Op == ir.OpFNeg {
		return e.make(ir.OpXor, v.Type, bits, e.constant(v.Type, sign))
	}
	return e.make(ir.OpAnd, v.Type, bits, e.constant(v.Type, ^sign))
}

func simplifyTrunc(e *editor, v *ir.Value) *ir.Value {
	x := v.Args[0]
	switch x.Op {
	case ir.OpTrunc:
		return e.make(ir.OpTrunc, v.Type, x.Args[0])
	case ir.OpZExt, ir.OpSExt:
		from := x.Args[0]
		switch {
		case from.Type.Equal(v.Type):
			return from
		case from.Type.Bits() < v.Type.Bits():
			return e.make(x.Op, v.Type, from)
		}
		return e.make(ir.OpTrunc, v.Type, from)
	}
	return v
}

// simplifyRound computes in float32 what was computed in float64 from float32 operands and
// then rounded: 53 bits are more than twice 24 plus 2, so rounding twice is rounding once
// (Figueroa, "When is Double Rounding Innocuous?"); a product is even exact in float64.
func simplifyRound(e *editor, v *ir.Value) *ir.Value {
	x := v.Args[0]
	switch x.Op {
	case ir.OpFExt:
		return x.Args[0]
	case ir.OpFAdd, ir.OpFSub, ir.OpFMul, ir.OpFDiv, ir.OpFSqrt:
	default:
		return v
	}
	args := make([]*ir.Value, len(x.Args))
	for i, a := range x.Args {
		switch {
		case a.Op == ir.OpFExt:
			args[i] = a.Args[0]
		case isConst(a) && float64(float32(analysis.FloatOf(a.Type, a.Imm))) == analysis.FloatOf(a.Type, a.Imm):
			c, _ := analysis.FloatBits(ir.F32, analysis.FloatOf(a.Type, a.Imm))
			args[i] = e.constant(ir.F32, c)
		default:
			return v
		}
	}
	r := e.make(x.Op, ir.F32, args...)
	if x.Op == ir.OpFMul {
		r.Imm = 1 // the conversion rounds it
	}
	return r
}
