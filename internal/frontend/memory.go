package frontend

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/internal/diag"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// maxLocal is the local memory of a thread, in bytes, on every GPU that there is code for (CUDA C++ Programming Guide, Compute
// Capabilities).
const maxLocal = 512 << 10

// alloc lowers a variable. Outside of loops it is reached once, so that it may
// stand in the entry.
func (l *lowerer) alloc(v *ssa.Alloc) *ir.Value {
	t := l.irType(pointee(v.Type()))
	if t.Size() > maxLocal {
		l.refuse(diag.LangAllocate, "use a slice that the host allocates",
			"a kernel cannot use a variable of %d bytes: a thread has at most %d bytes of local memory", t.Size(), maxLocal)
	}
	l.checkEscape(v)
	if loop, ok := loopVarOf(v); ok {
		return l.value(loop.first)
	}
	if !l.repeats(v.Block()) {
		return l.variable(t)
	}
	return l.emitAux(ir.OpAlloca, ir.Ptr, t)
}

// storeFunc refuses a function in memory, unless it is a variable of its own.
func (l *lowerer) storeFunc(in *ssa.Store) {
	switch in.Addr.(type) {
	case *ssa.Alloc, *ssa.FreeVar, *ssa.Parameter:
		return
	}
	l.lacks(&lackFunc)
}

func (l *lowerer) load(v *ssa.UnOp) *ir.Value {
	if g, ok := v.X.(*ssa.Global); ok && isSlice(v.Type()) {
		return l.loadGlobalSlice(g)
	}
	t, p := l.typeOf(v), l.value(v.X)
	l.checkNil(v.X, p)
	if isThread(v.Type()) {
		return nil
	}
	if !containsString(v.Type()) {
		return l.emit(ir.OpLoad, t, p)
	}
	switch from := l.textTable(v.X); {
	case from == nil:
		return l.emit(ir.OpLoad, t, p)
	case onlyIndexed(v):
		return l.zero(t) // index loads from the table
	default:
		return l.loadTexts(from, v.Type(), p)
	}
}

func (l *lowerer) store(in *ssa.Store) {
	if isStatic(in.Val.Type()) {
		l.storeFunc(in)
		return
	}
	p, x := l.value(in.Addr), l.value(in.Val)
	l.checkNil(in.Addr, p)
	if !isThread(in.Val.Type()) {
		l.emit(ir.OpStore, ir.Void, p, x)
	}
}

func (l *lowerer) fieldAddr(v *ssa.FieldAddr) *ir.Value {
	t, p := l.irType(pointee(v.X.Type())), l.value(v.X)
	l.checkNil(v.X, p)
	return l.offset(p, t.PartOffset(v.Field))
}

func (l *lowerer) offset(p *ir.Value, n int64) *ir.Value {
	if n == 0 {
		return p
	}
	return l.emitImm(ir.OpOffset, ir.Ptr, n, p)
}

// indexAddr lowers &x[i] of a slice or a pointer to an array.
func (l *lowerer) indexAddr(v *ssa.IndexAddr) *ir.Value {
	x := l.value(v.X)
	elem := l.irType(pointee(v.Type()))
	switch u := v.X.Type().Underlying().(type) {
	case *types.Slice:
		i := l.checkIndex(v.Index, l.part(x, 1))
		return l.element(l.part(x, 0), i, elem)
	case *types.Pointer:
		l.checkNil(v.X, x)
		n := u.Elem().Underlying().(*types.Array).Len()
		if i, ok := constInt(v.Index); ok && i >= 0 && i < n {
			return l.offset(x, i*elem.Size())
		}
		i := l.checkIndex(v.Index, l.int64(n))
		return l.element(x, i, elem)
	}
	panic("BUG: frontend: index into " + v.X.Type().String())
}

func (l *lowerer) element(p, i *ir.Value, elem *ir.Type) *ir.Value {
	return l.emitImm(ir.OpIndex, ir.Ptr, elem.Size(), p, i)
}

// index lowers x[i] of an array that is not a variable. Only memory can be indexed by a
// value, so such an array was stored where it was computed (see spill).
func (l *lowerer) index(v *ssa.Index) *ir.Value {
	if isString(v.X.Type()) {
		return l.stringIndex(v.X, v.Index)
	}
	x, t := l.value(v.X), l.typeOf(v)
	if load, ok := v.X.(*ssa.UnOp); ok && containsString(v.Type()) {
		if from := l.textTable(load.X); from != nil {
			i := l.checkIndex(v.Index, l.int64(x.Type.Len))
			return l.loadTexts(from, v.Type(), l.element(l.value(load.X), i, t))
		}
	}
	if i, ok := constInt(v.Index); ok && i >= 0 && i < x.Type.Len {
		return l.part(x, int(i))
	}
	i := l.checkIndex(v.Index, l.int64(x.Type.Len))
	return l.emit(ir.OpLoad, t, l.element(l.spill(v.X, x), i, t))
}

// spill returns the address of memory that holds the array x.
func (l *lowerer) spill(v ssa.Value, x *ir.Value) *ir.Value {
	if p := l.spilled[v]; p != nil {
		return p
	}
	p := l.variable(x.Type)
	l.emit(ir.OpStore, ir.Void, p, x)
	return p
}

// spillResult stores the array v after its definition where it is indexed by a value later, so that a
// loop does not store it again and again. A constant table is in memory already.
func (l *lowerer) spillResult(v ssa.Value) {
	x := l.values[v]
	if _, phi := v.(*ssa.Phi); phi || x == nil || !isIndexed(v) {
		return
	}
	if load, ok := v.(*ssa.UnOp); ok {
		if containsString(v.Type()) && l.textTable(load.X) != nil {
			return
		}
		if _, table := root(load.X).(*ssa.Global); table {
			l.spilled[v] = x.Args[0]
			return
		}
	}
	l.spilled[v] = l.spill(v, x)
}

func isIndexed(v ssa.Value) bool {
	for _, in := range referrers(v) {
		if i, ok := in.(*ssa.Index); ok && i.X == v && !isConst(i.Index) {
			return true
		}
	}
	return false
}

func (l *lowerer) checkNil(v ssa.Value, p *ir.Value) {
	if canBeNil(v) {
		l.check(l.emit(ir.OpNe, ir.I1, p, l.constant(ir.Ptr, 0)), "invalid memory address or nil pointer dereference")
	}
}

// canBeNil reports whether the pointer v may be nil, judging by its origin. The variables that a
// closure captures are addresses of variables; what a bound method captures may be any pointer.
func canBeNil(v ssa.Value) bool {
	return nilSearch{}.canBeNil(v)
}

// nilSearch holds the phis that are being looked through.
type nilSearch map[*ssa.Phi]bool

func (s nilSearch) canBeNil(v ssa.Value) bool {
	switch v := v.(type) {
	case *ssa.Alloc, *ssa.FieldAddr, *ssa.IndexAddr, *ssa.Global:
		return false
	case *ssa.FreeVar:
		return v.Parent().Synthetic != ""
	case *ssa.SliceToArrayPointer: // a slice with elements has an address
		return pointee(v.Type()).Underlying().(*types.Array).Len() == 0
	case *ssa.ChangeType:
		return s.canBeNil(v.X)
	case *ssa.Phi:
		if s[v] {
			return false
		}
		s[v] = true
		return slices.ContainsFunc(v.Edges, s.canBeNil)
	case *ssa.Call:
		return !isShared(v.Common())
	}
	return true
}

// check emits a check of ok that Go makes by itself and that needs no arguments.
func (l *lowerer) check(ok *ir.Value, message string) {
	if !l.b.unchecked {
		l.assert(ok, message)
	}
}

// assert emits a check of ok.
func (l *lowerer) assert(ok *ir.Value, message string) {
	l.emitAux(ir.OpCheck, ir.Void, &ir.Site{Format: message}, ok)
}
