package pass

import (
	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"math/bits"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

func simplifyInt(e *editor, v *ir.Value) *ir.Value {
	switch v.Op {
	case ir.OpAdd:
		return simplifyAdd(e, v)
	case ir.OpSub:
		return simplifySub(e, v)
	case ir.OpMul:
		return simplifyMul(e, v)
	case ir.OpAnd, ir.OpOr, ir.OpXor:
		return simplifyBits(e, v)
	case ir.OpShl, ir.OpLShr, ir.OpAShr:
		return simplifyShift(e, v)
	case ir.OpSDiv, ir.OpUDiv:
		if c, ok := analysis.IntConst(v.Args[1]); ok && c == 1 && v.Type.Bits() > 1 {
			return v.Args[0]
		}
	case ir.OpSRem, ir.OpURem:
		if c, ok := analysis.IntConst(v.Args[1]); ok && c == 1 && v.Type.Bits() > 1 {
			return e.constant(v.Type, 0)
		}
	}
	return v
}

func simplifyAdd(e *editor, v *ir.Value) *ir.Value {
	x, y := v.Args[0], v.Args[1]
	if c, ok := analysis.IntConst(y); ok {
		if c == 0 {
			return x
		}
		if d, ok := constArg(x, ir.OpAdd); ok {
			return e.make(ir.OpAdd, v.Type, x.Args[0], e.constant(v.Type, analysis.SignExtend(v.Type, c+d)))
		}
		return v
	}
	// (a+c)+y is (a+y)+c: the constant becomes part of an address or meets another one.
	for i, a := range v.Args {
		if d, ok := constArg(a, ir.OpAdd); ok {
			sum := e.make(ir.OpAdd, v.Type, a.Args[0], v.Args[1-i])
			return e.make(ir.OpAdd, v.Type, sum, e.constant(v.Type, d))
		}
		if a.Op == ir.OpSub && a.Args[1] == v.Args[1-i] {
			return a.Args[0]
		}
	}
	return v
}

// constArg returns the constant of v = op(x, constant).
func constArg(v *ir.Value, op ir.Op) (int64, bool) {
	if v.Op != op {
		return 0, false
	}
	return analysis.IntConst(v.Args[1])
}

func simplifySub(e *editor, v *ir.Value) *ir.Value {
	x, y := v.Args[0], v.Args[1]
	if x == y {
		return e.constant(v.Type, 0)
	}
	if c, ok := analysis.IntConst(y); ok && v.Type.Bits() > 1 {
		return e.make(ir.OpAdd, v.Type, x, e.constant(v.Type, analysis.SignExtend(v.Type, -c)))
	}
	if x.Op == ir.OpAdd {
		for i, a := range x.Args {
			if a == y {
				return x.Args[1-i]
			}
		}
	}
	return v
}

func simplifyMul(e *editor, v *ir.Value) *ir.Value {
	x := v.Args[0]
	c, ok := analysis.IntConst(v.Args[1])
	if !ok || v.Type.Bits() == 1 {
		return v
	}
	switch {
	case c == 0:
		return v.Args[1]
	case c == 1:
		return x
	case c == -1:
		return e.make(ir.OpSub, v.Type, e.constant(v.Type, 0), x)
	}
	if d, ok := constArg(x, ir.OpMul); ok {
		return e.make(ir.OpMul, v.Type, x.Args[0], e.constant(v.Type, analysis.SignExtend(v.Type, c*d)))
	}
	if n, ok := powerOfTwo(v.Type, c); ok {
		return e.make(ir.OpShl, v.Type, x, e.constant(ir.I32, int64(n)))
	}
	return v
}

// powerOfTwo returns n where c, read without sign, is 1<<n.
func powerOfTwo(t *ir.Type, c int64) (int, bool) {
	u := analysis.ZeroExtend(t, c)
	return bits.TrailingZeros64(u), bits.OnesCount64(u) == 1
}

func simplifyBits(e *editor, v *ir.Value) *ir.Value {
	if c, ok := analysis.IntConst(v.Args[1]); ok && v.Op == ir.OpAnd && c >= 0 && c < alignment(v.Args[0]) {
		return e.constant(v.Type, 0)
	}
	x, y := v.Args[0], v.Args[1]
	if x == y {
		if v.Op == ir.OpXor {
			return e.constant(v.Type, 0)
		}
		return x
	}
	c, ok := analysis.IntConst(y)
	if !ok {
		if r := combineOrder(e, v); r != nil {
			return r
		}
		return simplifyConjunction(e, v)
	}
	ones := analysis.SignExtend(v.Type, -1)
	switch {
	case v.Op == ir.OpAnd && c == 0, v.Op == ir.OpOr && c == ones:
		return y
	case v.Op == ir.OpAnd && c == ones, v.Op != ir.OpAnd && c == 0:
		return x
	}
	if d, ok := constArg(x, v.Op); ok {
		k, _ := analysis.FoldInt(v.Op, v.Type, c, d)
		return e.make(v.Op, v.Type, x.Args[0], e.constant(v.Type, k))
	}
	if v.Op == ir.OpXor && c == ones && v.Type.Kind == ir.KindI1 {
		if r := invert(e, x); r != nil {
			return r
		}
	}
	return v
}

// combineOrder returns one comparison for two of the same integers or floats, or nil:
//
//	x < y || x == y     x <= y
//	x <= y && x != y    x < y
func combineOrder(e *editor, v *ir.Value) *ir.Value {
	for i, p := range v.Args {
		q := v.Args[1-i]
		op, equal := ordered(p.Op, v.Op)
		if op == ir.OpInvalid || q.Op != equal {
			continue
		}
		x, y := p.Args[0], p.Args[1]
		if q.Args[0] == x && q.Args[1] == y || q.Args[0] == y && q.Args[1] == x {
			return e.make(op, ir.I1, x, y)
		}
	}
	return nil
}

// ordered returns what a comparison combines to, by or or and, and the comparison that it does so with.
func ordered(op, by ir.Op) (combined, equal ir.Op) {
	if by == ir.OpOr {
		switch op {
		case ir.OpSLt:
			return ir.OpSLe, ir.OpEq
		case ir.OpULt:
			return ir.OpULe, ir.OpEq
		case ir.OpFLt:
			return ir.OpFLe, ir.OpFEq
		}
	}
	if by == ir.OpAnd {
		switch op {
		case ir.OpSLe:
			return ir.OpSLt, ir.OpNe
		case ir.OpULe:
			return ir.OpULt, ir.OpNe
		case ir.OpFLe:
			return ir.OpFLt, ir.OpFNe
		}
	}
	return ir.OpInvalid, ir.OpInvalid
}

// invert returns the comparison that holds where comparison x does not, or nil: the order of
// floats has no opposite, because of NaN.
func invert(e *editor, x *ir.Value) *ir.Value {
	switch x.Op {
	case ir.OpEq:
		return e.make(ir.OpNe, ir.I1, x.Args...)
	case ir.OpNe:
		return e.make(ir.OpEq, ir.I1, x.Args...)
	case ir.OpFEq:
		return e.make(ir.OpFNe, ir.I1, x.Args...)
	case ir.OpFNe:
		return e.make(ir.OpFEq, ir.I1, x.Args...)
	case ir.OpSLt:
		return e.make(ir.OpSLe, ir.I1, x.Args[1], x.Args[0])
	case ir.OpSLe:
		return e.make(ir.OpSLt, ir.I1, x.Args[1], x.Args[0])
	case ir.OpULt:
		return e.make(ir.OpULe, ir.I1, x.Args[1], x.Args[0])
	case ir.OpULe:
		return e.make(ir.OpULt, ir.I1, x.Args[1], x.Args[0])
	}
	return nil
}

func simplifyShift(e *editor, v *ir.Value) *ir.Value {
	x := v.Args[0]
	by, ok := analysis.IntConst(v.Args[1])
	if !ok {
		return v
	}
	n := int64(v.Type.Bits())
	by = int64(uint32(by))
	switch {
	case by == 0:
		return x
	case by >= n && v.Op != ir.OpAShr:
		return e.constant(v.Type, 0)
	}
	d, ok := constArg(x, v.Op)
	if !ok {
		return v
	}
	sum := by + int64(uint32(d))
	if v.Op == ir.OpAShr {
		sum = min(sum, n-1)
	}
	return e.make(v.Op, v.Type, x.Args[0], e.constant(ir.I32, min(sum, n)))
}

// simplifyCompare simplifies comparisons of integers and pointers.
func simplifyCompare(e *editor, v *ir.Value) *ir.Value {
	x, y := v.Args[0], v.Args[1]
	if x == y {
		return e.constant(ir.I1, analysis.BoolBits(v.Op == ir.OpEq || v.Op == ir.OpSLe || v.Op == ir.OpULe))
	}
	if x.Type.IsPtr() {
		return simplifyAddresses(e, v)
	}
	if r := compareExtended(e, v); r != nil {
		return r
	}
	c, ok := analysis.IntConst(y)
	if !ok {
		return v
	}
	switch {
	case v.Op == ir.OpULt && c == 0:
		return e.constant(ir.I1, 0)
	case v.Op == ir.OpULt && c == 1 && x.Type.Bits() > 1:
		return e.make(ir.OpEq, ir.I1, x, e.constant(x.Type, 0))
	case v.Op != ir.OpEq && v.Op != ir.OpNe:
		return v
	case x.Type.Kind == ir.KindI1:
		if (v.Op == ir.OpEq) == (c == 1) {
			return x
		}
		return not(e, x)
	}
	if d, ok := constArg(x, ir.OpAdd); ok {
		return e.make(v.Op, ir.I1, x.Args[0], e.constant(x.Type, analysis.SignExtend(x.Type, c-d)))
	}
	if c == 0 {
		return testBits(e, v)
	}
	return v
}

// testBits makes the comparison of (x >> n) & c with 0 one of x & (c << n), which saves the shift.
func testBits(e *editor, v *ir.Value) *ir.Value {
	and := v.Args[0]
	c, ok := constArg(and, ir.OpAnd)
	if !ok || and.Args[0].Op != ir.OpLShr && and.Args[0].Op != ir.OpAShr {
		return v
	}
	shift, t := and.Args[0], and.Type
	n, ok := analysis.IntConst(shift.Args[1])
	if !ok || n < 0 || n+int64(bits.Len64(analysis.ZeroExtend(t, c))) > int64(t.Bits()) {
		return v
	}
	bits := e.make(ir.OpAnd, t, shift.Args[0], e.constant(t, analysis.SignExtend(t, c<<n)))
	return e.make(v.Op, ir.I1, bits, v.Args[1])
}

// simplifyAddresses simplifies comparisons of pointers. The order of variables is not known and no program depends on it: copy
// asks for it, and needs it only within one. So none is less than another.
func simplifyAddresses(e *editor, v *ir.Value) *ir.Value {
	x, y := v.Args[0], v.Args[1]
	if v.Op == ir.OpEq || v.Op == ir.OpNe {
		if isConst(y) && isObject(x) {
			return e.constant(ir.I1, analysis.BoolBits(v.Op == ir.OpNe))
		}
		return v
	}
	a, b := analysis.Object(x), analysis.Object(y)
	if a == nil || b == nil || v.Op != ir.OpULt && v.Op != ir.OpULe {
		return v
	}
	if !analysis.MayAlias(a, b) {
		return e.constant(ir.I1, analysis.BoolBits(v.Op == ir.OpULe))
	}
	i, ok := offsetFrom(a, x)
	j, also := offsetFrom(b, y)
	if !ok || !also {
		return v
	}
	return e.constant(ir.I1, analysis.BoolBits(i < j || v.Op == ir.OpULe && i == j))
}

// offsetFrom returns the offset of p from the start of object in bytes, if it is constant.
func offsetFrom(object, p *ir.Value) (n int64, ok bool) {
	for ; p.Op == ir.OpOffset; p = p.Args[0] {
		n += p.Imm
	}
	return n, p == object
}

// isObject reports whether p is the address of a variable or of a part of one, and so not nil. An
// index is in range here: a check before it has made sure of that.
func isObject(p *ir.Value) bool {
	for p.Op == ir.OpOffset || p.Op == ir.OpIndex {
		p = p.Args[0]
	}
	return p.Op == ir.OpAlloca || p.Op == ir.OpVar
}

// compareExtended compares what was extended from fewer bits in those bits, or returns nil.
func compareExtended(e *editor, v *ir.Value) *ir.Value {
	ext := func(a *ir.Value) bool { return a.Op == ir.OpZExt || a.Op == ir.OpSExt }
	i, op := 0, v.Op
	if !ext(v.Args[0]) {
		i = 1
	}
	if !ext(v.Args[i]) || v.Args[i].Args[0].Type.Bits() == 1 {
		return nil
	}
	t, kind := v.Args[i].Args[0].Type, v.Args[i].Op
	var narrow [2]*ir.Value
	for j, a := range v.Args {
		if narrow[j] = narrowed(e, a, kind, t); narrow[j] == nil {
			return nil
		}
	}
	if kind == ir.OpZExt {
		switch op {
		case ir.OpSLt:
			op = ir.OpULt
		case ir.OpSLe:
			op = ir.OpULe
		}
	}
	if k, ok := analysis.IntConst(narrow[0]); ok && k == 0 && op == ir.OpULe {
		return e.constant(ir.I1, 1)
	}
	return e.make(op, ir.I1, narrow[0], narrow[1])
}

// narrowed returns the value of type t that a is the extension of, or nil.
func narrowed(e *editor, a *ir.Value, kind ir.Op, t *ir.Type) *ir.Value {
	if c, ok := analysis.IntConst(a); ok {
		if kind == ir.OpSExt && analysis.SignExtend(t, c) == c || kind == ir.OpZExt && c >= 0 && analysis.ZeroExtend(t, c) == uint64(c) {
			return e.constant(t, analysis.SignExtend(t, c))
		}
		return nil
	}
	if a.Op == kind && a.Args[0].Type.Equal(t) {
		return a.Args[0]
	}
	return nil
}
