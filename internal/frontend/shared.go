package frontend

import (
	"go/types"
	"maps"

	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/internal/diag"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

const sharedName = gpuPath + ".Shared"

const sharedHelp = "call it once, at the top of the kernel"

func isShared(c *ssa.CallCommon) bool {
	fn := c.StaticCallee()
	return fn != nil && fullName(fn) == sharedName
}

// shared lowers gpu.Shared[T](t): each call in the source is a variable of its own.
func shared(l *lowerer, v *ssa.Call) *ir.Value {
	l.checkOnce("gpu.Shared")
	t := v.Call.StaticCallee().TypeArgs()[0]
	if holdsPointers(t) {
		l.refuse(diag.LangShared, "use numbers, booleans, and arrays and structs of them", "gpu.Shared of a type with pointers")
	}
	variable := &ir.Variable{Name: l.b.uniqueName(l.f.Name + ".shared"), Space: ir.Shared, Type: l.irType(t), Align: l.panelAlignment(t)}
	l.b.module.Vars = append(l.b.module.Vars, variable)
	l.u.declares = true
	return l.emitAux(ir.OpVar, ir.Ptr, variable)
}

// dynamicShared lowers gpu.DynamicShared[T](t). There is one such memory, so all calls name the
// same variable.
func dynamicShared(l *lowerer, v *ssa.Call) *ir.Value {
	t := v.Call.StaticCallee().TypeArgs()[0]
	elem := l.irType(t)
	if holdsPointers(t) || elem.Size() == 0 {
		l.refuse(diag.LangShared, "use numbers, booleans, and arrays and structs of them", "gpu.DynamicShared of a type with pointers or of size 0")
	}
	if l.b.dynamic == nil {
		l.b.dynamic = &ir.Variable{Name: l.b.uniqueName("dynamic"), Space: ir.Shared, Type: ir.ArrayOf(0, ir.I8)}
		l.b.module.Vars = append(l.b.module.Vars, l.b.dynamic)
	}
	l.b.dynamic.Align = max(l.b.dynamic.Align, l.panelAlignment(t))
	p := l.emitAux(ir.OpVar, ir.Ptr, l.b.dynamic)
	bytes := l.emit(ir.OpZExt, ir.I64, l.emit(ir.OpDynamicBytes, ir.I32))
	n := l.emit(ir.OpUDiv, ir.I64, bytes, l.int64(elem.Size()))
	return l.emit(ir.OpStruct, ir.Slice, p, n, n)
}

// checkOnce refuses a call of what unless every thread that ends regularly executes it exactly
// once in the current function.
func (l *lowerer) checkOnce(what string) {
	b := l.block
	if l.loops[b] {
		l.refuse(diag.LangShared, sharedHelp, "%s is called in a loop", what)
	}
	for end := range l.live {
		if _, ok := end.Instrs[len(end.Instrs)-1].(*ssa.Return); ok && !b.Dominates(end) {
			l.refuse(diag.LangShared, sharedHelp, "%s is called in a branch, which not every thread executes", what)
		}
	}
}

// shareThrough checks the call of u, the last in l.u.calls, where it declares shared memory.
func (l *lowerer) shareThrough(u *unit) {
	mine := u.owners()
	if len(mine) == 0 {
		return
	}
	l.checkOnce(callName(u.fn) + ", which calls gpu.Shared,")
	for _, c := range l.u.calls[:len(l.u.calls)-1] {
		for owner := range c.owners() {
			if mine[owner] {
				l.refuse(diag.LangShared, "call it once and pass the variable", "%s, which calls gpu.Shared, is called twice", callName(owner.fn))
			}
		}
	}
}

// owners returns the functions that declare shared memory themselves, among u and those that it reaches.
func (u *unit) owners() map[*unit]bool {
	reached := u.reach(map[*unit]bool{})
	maps.DeleteFunc(reached, func(u *unit, _ bool) bool { return !u.declares })
	return reached
}

// holdsPointers reports whether memory of type t holds addresses.
func holdsPointers(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() == types.UnsafePointer || u.Info()&types.IsString != 0
	case *types.Array:
		return holdsPointers(u.Elem())
	case *types.Struct:
		for i := range u.NumFields() {
			if holdsPointers(u.Field(i).Type()) {
				return true
			}
		}
		return false
	}
	return true
}
