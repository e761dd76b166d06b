package cpu

import (
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/layout"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// compute returns the expression of a pure value.
func (e *emitter) compute(v *ir.Value) expr {
	switch {
	case v.Op == ir.OpDynamicBytes:
		return operand("int32(%s.Dynamic())", e.word("blocks"))
	case v.Op == ir.OpLane:
		return operand("int32(%s%%32)", e.thread().at(5))
	case v.Op == ir.OpBitcast:
		return e.bitcast(v)
	case v.Op >= ir.OpEq && v.Op <= ir.OpFLe:
		return e.compare(v)
	case v.Type.Kind == ir.KindI1 && v.Op >= ir.OpAdd && v.Op <= ir.OpBrev:
		return e.logic(v)
	case v.Op >= ir.OpAdd && v.Op <= ir.OpBrev:
		return e.integer(v)
	case v.Op >= ir.OpFAdd && v.Op <= ir.OpFCopysign:
		return e.float(v)
	case v.Op >= ir.OpTrunc && v.Op <= ir.OpFToBF16:
		return e.conversion(v)
	}
	panic(refuseAt(v, "%s has no equivalent in Go", v.Op))
}

var signedOps = map[ir.Op]string{
	ir.OpAdd: "+", ir.OpSub: "-", ir.OpMul: "*", ir.OpSDiv: "/", ir.OpSRem: "%",
	ir.OpAnd: "&", ir.OpOr: "|", ir.OpXor: "^", ir.OpShl: "<<", ir.OpAShr: ">>",
}

var unsignedOps = map[ir.Op]string{ir.OpUDiv: "/", ir.OpURem: "%", ir.OpLShr: ">>"}

// integer returns arithmetic on integers of more than one bit.
func (e *emitter) integer(v *ir.Value) expr {
	t := e.typeName(v.Type, false)
	switch v.Op {
	case ir.OpShl, ir.OpLShr, ir.OpAShr:
		return e.shift(v)
	case ir.OpAdd:
		if y := v.Args[1]; y.Op == ir.OpConst && layout.Truncated(y) < 0 && layout.Truncated(y) > -1<<(y.Type.Bits()-1) { // whose negation is a number of its type
			return sum(e.arg(v, 0), layout.Truncated(y))
		}
	case ir.OpXor:
		if y := v.Args[1]; y.Op == ir.OpConst && layout.Truncated(y) == -1 {
			return expr{"^" + e.arg(v, 0).at(6), 6}
		}
	case ir.OpUMulHi, ir.OpSMulHi:
		return e.highProduct(v)
	case ir.OpPopc, ir.OpClz, ir.OpBrev:
		return e.bitCount(v)
	}
	if op, ok := signedOps[v.Op]; ok {
		return binary(op, e.arg(v, 0), e.ref(v.Args[1]))
	}
	op := unsignedOps[v.Op]
	return convert(t, binary(op, e.unsignedArg(v, 0), e.unsigned(v.Args[1])))
}

// shift returns a shift. Go's counts saturate as the IR's do; vet wants constant ones in range.
func (e *emitter) shift(v *ir.Value) expr {
	n := v.Args[1]
	width := int64(v.Type.Bits())
	count := e.unsigned(n)
	if n.Op == ir.OpConst {
		c := int64(uint32(n.Imm))
		if c >= width && v.Op != ir.OpAShr {
			return number(0)
		}
		count = number(min(c, width-1))
	}
	if v.Op == ir.OpLShr {
		return convert(e.typeName(v.Type, false), binary(">>", e.unsignedArg(v, 0), count))
	}
	return binary(signedOps[v.Op], e.typedArg(v, 0), count)
}

// highProduct returns the upper half of a product of integers of less than 64 bits.
func (e *emitter) highProduct(v *ir.Value) expr {
	t, wide := e.typeName(v.Type, false), "int"
	x, y := e.arg(v, 0), e.ref(v.Args[1])
	if v.Op == ir.OpUMulHi {
		wide = "uint"
		x, y = e.unsignedArg(v, 0), e.unsigned(v.Args[1])
	}
	product := binary("*", convert(wide, x), convert(wide, y))
	return convert(t, binary(">>", product, number(int64(v.Type.Bits()))))
}

func (e *emitter) bitCount(v *ir.Value) expr {
	name := map[ir.Op]string{ir.OpPopc: "OnesCount", ir.OpClz: "LeadingZeros", ir.OpBrev: "Reverse"}[v.Op]
	from := v
	if a := v.Args[0]; v.Op == ir.OpClz && a.Op == ir.OpBrev && e.inline[a.ID] {
		name, from = "TrailingZeros", a
	}
	width := v.Type.Bits()
	unsigned := operand("uint%d(%s)", width, e.arg(from, 0).text)
	return convert(e.typeName(v.Type, false), operand("%s.%s%d(%s)", e.imported("math/bits"), name, width, unsigned.text))
}

// conjunction returns x && y. If y is an operand of x already, it returns x: go vet rejects code that tests a
// condition twice.
func conjunction(x, y expr) expr {
	operands := []string{x.text}
	if x.prec == precedence["&&"] {
		operands = conjuncts(x.text)
	}
	if slices.Contains(operands, y.text) {
		return x
	}
	return binary("&&", x, y)
}

// conjuncts returns the operands of a chain of &&.
func conjuncts(text string) (operands []string) {
	depth, start := 0, 0
	for i, c := range text {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case depth == 0 && strings.HasPrefix(text[i:], " && "):
			operands = append(operands, text[start:i])
			start = i + len(" && ")
		}
	}
	return append(operands, text[start:])
}

// logic returns operations on truth values.
func (e *emitter) logic(v *ir.Value) expr {
	x, y := e.ref(v.Args[0]), e.ref(v.Args[len(v.Args)-1])
	switch v.Op {
	case ir.OpAnd, ir.OpMul:
		return conjunction(x, y)
	case ir.OpOr:
		return binary("||", x, y)
	case ir.OpXor, ir.OpAdd, ir.OpSub:
		if c := v.Args[1]; c.Op == ir.OpConst {
			if c.Imm&1 == 1 {
				return e.negated(v.Args[0])
			}
			return x
		}
		return binary("!=", x, y)
	}
	panic(refuseAt(v, "%s of i1 has no equivalent in Go", v.Op))
}

// inverse has the comparison of integers that holds where another does not.
var inverse = map[string]string{"==": "!=", "!=": "==", "<": ">=", "<=": ">"}

var comparisons = map[ir.Op]string{
	ir.OpEq: "==", ir.OpNe: "!=", ir.OpSLt: "<", ir.OpSLe: "<=", ir.OpULt: "<", ir.OpULe: "<=",
	ir.OpFEq: "==", ir.OpFNe: "!=", ir.OpFLt: "<", ir.OpFLe: "<=",
}

func (e *emitter) compare(v *ir.Value) expr { return e.comparison(v, comparisons[v.Op]) }

func (e *emitter) comparison(v *ir.Value, op string) expr {
	x, y := v.Args[0], v.Args[1]
	switch {
	case x.Type.IsPtr() && (op == "==" || op == "!="):
		return binary(op, e.pointer(x), e.pointer(y))
	case x.Type.IsPtr():
		panic(refuseAt(v, "addresses are compared"))
	case x.Type.Kind == ir.KindI1 && v.Op != ir.OpEq && v.Op != ir.OpNe:
		panic(refuseAt(v, "%s of i1 has no equivalent in Go", v.Op))
	case v.Op == ir.OpULt || v.Op == ir.OpULe:
		return binary(op, e.unsigned(x), e.unsigned(y))
	}
	return binary(op, e.ref(x), e.ref(y))
}

// negated returns the condition under which v does not hold.
func (e *emitter) negated(v *ir.Value) expr {
	if e.inline[v.ID] && v.Op >= ir.OpEq && v.Op <= ir.OpULe {
		return e.comparison(v, inverse[comparisons[v.Op]])
	}
	return not(e.ref(v))
}

const dtypePath = "github.com/gopherwarp/gopherwarp/dtype"

// halves has the type of package dtype from or to which an operation converts.
var halves = map[ir.Op]string{ir.OpF16ToF: "F16", ir.OpFToF16: "F16", ir.OpBF16ToF: "BF16", ir.OpFToBF16: "BF16"}

func (e *emitter) conversion(v *ir.Value) expr {
	a := v.Args[0]
	t := e.typeName(v.Type, false)
	switch v.Op {
	case ir.OpTrunc:
		if v.Type.Kind == ir.KindI1 {
			return binary("!=", binary("&", e.arg(v, 0), number(1)), number(0))
		}
		return convert(t, e.arg(v, 0))
	case ir.OpSExt, ir.OpZExt:
		if layout.IsSpecial(a) {
			return e.special(a)
		}
		if v.Op == ir.OpZExt {
			return convert(t, e.unsignedArg(v, 0))
		}
		return convert(t, e.arg(v, 0))
	case ir.OpSToF, ir.OpFExt, ir.OpFRound:
		if a.Type.Kind != ir.KindI1 {
			return convert(t, e.arg(v, 0))
		}
	case ir.OpUToF:
		if a.Type.Kind != ir.KindI1 {
			return convert(t, e.unsignedArg(v, 0))
		}
	case ir.OpFToS: // out of range as the Go compiler does it, so that the kernel gives the same on its own
		return convert(t, e.arg(v, 0))
	case ir.OpFToU:
		return convert(t, convert(e.typeName(v.Type, true), e.arg(v, 0)))
	case ir.OpF16ToF, ir.OpBF16ToF:
		return operand("%s.%s(%s).Float32()", e.imported(dtypePath), halves[v.Op], e.unsignedArg(v, 0).text)
	case ir.OpFToF16, ir.OpFToBF16:
		return convert(t, operand("%s.%sFrom32(%s)", e.imported(dtypePath), halves[v.Op], e.arg(v, 0).text))
	}
	panic(refuseAt(v, "%s from %v to %v has no equivalent in Go", v.Op, a.Type, v.Type))
}

func (e *emitter) bitcast(v *ir.Value) expr {
	a := v.Args[0]
	m := func(name string) string { return e.imported("math") + "." + name }
	switch from, to := a.Type.Kind, v.Type.Kind; {
	case from == to:
		return e.ref(a)
	case from == ir.KindF32 && to == ir.KindI32:
		return operand("int32(%s(%s))", m("Float32bits"), e.ref(a).text)
	case from == ir.KindF64 && to == ir.KindI64:
		return operand("int(%s(%s))", m("Float64bits"), e.ref(a).text)
	case from == ir.KindI32 && to == ir.KindF32:
		return operand("%s(uint32(%s))", m("Float32frombits"), e.arg(v, 0).text)
	case from == ir.KindI64 && to == ir.KindF64:
		return operand("%s(uint64(%s))", m("Float64frombits"), e.arg(v, 0).text)
	}
	panic(refuseAt(v, "bitcast from %v to %v has no equivalent in Go", a.Type, v.Type))
}
