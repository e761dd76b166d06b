package ptx

import "github.com/gopherwarp/gopherwarp/internal/ir"

// boolean selects an operation on i1 that predicates have an instruction for. Others are
// done in 32 bits.
func (s *selector) boolean(v *ir.Value) (operand, bool) {
	name, ok := map[ir.Op]string{
		ir.OpAnd: "and.pred", ir.OpOr: "or.pred", ir.OpXor: "xor.pred",
		ir.OpAdd: "xor.pred", ir.OpSub: "xor.pred", ir.OpMul: "and.pred",
	}[v.Op]
	if !ok {
		return operand{}, false
	}
	x, y := v.Args[0], v.Args[1]
	if _, ok := s.constant(x); ok {
		x, y = y, x
	}
	o := s.inReg(pred, s.operand(x))
	if c, ok := s.constant(y); ok {
		return s.booleanConst(name, o, c != 0), true
	}
	return s.def(pred, name, o, s.inReg(pred, s.operand(y))), true
}

// booleanConst applies name to o and a constant.
func (s *selector) booleanConst(name string, o operand, c bool) operand {
	switch {
	case name == "xor.pred" && c:
		return s.not(o)
	case name == "and.pred" && !c, name == "or.pred" && c:
		return s.truth(c)
	}
	return o
}

// not returns the opposite of a predicate.
func (s *selector) not(o operand) operand { return s.def(pred, "not.pred", s.inReg(pred, o)) }

// truth returns a constant in a predicate.
func (s *selector) truth(c bool) operand {
	if c {
		return s.inReg(pred, imm(1))
	}
	return s.inReg(pred, imm(0))
}

// chooseBool selects between booleans, for which selp has no form.
func (s *selector) chooseBool(cond operand, yes, no *ir.Value) operand {
	y, n := s.operand(yes), s.operand(no)
	if c, ok := s.constant(no); ok && c == 0 {
		return s.def(pred, "and.pred", cond, s.inReg(pred, y))
	}
	if c, ok := s.constant(yes); ok && c != 0 {
		return s.def(pred, "or.pred", cond, s.inReg(pred, n))
	}
	taken := s.def(pred, "and.pred", cond, s.inReg(pred, y))
	other := s.def(pred, "and.pred", s.not(cond), s.inReg(pred, n))
	return s.def(pred, "or.pred", taken, other)
}

// comparisons of integers: the PTX name, and the letter of the type.
var comparisons = [...]struct{ name, sign string }{
	ir.OpEq:  {"eq", "s"},
	ir.OpNe:  {"ne", "s"},
	ir.OpSLt: {"lt", "s"},
	ir.OpSLe: {"le", "s"},
	ir.OpULt: {"lt", "u"},
	ir.OpULe: {"le", "u"},
}

// compareInts selects a comparison of integers or pointers.
func (s *selector) compareInts(v *ir.Value) operand {
	x, y := v.Args[0], v.Args[1]
	if x.Type.Kind == ir.KindI1 && v.Op == ir.OpNe {
		return s.def(pred, "xor.pred", s.inReg(pred, s.operand(x)), s.inReg(pred, s.operand(y)))
	}
	c := comparisons[v.Op]
	if x.Type.IsPtr() || x.Type.Kind == ir.KindI64 || x.Type.Kind == ir.KindI32 {
		return s.def(pred, "setp."+c.name+"."+c.sign+regBits(x.Type), s.operand(x), s.operand(y))
	}
	signed := v.Op == ir.OpSLt || v.Op == ir.OpSLe
	return s.def(pred, "setp."+c.name+"."+c.sign+"32", s.extended(x, signed), s.extended(y, signed))
}

// opposite returns the setp that is true if the given one is false.
func opposite(op string) (string, bool) {
	const prefix = "setp."
	if len(op) < len(prefix) || op[:len(prefix)] != prefix {
		return "", false
	}
	name, typ := op[len(prefix):len(op)-4], op[len(op)-4:]
	pairs := map[string]string{"eq": "ne", "ne": "eq", "lt": "ge", "le": "gt"}
	if typ == ".f32" || typ == ".f64" { // the unordered ones: true with a NaN
		pairs = map[string]string{"eq": "neu", "neu": "eq", "lt": "geu", "le": "gtu"}
	}
	to, ok := pairs[name]
	return prefix + to + typ, ok
}
