package frontend

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/internal/diag"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

const sharedName = gpuPath + ".Shared"

func isShared(c *ssa.CallCommon) bool {
	fn := c.StaticCallee()
	return fn != nil && fullName(fn) == sharedName
}

// sharedVariable is the variable of a call of gpu.Shared in the source.
type sharedVariable struct {
	call token.Pos
	t    types.Type
	*ir.Variable
}

// shared lowers gpu.Shared[T](t): each call in the source has one variable for each T, in all instances of a generic function and
// in all places where its function is inlined.
func shared(l *lowerer, v *ssa.Call) *ir.Value {
	t := v.Call.StaticCallee().TypeArgs()[0]
	if holdsPointers(t) {
		l.refuse(diag.LangShared, "use numbers, booleans, and arrays and structs of them", "gpu.Shared of a type with pointers")
	}
	for _, s := range l.b.shared {
		if s.call == v.Pos() && types.Identical(s.t, t) {
			return l.emitAux(ir.OpVar, ir.Ptr, s.Variable)
		}
	}
	variable := &ir.Variable{Name: l.b.uniqueName(l.f.Name + ".shared"), Space: ir.Shared, Type: l.irType(t), Align: l.panelAlignment(t)}
	l.b.module.Vars = append(l.b.module.Vars, variable)
	l.b.shared = append(l.b.shared, sharedVariable{v.Pos(), t, variable})
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

// holdsPointers reports whether memory of type t holds addresses, those of strings included.
func holdsPointers(t types.Type) bool { return containsString(t) || holdsAddresses(t) }

// holdsAddresses reports whether memory of type t holds addresses other than those of strings.
func holdsAddresses(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() == types.UnsafePointer
	case *types.Array:
		return holdsAddresses(u.Elem())
	case *types.Struct:
		for i := range u.NumFields() {
			if holdsAddresses(u.Field(i).Type()) {
				return true
			}
		}
		return false
	}
	return true
}
