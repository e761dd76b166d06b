package frontend

import (
	"fmt"
	"go/token"
	"go/types"
	"path/filepath"

	"golang.org/x/tools/go/ssa"
)

// A package-level variable may be initialized by a call, as in var table = makeTable(). The evaluator then executes
// the function as the program's own initialization would, so that its result becomes a table of constants. It knows the
// operations of numbers, arrays, structs, slices, pointers and functions, and calls the host's package math; anything
// else, such as a map, an interface or a change of a package-level variable, makes the variable unusable in kernels.

// Limits of one evaluation, so that the compiler ends.
const (
	maxSteps    = 4 << 20 // instructions
	maxElements = 1 << 20 // of arrays and slices that it allocates
	maxDepth    = 1000    // of calls
)

// A misfit is the reason why something cannot be evaluated, as the rest of a sentence.
type misfit struct {
	text string
	// unseen is set if a function has no body here but may have one in a build.
	unseen bool
	placed bool // text ends in a position
}

// evaluator evaluates the expressions of a package's initialization.
type evaluator struct {
	global   func(*ssa.Global) (any, *misfit) // the value of a variable that nothing writes
	local    func(*ssa.Alloc) (any, *misfit)  // likewise, of a variable of the package's init function
	known    map[ssa.Value]any                // values of that function
	pos      token.Pos
	steps    int
	elements int
	depth    int
}

// evaluate returns what v, a value of a package's init function, is at run time.
func (e *evaluator) evaluate(v ssa.Value) (result any, why *misfit) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case misfit:
			if place := v.Parent().Prog.Fset.Position(e.pos); place.IsValid() && !p.placed {
				p.text, p.placed = fmt.Sprintf("%s (%s:%d)", p.text, filepath.Base(place.Filename), place.Line), true
			}
			result, why = nil, &p
		default:
			panic(p)
		}
	}()
	return e.initial(v), nil
}

// initial evaluates an expression of the init function.
func (e *evaluator) initial(v ssa.Value) any {
	if x, ok := e.known[v]; ok {
		return x
	}
	switch in := v.(type) {
	case *ssa.Call, *ssa.BinOp, *ssa.UnOp, *ssa.Convert, *ssa.ChangeType, *ssa.Extract, *ssa.MakeClosure,
		*ssa.IndexAddr, *ssa.Index, *ssa.FieldAddr, *ssa.Field, *ssa.Slice:
		f := &activation{e: e, values: e.known}
		for _, op := range in.(ssa.Instruction).Operands(nil) {
			if _, isGlobal := (*op).(*ssa.Global); !isGlobal && (*op) != nil {
				e.known[*op] = e.initial(*op)
			}
		}
		e.pos = in.Pos()
		e.known[v] = f.value(in.(ssa.Instruction))
		return e.known[v]
	case *ssa.Alloc:
		x, why := e.local(in)
		if why != nil {
			panic(*why)
		}
		return &x
	case *ssa.Const:
		return constantValue(in)
	case *ssa.Function, *ssa.Builtin:
		return funcValue{fn: v}
	}
	e.pos = v.Pos()
	e.fail("it uses %s, which is not a constant", v)
	return nil
}

func (e *evaluator) fail(format string, args ...any) {
	panic(misfit{text: fmt.Sprintf(format, args...)})
}

// funcValue is a function value.
type funcValue struct {
	fn   ssa.Value // a *ssa.Function or a *ssa.Builtin
	free []any
}

// call calls a function.
func (e *evaluator) call(c funcValue, args []any) any {
	fn, ok := c.fn.(*ssa.Function)
	if !ok {
		e.fail("it calls nil")
	}
	if host, ok := hostFunctions[fullName(fn)]; ok {
		return callHost(host, args)
	}
	if len(fn.Blocks) == 0 {
		panic(misfit{text: fmt.Sprintf("it calls %s, which has no Go source", fullName(fn)), unseen: true})
	}
	if e.depth++; e.depth > maxDepth {
		e.fail("it has more than %d nested calls", maxDepth)
	}
	defer func() { e.depth-- }()
	f := &activation{e: e, values: map[ssa.Value]any{}}
	for i, p := range fn.Params {
		f.values[p] = args[i]
	}
	for i, v := range fn.FreeVars {
		f.values[v] = c.free[i]
	}
	return f.run(fn)
}

// activation is one call of a function: its variables.
type activation struct {
	e      *evaluator
	values map[ssa.Value]any
	from   *ssa.BasicBlock // that control comes from
}

// run executes the function from its first block to a return.
func (f *activation) run(fn *ssa.Function) any {
	for b := fn.Blocks[0]; ; {
		next, result, done := f.block(b)
		if done {
			return result
		}
		f.from, b = b, next
	}
}

// block executes a block, and returns the next one or the function's result.
func (f *activation) block(b *ssa.BasicBlock) (next *ssa.BasicBlock, result any, done bool) {
	f.phis(b)
	for _, in := range b.Instrs {
		if f.e.steps++; f.e.steps > maxSteps {
			f.e.fail("it takes more than %d steps", maxSteps)
		}
		if in.Pos().IsValid() {
			f.e.pos = in.Pos()
		}
		switch in := in.(type) {
		case *ssa.Phi, *ssa.DebugRef, *ssa.RunDefers:
		case *ssa.If:
			if f.get(in.Cond).(bool) {
				return b.Succs[0], nil, false
			}
			return b.Succs[1], nil, false
		case *ssa.Jump:
			return b.Succs[0], nil, false
		case *ssa.Return:
			return nil, f.result(in), true
		case *ssa.Store:
			assign(f.pointer(in.Addr), f.get(in.Val))
		case *ssa.MakeInterface: // of a panic, which needs no value
			if _, ok := (*in.Referrers())[0].(*ssa.Panic); !ok {
				f.e.fail("it uses an interface value")
			}
		case *ssa.Panic:
			f.e.fail("it panics")
		default:
			v, ok := in.(ssa.Value)
			if !ok {
				f.e.fail("it uses what the compiler cannot evaluate: %s", in)
			}
			f.values[v] = f.value(in)
		}
	}
	panic("BUG: frontend: a block without an end")
}

// phis assigns the phis of a block, all at once.
func (f *activation) phis(b *ssa.BasicBlock) {
	var values []any
	for _, in := range b.Instrs {
		phi, ok := in.(*ssa.Phi)
		if !ok {
			break
		}
		for i, p := range b.Preds {
			if p == f.from {
				values = append(values, f.get(phi.Edges[i]))
				break
			}
		}
	}
	for i, v := range values {
		f.values[b.Instrs[i].(ssa.Value)] = v
	}
}

func (f *activation) result(in *ssa.Return) any {
	if len(in.Results) == 1 {
		return f.get(in.Results[0])
	}
	var all list
	for _, r := range in.Results {
		all = append(all, f.get(r))
	}
	return all
}

// get returns the value of an operand.
func (f *activation) get(v ssa.Value) any {
	switch v := v.(type) {
	case *ssa.Const:
		return constantValue(v)
	case *ssa.Function, *ssa.Builtin:
		return funcValue{fn: v}
	case *ssa.Global:
		x, why := f.e.global(v)
		if why != nil {
			panic(*why)
		}
		return &x
	}
	if x, ok := f.values[v]; ok {
		return x
	}
	panic("BUG: frontend: a value is used before its definition")
}

// pointer returns the pointer that v holds, which must not be nil.
func (f *activation) pointer(v ssa.Value) *any {
	p, ok := f.get(v).(*any)
	if !ok || p == nil {
		f.e.fail("it dereferences a nil pointer")
	}
	return p
}

// index returns an index below n.
func (f *activation) index(v ssa.Value, n int) int {
	i := f.get(v).(int64)
	if i < 0 || i >= int64(n) {
		f.e.fail("it has an index out of range: [%d] with length %d", i, n)
	}
	return int(i)
}

// make counts n elements that are allocated.
func (f *activation) make(n int64) int {
	if f.e.elements += int(min(max(n, 0), maxElements+1)); n < 0 || f.e.elements > maxElements {
		f.e.fail("it allocates more than %d elements", maxElements)
	}
	return int(n)
}

// value executes an instruction that has a value.
func (f *activation) value(in ssa.Instruction) any {
	switch in := in.(type) {
	case *ssa.Alloc:
		x := f.zero(pointee(in.Type()))
		return &x
	case *ssa.BinOp:
		return f.binary(in)
	case *ssa.UnOp:
		return f.unary(in)
	case *ssa.Call:
		return f.call(in)
	case *ssa.Convert:
		return f.convert(in)
	case *ssa.ChangeType:
		return f.get(in.X)
	case *ssa.Extract:
		return f.get(in.Tuple).(list)[in.Index]
	case *ssa.MakeClosure:
		c := funcValue{fn: in.Fn}
		for _, b := range in.Bindings {
			c.free = append(c.free, f.get(b))
		}
		return c
	}
	return f.memory(in)
}

// memory executes an instruction on an array, a struct, a slice or a string.
func (f *activation) memory(in ssa.Instruction) any {
	switch in := in.(type) {
	case *ssa.FieldAddr:
		return &(*f.pointer(in.X)).(list)[in.Field]
	case *ssa.Field:
		return copied(f.get(in.X).(list)[in.Field])
	case *ssa.IndexAddr:
		elements, ok := f.get(in.X).(slice)
		if !ok {
			elements = slice((*f.pointer(in.X)).(list))
		}
		return &elements[f.index(in.Index, len(elements))]
	case *ssa.Index:
		if s, ok := f.get(in.X).(string); ok {
			return int64(s[f.index(in.Index, len(s))])
		}
		elements := f.get(in.X).(list)
		return copied(elements[f.index(in.Index, len(elements))])
	case *ssa.Slice:
		return f.slice(in)
	case *ssa.MakeSlice:
		n, c := f.make(f.get(in.Len).(int64)), f.make(f.get(in.Cap).(int64))
		s := make(slice, max(n, c))
		for i := range s {
			s[i] = f.zero(in.Type().Underlying().(*types.Slice).Elem())
		}
		return s[:n]
	}
	f.e.fail("it uses what the compiler cannot evaluate: %s", in)
	return nil
}
