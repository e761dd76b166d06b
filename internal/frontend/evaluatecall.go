package frontend

import (
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// call executes a call.
func (f *activation) call(in *ssa.Call) any {
	if in.Call.IsInvoke() {
		f.e.fail("it calls a method of an interface")
	}
	c, ok := f.get(in.Call.Value).(funcValue)
	var args []any
	for _, a := range in.Call.Args {
		args = append(args, f.get(a))
	}
	if b, isBuiltin := c.fn.(*ssa.Builtin); isBuiltin {
		return f.builtin(in, b.Name(), args)
	}
	if !ok || c.fn == nil {
		f.e.fail("it calls nil")
	}
	result := f.e.call(c, args)
	f.e.pos = in.Pos()
	return result
}

func (f *activation) builtin(in *ssa.Call, name string, args []any) any {
	switch name {
	case "len", "cap":
		return f.length(name, args[0])
	case "append":
		s, more := args[0].(slice), bytesOr(args[1])
		f.make(int64(len(more)))
		return append(s, more...)
	case "copy":
		to, from := args[0].(slice), bytesOr(args[1])
		n := min(len(to), len(from))
		for i := range n {
			assign(&to[i], from[i])
		}
		return int64(n)
	case "min", "max":
		return extreme(name, in.Type(), args)
	}
	f.e.fail("it calls %s", name)
	return nil
}

func (f *activation) length(name string, x any) any {
	switch x := x.(type) {
	case string:
		return int64(len(x))
	case slice:
		if name == "cap" {
			return int64(cap(x))
		}
		return int64(len(x))
	case list:
		return int64(len(x))
	case *any:
		return int64(len((*x).(list)))
	}
	f.e.fail("it calls %s", name)
	return nil
}

// bytesOr returns copies of the elements of a slice, or the bytes of a string.
func bytesOr(x any) slice {
	s, ok := x.(string)
	if !ok {
		l := make(slice, len(x.(slice)))
		for i, v := range x.(slice) {
			l[i] = copied(v)
		}
		return l
	}
	b := make(slice, len(s))
	for i := range b {
		b[i] = int64(s[i])
	}
	return b
}

// extreme returns the least or the greatest of some values of type t.
func extreme(name string, t types.Type, args []any) any {
	best := args[0]
	for _, a := range args[1:] {
		switch x := a.(type) {
		case float32:
			best = extremeOf(name, best.(float32), x)
		case float64:
			best = extremeOf(name, best.(float64), x)
		case string:
			best = extremeOf(name, best.(string), x)
		case int64:
			if isUnsigned(t) {
				best = int64(extremeOf(name, uint64(best.(int64)), uint64(x)))
			} else {
				best = extremeOf(name, best.(int64), x)
			}
		}
	}
	return best
}

func extremeOf[T float32 | float64 | int64 | uint64 | string](name string, x, y T) T {
	if name == "min" {
		return min(x, y)
	}
	return max(x, y)
}

func (f *activation) slice(in *ssa.Slice) any {
	low := f.integer(in.Low, 0)
	x := f.get(in.X)
	if s, ok := x.(string); ok {
		high := f.integer(in.High, len(s))
		f.checkBounds(low, high, int64(len(s)))
		return s[low:high]
	}
	s, ok := x.(slice)
	if !ok {
		s = slice((*f.pointer(in.X)).(list))
	}
	high, most := f.integer(in.High, len(s)), f.integer(in.Max, cap(s))
	f.checkBounds(low, high, most)
	f.checkBounds(high, most, int64(cap(s)))
	return s[low:high:most]
}

// integer returns the value of an integer, n if v is nil.
func (f *activation) integer(v ssa.Value, n int) int64 {
	if v == nil {
		return int64(n)
	}
	return f.get(v).(int64)
}

// checkBounds fails if the bounds of a slice expression are not in order between 0 and most.
func (f *activation) checkBounds(low, high, most int64) {
	if low < 0 || high < low || high > most {
		f.e.fail("it has slice bounds out of range")
	}
}

func (f *activation) convert(in *ssa.Convert) any {
	to, ok := in.Type().Underlying().(*types.Basic)
	x := f.get(in.X)
	switch {
	case !ok:
		if s, isText := x.(string); isText && isSlice(in.Type()) && elemOfSlice(in.Type()).Underlying() == types.Typ[types.Uint8] {
			f.make(int64(len(s)))
			return bytesOr(s)
		}
	case to.Info()&types.IsNumeric != 0 && to.Info()&types.IsComplex == 0:
		switch x := x.(type) {
		case int64:
			return fromInteger(to, x, isUnsigned(in.X.Type()))
		case float32:
			return fromFloat(to, float64(x))
		case float64:
			return fromFloat(to, x)
		}
	}
	f.e.fail("it converts %s to %s", in.X.Type(), in.Type())
	return nil
}

func fromInteger(to *types.Basic, x int64, unsigned bool) any {
	switch {
	case to.Info()&types.IsInteger != 0:
		return wrapped(to, x)
	case to.Kind() == types.Float32 && unsigned:
		return float32(uint64(x))
	case to.Kind() == types.Float32:
		return float32(x)
	case unsigned:
		return float64(uint64(x))
	}
	return float64(x)
}

// fromFloat converts as the host does, also where Go leaves the result to the processor.
func fromFloat(to *types.Basic, x float64) any {
	switch to.Kind() {
	case types.Float32:
		return float32(x)
	case types.Float64:
		return x
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
	case types.Uint, types.Uint64, types.Uintptr:
		return int64(uint64(x))
	}
	return int64(x)
}
