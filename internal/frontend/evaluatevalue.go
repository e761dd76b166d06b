package frontend

import (
	"go/constant"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// The values of the evaluator are bool, string, int64 for all integers, with the bits above the type's width as in a
// conversion to int64, float32, float64, *any for pointers, funcValue, list and slice.
type (
	list  []any // an array, a struct or several results
	slice []any
)

// copied returns a copy of v.
func copied(v any) any {
	l, ok := v.(list)
	if !ok {
		return v
	}
	c := make(list, len(l))
	for i, x := range l {
		c[i] = copied(x)
	}
	return c
}

// assign stores v at p. Pointers to parts of *p stay valid.
func assign(p *any, v any) {
	l, ok := v.(list)
	if !ok {
		*p = v
		return
	}
	to := (*p).(list)
	for i := range l {
		assign(&to[i], l[i])
	}
}

// zero returns the zero value of a type.
func (f *activation) zero(t types.Type) any {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		switch {
		case u.Info()&types.IsBoolean != 0:
			return false
		case u.Info()&types.IsInteger != 0:
			return int64(0)
		case u.Kind() == types.Float32:
			return float32(0)
		case u.Kind() == types.Float64:
			return float64(0)
		case u.Kind() == types.String:
			return ""
		}
	case *types.Array:
		l := make(list, f.make(u.Len()))
		for i := range l {
			l[i] = f.zero(u.Elem())
		}
		return l
	case *types.Struct:
		l := make(list, f.make(int64(u.NumFields())))
		for i := range l {
			l[i] = f.zero(u.Field(i).Type())
		}
		return l
	case *types.Slice:
		return slice(nil)
	case *types.Pointer:
		return (*any)(nil)
	case *types.Signature:
		return funcValue{}
	}
	f.e.fail("it uses a value of type %s", t)
	return nil
}

// constantValue returns the value of a constant.
func constantValue(c *ssa.Const) any {
	if c.Value == nil {
		return (&activation{e: &evaluator{}}).zero(c.Type())
	}
	switch t := c.Type().Underlying().(*types.Basic); {
	case t.Info()&types.IsBoolean != 0:
		return constant.BoolVal(c.Value)
	case t.Info()&types.IsString != 0:
		return constant.StringVal(c.Value)
	case t.Info()&types.IsInteger != 0:
		if n, exact := constant.Int64Val(constant.ToInt(c.Value)); exact {
			return n
		}
		n, _ := constant.Uint64Val(constant.ToInt(c.Value))
		return int64(n)
	case t.Kind() == types.Float32:
		x, _ := constant.Float32Val(c.Value)
		return x
	case t.Kind() == types.Float64:
		x, _ := constant.Float64Val(c.Value)
		return x
	}
	panic(misfit{text: "it uses a value of type " + c.Type().String()})
}

// wrapped returns an integer as type t holds it.
func wrapped(t types.Type, x int64) int64 {
	switch t.Underlying().(*types.Basic).Kind() {
	case types.Int8:
		return int64(int8(x))
	case types.Int16:
		return int64(int16(x))
	case types.Int32:
		return int64(int32(x))
	case types.Uint8:
		return int64(uint8(x))
	case types.Uint16:
		return int64(uint16(x))
	case types.Uint32:
		return int64(uint32(x))
	}
	return x
}

func (f *activation) unary(in *ssa.UnOp) any {
	if in.Op == token.MUL {
		return copied(*f.pointer(in.X))
	}
	switch x := f.get(in.X).(type) {
	case bool:
		return !x
	case float32:
		return -x
	case float64:
		return -x
	case int64:
		if in.Op == token.XOR {
			return wrapped(in.Type(), ^x)
		}
		return wrapped(in.Type(), -x)
	}
	f.e.fail("it uses what the compiler cannot evaluate: %s", in)
	return nil
}

func (f *activation) binary(in *ssa.BinOp) any {
	x, y := f.get(in.X), f.get(in.Y)
	switch in.Op {
	case token.EQL:
		return f.equal(x, y)
	case token.NEQ:
		return !f.equal(x, y)
	}
	switch x := x.(type) {
	case float32:
		return arithmetic(in.Op, x, y.(float32))
	case float64:
		return arithmetic(in.Op, x, y.(float64))
	case string:
		return texts(in.Op, x, y.(string))
	case bool:
		return in.Op == token.AND && x && y.(bool) || in.Op == token.OR && (x || y.(bool))
	case int64:
		return f.integers(in, x, y.(int64))
	}
	f.e.fail("it uses what the compiler cannot evaluate: %s", in)
	return nil
}

// equal compares two values.
func (f *activation) equal(x, y any) bool {
	switch x := x.(type) {
	case list:
		for i := range x {
			if !f.equal(x[i], y.(list)[i]) {
				return false
			}
		}
		return true
	case slice:
		return x == nil && y.(slice) == nil
	case funcValue:
		return x.fn == nil && y.(funcValue).fn == nil
	}
	return x == y
}

func arithmetic[T float32 | float64](op token.Token, x, y T) any {
	switch op {
	case token.ADD:
		return x + y
	case token.SUB:
		return x - y
	case token.MUL:
		return x * y
	case token.QUO:
		return x / y
	}
	return ordered(op, x, y)
}

func ordered[T float32 | float64 | int64 | uint64 | string](op token.Token, x, y T) bool {
	switch op {
	case token.LSS:
		return x < y
	case token.LEQ:
		return x <= y
	case token.GTR:
		return x > y
	}
	return x >= y
}

func texts(op token.Token, x, y string) any {
	if op == token.ADD {
		return x + y
	}
	return ordered(op, x, y)
}

func (f *activation) integers(in *ssa.BinOp, x, y int64) any {
	unsigned := isUnsigned(in.X.Type())
	switch in.Op {
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		if unsigned {
			return ordered(in.Op, uint64(x), uint64(y))
		}
		return ordered(in.Op, x, y)
	case token.SHL, token.SHR:
		return wrapped(in.Type(), f.shift(in, x, y))
	case token.QUO, token.REM:
		if y == 0 {
			f.e.fail("it divides by zero")
		}
		return wrapped(in.Type(), divided(in.Op, unsigned, x, y))
	case token.ADD:
		return wrapped(in.Type(), x+y)
	case token.SUB:
		return wrapped(in.Type(), x-y)
	case token.MUL:
		return wrapped(in.Type(), x*y)
	case token.AND:
		return x & y
	case token.OR:
		return x | y
	case token.XOR:
		return x ^ y
	}
	return x &^ y
}

func divided(op token.Token, unsigned bool, x, y int64) int64 {
	switch {
	case op == token.QUO && unsigned:
		return int64(uint64(x) / uint64(y))
	case op == token.QUO:
		return x / y
	case unsigned:
		return int64(uint64(x) % uint64(y))
	}
	return x % y
}

func (f *activation) shift(in *ssa.BinOp, x, y int64) int64 {
	n := uint64(y)
	if y < 0 && !isUnsigned(in.Y.Type()) {
		f.e.fail("it shifts by a negative number")
	}
	switch {
	case in.Op == token.SHL:
		return x << n
	case isUnsigned(in.X.Type()):
		return int64(uint64(x) >> n)
	}
	return x >> n
}
