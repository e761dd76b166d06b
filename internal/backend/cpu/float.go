package cpu

import (
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// float returns arithmetic on floats. A product is converted to its own type, so that no Go
// compiler fuses it with a sum (the language's specification, "Floating-point operators").
func (e *emitter) float(v *ir.Value) expr {
	t := e.typeName(v.Type, false)
	switch v.Op {
	case ir.OpFAdd:
		return binary("+", e.arg(v, 0), e.ref(v.Args[1]))
	case ir.OpFSub:
		return binary("-", e.arg(v, 0), e.ref(v.Args[1]))
	case ir.OpFDiv:
		return binary("/", e.arg(v, 0), e.ref(v.Args[1]))
	case ir.OpFMul:
		return convert(t, binary("*", e.arg(v, 0), e.ref(v.Args[1])))
	case ir.OpFNeg:
		return expr{"-" + e.arg(v, 0).at(6), 6}
	case ir.OpFMin:
		return e.extreme(v, "min")
	case ir.OpFMax:
		return e.extreme(v, "max")
	case ir.OpFAbs, ir.OpFCopysign:
		return e.sign(v)
	case ir.OpFma:
		if v.Type.Kind == ir.KindF32 {
			return e.math32(v, "FMA")
		}
		return operand("%s.FMA(%s, %s, %s)", e.imported("math"), e.ref(v.Args[0]).text, e.ref(v.Args[1]).text, e.ref(v.Args[2]).text)
	}
	return e.rounding(v)
}

// math32 returns a call of a function of package math32.
func (e *emitter) math32(v *ir.Value, name string) expr {
	args := make([]string, len(v.Args))
	for i, a := range v.Args {
		args[i] = e.ref(a).text
	}
	return operand("%s.%s(%s)", e.imported("github.com/gopherwarp/gopherwarp/math32"), name, strings.Join(args, ", "))
}

// extreme returns the built-in min or max of two variables: of constants it would be one.
func (e *emitter) extreme(v *ir.Value, name string) expr {
	if e.o.Declares(name) {
		panic(refuse("the package declares the name %s", name))
	}
	return operand("%s(%s, %s)", name, e.arg(v, 0).text, e.ref(v.Args[1]).text)
}

// sign returns an operation on the sign bit, which keeps the bits of NaNs.
func (e *emitter) sign(v *ir.Value) expr {
	m, x := e.imported("math"), e.arg(v, 0).text
	wide := v.Type.Kind == ir.KindF64
	switch {
	case v.Op == ir.OpFAbs && wide:
		return operand("%s.Abs(%s)", m, x)
	case v.Op == ir.OpFAbs:
		return operand("%s.Float32frombits(%s.Float32bits(%s) &^ (1 << 31))", m, m, x)
	case wide:
		return operand("%s.Copysign(%s, %s)", m, x, e.ref(v.Args[1]).text)
	}
	return operand("%s.Float32frombits(%s.Float32bits(%s)&^(1<<31) | %s.Float32bits(%s)&(1<<31))", m, m, x, m, e.ref(v.Args[1]).text)
}

// rounding returns a function of package math that gives the same for float32 and float64.
func (e *emitter) rounding(v *ir.Value) expr {
	name := map[ir.Op]string{ir.OpFSqrt: "Sqrt", ir.OpFFloor: "Floor", ir.OpFCeil: "Ceil", ir.OpFTrunc: "Trunc", ir.OpFRint: "RoundToEven"}[v.Op]
	if name == "" {
		panic(refuseAt(v, "%s has no equivalent in Go", v.Op))
	}
	call, x := e.imported("math")+"."+name, e.arg(v, 0).text
	if v.Type.Kind == ir.KindF64 {
		return operand("%s(%s)", call, x)
	}
	return operand("float32(%s(float64(%s)))", call, x)
}
