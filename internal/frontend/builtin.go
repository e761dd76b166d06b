package frontend

import (
	"go/token"

	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/internal/diag"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// builtin lowers a call of one of Go's built-in functions.
func (l *lowerer) builtin(v *ssa.Call, name string) *ir.Value {
	args := v.Call.Args
	switch name {
	case "len":
		return l.length(args[0], 1)
	case "cap":
		return l.length(args[0], 2)
	case "min":
		return l.extreme(v, ir.OpFMin, token.LSS)
	case "max":
		return l.extreme(v, ir.OpFMax, token.GTR)
	case "copy":
		return l.copies(v)
	case "clear":
		return l.clears(v)
	case "append":
		l.lacks(&lackAppend)
	case "print", "println":
		if n, ok := unrollMark(args); ok {
			return l.unroll(n)
		}
		return l.prints(name, args)
	case "recover":
		l.lacks(&lackRecover)
	case "delete":
		l.value(args[0])
		l.lacks(&lackMap)
	case "close":
		l.value(args[0])
		l.lacks(&lackChan)
	case "real", "imag", "complex":
		l.lacks(&lackComplex)
	case "ssa:deferstack":
		return nil
	case "Sizeof": // in a generic function, where it is not a constant
		return l.int64(l.irType(args[0].Type()).Size())
	case "Alignof":
		return l.int64(l.irType(args[0].Type()).Align())
	case "ssa:wrapnilchk":
		p := l.value(args[0])
		l.checkNil(args[0], p)
		return p
	}
	l.refuse(diag.LangBuiltin, "write it without package unsafe", "a kernel cannot use the built-in function %s", name)
	return nil
}

func (l *lowerer) length(x ssa.Value, part int) *ir.Value {
	if s, ok := constString(x); ok {
		return l.int64(int64(len(s)))
	}
	return l.part(l.value(x), part)
}

// extreme lowers min or max: for floats an operation, for integers comparisons.
func (l *lowerer) extreme(v *ssa.Call, float ir.Op, better token.Token) *ir.Value {
	t := l.typeOf(v)
	if isString(v.Type()) {
		l.lacks(&lackString)
	}
	args := l.operands(v.Call.Args)
	best := args[0]
	for _, x := range args[1:] {
		if t.IsFloat() {
			best = l.emit(float, t, best, x)
			continue
		}
		op := pick(isUnsigned(v.Type()), ir.OpULt, ir.OpSLt)
		a, b := x, best
		if better == token.GTR {
			a, b = b, a
		}
		best = l.emit(ir.OpSelect, t, l.emit(op, ir.I1, a, b), x, best)
	}
	return best
}
