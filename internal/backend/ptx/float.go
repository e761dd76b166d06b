package ptx

import (
	"math"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// floatOps are the names before the type. Every sum and product is rounded explicitly
// (.rn), which forbids ptxas to fuse them: the IR has decided that.
var floatOps = [...]string{
	ir.OpFAdd:      "add.rn",
	ir.OpFSub:      "sub.rn",
	ir.OpFMul:      "mul.rn",
	ir.OpFDiv:      "div.rn",
	ir.OpFNeg:      "neg",
	ir.OpFma:       "fma.rn",
	ir.OpFSqrt:     "sqrt.rn",
	ir.OpFAbs:      "abs",
	ir.OpFFloor:    "cvt.rmi",
	ir.OpFCeil:     "cvt.rpi",
	ir.OpFTrunc:    "cvt.rzi",
	ir.OpFRint:     "cvt.rni",
	ir.OpFMin:      "min",
	ir.OpFMax:      "max",
	ir.OpFCopysign: "copysign",

	ir.OpApproxRcp:   "rcp.approx",
	ir.OpApproxSqrt:  "sqrt.approx",
	ir.OpApproxRsqrt: "rsqrt.approx",
	ir.OpApproxExp2:  "ex2.approx.ftz", // without .ftz it takes four instructions
	ir.OpApproxLog2:  "lg2.approx",
	ir.OpApproxSin:   "sin.approx",
	ir.OpApproxCos:   "cos.approx",
	ir.OpApproxTanh:  "tanh.approx",
	ir.OpApproxDiv:   "div.approx",
}

// float selects an operation on floats.
func (s *selector) float(v *ir.Value) operand {
	c := classOf(v.Type)
	args := make([]operand, len(v.Args))
	for i, a := range v.Args {
		args[i] = s.floatArg(v, a)
	}
	if len(args) == 1 {
		args[0] = s.inReg(c, args[0])
	}
	op := floatOps[v.Op]
	if v.Imm == 1 && (v.Op == ir.OpApproxRcp || v.Op == ir.OpApproxRsqrt) {
		op += ".ftz" // one instruction instead of up to seven
	}
	op += classes[c].typ
	switch v.Op {
	case ir.OpFFloor, ir.OpFCeil, ir.OpFTrunc, ir.OpFRint:
		op += classes[c].typ
	case ir.OpFCopysign:
		args[0], args[1] = args[1], args[0] // PTX takes the sign first
	case ir.OpFMin, ir.OpFMax:
		if c == f32 && atLeast(s.target, better[v.Op]) {
			return s.def(c, floatOps[v.Op]+".NaN"+classes[c].typ, args...)
		}
		return s.minMax(c, op, args)
	case ir.OpFDiv:
		if isOne(v.Args[0]) { // fewer instructions, and rounded just so
			return s.def(c, "rcp.rn"+classes[c].typ, s.inReg(c, args[1]))
		}
		if v.Imm == 1 && c == f64 {
			return s.quotient(s.inReg(c, args[0]), s.inReg(c, args[1]))
		}
	}
	return s.def(c, op, args...)
}

// quotient selects x/y where no step overflows or underflows, without the test and the call with which ptxas covers
// other operands. The approximation of 1/y has 19 right bits or more. The first step leaves an error of its third power, the
// second a correctly rounded reciprocal, and the third a correctly rounded quotient: Markstein, "Computation of elementary functions on
// the IBM RISC System/6000 processor" (1990).
func (s *selector) quotient(x, y operand) operand {
	fma := func(a, b, c operand) operand { return s.def(f64, "fma.rn.f64", a, b, c) }
	one, minus := literal(ir.F64, 0x3ff0000000000000), s.def(f64, "neg.f64", y)
	r := s.def(f64, "rcp.approx.ftz.f64", y)
	rest := fma(minus, r, one)
	r = fma(r, fma(rest, rest, rest), r)
	r = fma(r, fma(minus, r, one), r)
	q := s.def(f64, "mul.rn.f64", x, r)
	return fma(fma(minus, q, x), r, q)
}

func isOne(v *ir.Value) bool {
	one := int64(math.Float32bits(1))
	if v.Type.Kind == ir.KindF64 {
		one = int64(math.Float64bits(1))
	}
	return v.Op == ir.OpConst && v.Imm == one
}

// minMax selects min or max. PTX orders -0 below 0 but prefers the other argument to a
// NaN; min.NaN, of float32 alone, needs sm_80.
func (s *selector) minMax(c class, op string, args []operand) operand {
	nan := literal(ir.F32, 0x7fffffff)
	if c == f64 {
		nan = literal(ir.F64, 0x7fffffffffffffff)
	}
	unordered := s.def(pred, "setp.nan"+classes[c].typ, args...)
	return s.def(c, "selp"+classes[c].typ, nan, s.def(c, op, args...), unordered)
}

// compareFloats selects a comparison of floats.
func (s *selector) compareFloats(v *ir.Value) operand {
	name := map[ir.Op]string{ir.OpFEq: "eq", ir.OpFNe: "neu", ir.OpFLt: "lt", ir.OpFLe: "le"}[v.Op]
	c := classOf(v.Args[0].Type)
	return s.def(pred, "setp."+name+classes[c].typ, s.operand(v.Args[0]), s.operand(v.Args[1]))
}
