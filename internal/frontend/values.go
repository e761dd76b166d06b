package frontend

import (
	"go/constant"
	"go/types"
	"math"

	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// value returns the IR value of v. It refuses v where a kernel cannot have it, and silently
// where that has been reported.
func (l *lowerer) value(v ssa.Value) *ir.Value {
	if isThread(v.Type()) {
		return l.zero(threadType)
	}
	switch v := v.(type) {
	case *ssa.Const:
		return l.constValue(v)
	case *ssa.Global:
		return l.global(v)
	case *ssa.MakeClosure:
		return l.value(v.Fn)
	case *ssa.Function:
		l.lacks(&lackFunc)
	case *ssa.Builtin:
		l.lacks(&lackFunc)
	case *ssa.MakeInterface:
		l.lacks(&lackInterface)
	}
	if x := l.values[v]; x != nil {
		return x
	}
	if l.missing[v] {
		panic(refused{})
	}
	if isStatic(v.Type()) { // such as the address of a variable that holds a function
		l.lacks(&lackFunc)
	}
	panic("BUG: frontend: " + l.fn.String() + ": no value for " + v.String())
}

func (l *lowerer) operands(vs []ssa.Value) []*ir.Value {
	args := make([]*ir.Value, len(vs))
	for i, v := range vs {
		args[i] = l.value(v)
	}
	return args
}

// typeOf returns the type of v in IR, or refuses it.
func (l *lowerer) typeOf(v ssa.Value) *ir.Type { return l.irType(v.Type()) }

func (l *lowerer) irType(t types.Type) *ir.Type {
	k, lack := irType(t)
	if lack != nil {
		l.lacks(lack)
	}
	return k
}

// zero returns the zero value of t.
func (l *lowerer) zero(t *ir.Type) *ir.Value {
	if t.IsScalar() {
		return l.constant(t, 0)
	}
	return l.emitHead(ir.OpZero, t)
}

func (l *lowerer) constValue(c *ssa.Const) *ir.Value {
	t := l.typeOf(c)
	if c.Value == nil {
		return l.zero(t)
	}
	if s, ok := constString(c); ok {
		return l.stringConst(s)
	}
	return l.constant(t, constBits(t, c.Value))
}

// constBits returns the bits of the constant c of type t, extended by their sign.
func constBits(t *ir.Type, c constant.Value) int64 {
	switch t.Kind {
	case ir.KindI1:
		if constant.BoolVal(c) {
			return -1
		}
		return 0
	case ir.KindF32:
		f, _ := constant.Float32Val(c)
		return int64(int32(math.Float32bits(f)))
	case ir.KindF64:
		f, _ := constant.Float64Val(c)
		return int64(math.Float64bits(f))
	}
	c = constant.ToInt(c)
	n, exact := constant.Int64Val(c)
	if !exact {
		u, _ := constant.Uint64Val(c)
		n = int64(u)
	}
	shift := 64 - t.Bits()
	return n << shift >> shift
}

// constInt returns the value of v, where it is an integer constant that fits an int64.
func constInt(v ssa.Value) (int64, bool) {
	c, ok := v.(*ssa.Const)
	if !ok || c.Value == nil || !isInteger(c.Type()) {
		return 0, false
	}
	return constant.Int64Val(constant.ToInt(c.Value))
}

// constString returns the value of v, where it is a constant string.
func constString(v ssa.Value) (string, bool) {
	c, ok := v.(*ssa.Const)
	if !ok || c.Value == nil || c.Value.Kind() != constant.String {
		return "", false
	}
	return constant.StringVal(c.Value), true
}
