package frontend

import (
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/internal/diag"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// How atomic operations of package sync/atomic are ordered.
var goMemory = ir.Memory(ir.Sequential, ir.SystemScope)

// syncAtomic returns the intrinsic for a function of package sync/atomic, or nil. Its types
// are Go code that calls these.
func syncAtomic(name string) intrinsic {
	for prefix, f := range map[string]intrinsic{
		"Add": goAdd, "And": goUpdate(ir.OpAtomicAnd), "Or": goUpdate(ir.OpAtomicOr), "Swap": goUpdate(ir.OpAtomicXchg),
		"CompareAndSwap": goCompareAndSwap, "Load": goLoad, "Store": goStore,
	} {
		switch kind, ok := strings.CutPrefix(name, prefix); kind {
		case "Int32", "Int64", "Uint32", "Uint64", "Uintptr":
			if ok {
				return f
			}
		}
	}
	return nil
}

func goAdd(l *lowerer, v *ssa.Call) *ir.Value {
	p, x := l.target(v), l.value(v.Call.Args[1])
	return l.emit(ir.OpAdd, x.Type, l.emitImm(ir.OpAtomicAdd, x.Type, goMemory, p, x), x)
}

func goUpdate(op ir.Op) intrinsic {
	return func(l *lowerer, v *ssa.Call) *ir.Value {
		p, x := l.target(v), l.value(v.Call.Args[1])
		return l.emitImm(op, x.Type, goMemory, p, x)
	}
}

func goCompareAndSwap(l *lowerer, v *ssa.Call) *ir.Value {
	p, from, to := l.target(v), l.value(v.Call.Args[1]), l.value(v.Call.Args[2])
	return l.emit(ir.OpEq, ir.I1, l.emitImm(ir.OpAtomicCAS, from.Type, goMemory, p, from, to), from)
}

func goLoad(l *lowerer, v *ssa.Call) *ir.Value {
	return l.emitImm(ir.OpAtomicLoad, l.typeOf(v), goMemory, l.target(v))
}

func goStore(l *lowerer, v *ssa.Call) *ir.Value {
	p, x := l.target(v), l.value(v.Call.Args[1])
	return l.emitImm(ir.OpAtomicStore, ir.Void, goMemory, p, x)
}

// target returns the address that an atomic operation takes first.
func (l *lowerer) target(v *ssa.Call) *ir.Value {
	p := l.value(v.Call.Args[0])
	l.checkNil(v.Call.Args[0], p)
	return p
}

// The numbers of gpu.Memory.
const (
	firstOrder = 1 // gpu.Relaxed
	firstScope = 16
)

var gpuScopes = [...]ir.Scope{ir.BlockScope, ir.ClusterScope, ir.DeviceScope, ir.SystemScope}

// memory returns the order and the scope that a call names in its last argument, which is a
// list of gpu.Memory; usual is the order where it names none.
func (l *lowerer) memory(v *ssa.Call, usual ir.Order, allowed ...ir.Order) int64 {
	name := callName(v.Call.StaticCallee())
	_, list, ok := variadic(v.Call.Args[len(v.Call.Args)-1])
	order, scope := usual, ir.DeviceScope
	orders, scopes := 0, 0
	for _, a := range list {
		n, constant := constInt(a)
		ok = ok && constant
		switch {
		case n >= firstScope && n-firstScope < int64(len(gpuScopes)):
			scope = gpuScopes[n-firstScope]
			scopes++
		case n >= firstOrder && n-firstOrder <= int64(ir.Sequential):
			order = ir.Order(n - firstOrder)
			orders++
		default:
			ok = false
		}
	}
	if !ok || orders > 1 || scopes > 1 {
		l.refuse(diag.LangMemory, "write, for example, gpu.Acquire, gpu.SystemScope", "gpu.%s takes at most one order and one scope, which must be constants", name)
	}
	if orders > 0 && !allows(allowed, order) {
		l.refuse(diag.LangMemory, "see the documentation of gpu."+name, "this order is not valid for gpu.%s", name)
	}
	return ir.Memory(order, scope)
}

func allows(allowed []ir.Order, o ir.Order) bool {
	for _, a := range allowed {
		if a == o {
			return true
		}
	}
	return len(allowed) == 0
}

// update is an atomic operation that PTX has for this type. Of those with two forms the second is for
// numbers without a sign.
func update(signed, unsigned ir.Op) intrinsic {
	return func(l *lowerer, v *ssa.Call) *ir.Value {
		p, x := l.target(v), l.value(v.Call.Args[1])
		op := pick(isUnsigned(v.Call.Args[1].Type()), unsigned, signed)
		return l.emitImm(op, x.Type, l.memory(v, ir.Relaxed), p, x)
	}
}

// subtract adds the opposite, which is the same for integers and for floats.
func subtract(l *lowerer, v *ssa.Call) *ir.Value {
	p, x := l.target(v), l.value(v.Call.Args[1])
	t := x.Type
	if t.IsFloat() {
		x = l.emit(ir.OpFNeg, t, x)
	} else {
		x = l.emit(ir.OpSub, t, l.constant(t, 0), x)
	}
	return l.emitImm(ir.OpAtomicAdd, t, l.memory(v, ir.Relaxed), p, x)
}

// extremum is AtomicMin or AtomicMax. For floats there is no such operation.
func extremum(signed, unsigned, float ir.Op) intrinsic {
	return func(l *lowerer, v *ssa.Call) *ir.Value {
		if isFloat(v.Call.Args[1].Type()) {
			return l.floatExtremum(v, float)
		}
		return update(signed, unsigned)(l, v)
	}
}

// floatExtremum tries until no other thread came between. Where the number would stay as it is
// nothing is stored, unless the operation orders other accesses.
func (l *lowerer) floatExtremum(v *ssa.Call, op ir.Op) *ir.Value {
	p, x, memory := l.target(v), l.value(v.Call.Args[1]), l.memory(v, ir.Relaxed)
	t, bits := x.Type, bitsOf(x.Type)
	order, scope := (&ir.Value{Imm: memory}).Memory()
	first := l.emitImm(ir.OpAtomicLoad, bits, ir.Memory(ir.Relaxed, scope), p)
	head, try, after := l.f.NewBlock(), l.f.NewBlock(), l.f.NewBlock()
	l.jump(head)

	l.cur = head
	old := l.emit(ir.OpPhi, bits, first)
	now := l.emit(ir.OpBitcast, bits, l.emit(op, t, l.emit(ir.OpBitcast, t, old), x))
	if order == ir.Relaxed {
		l.fork(l.emit(ir.OpEq, ir.I1, now, old), after, try)
	} else {
		l.jump(try)
	}

	l.cur = try
	was := l.emitImm(ir.OpAtomicCAS, bits, memory, p, old, now)
	old.Args = append(old.Args, was)
	l.fork(l.emit(ir.OpEq, ir.I1, was, old), after, head)
	l.cur = after
	return l.emit(ir.OpBitcast, t, old)
}

// fork ends the current block with a branch.
func (l *lowerer) fork(cond *ir.Value, yes, no *ir.Block) {
	l.emit(ir.OpIf, ir.Void, cond)
	l.cur.AddEdge(yes)
	l.cur.AddEdge(no)
}

// bitsOf returns the integer type that is as wide as t.
func bitsOf(t *ir.Type) *ir.Type {
	switch {
	case t.IsInt():
		return t
	case t.Bits() == 32:
		return ir.I32
	}
	return ir.I64
}

func exchange(l *lowerer, v *ssa.Call) *ir.Value {
	p, x := l.target(v), l.value(v.Call.Args[1])
	bits := bitsOf(x.Type)
	return l.asType(l.emitImm(ir.OpAtomicXchg, bits, l.memory(v, ir.Relaxed), p, l.asType(x, bits)), x.Type)
}

func compareAndSwap(l *lowerer, v *ssa.Call) *ir.Value {
	p, from, to := l.target(v), l.value(v.Call.Args[1]), l.value(v.Call.Args[2])
	t, bits := from.Type, bitsOf(from.Type)
	from, to = l.asType(from, bits), l.asType(to, bits)
	was := l.emitImm(ir.OpAtomicCAS, bits, l.memory(v, ir.Relaxed), p, from, to)
	swapped := l.emit(ir.OpEq, ir.I1, was, from)
	return l.emit(ir.OpStruct, ir.StructOf(t, ir.I1), l.asType(was, t), swapped)
}

func atomicLoad(l *lowerer, v *ssa.Call) *ir.Value {
	return l.emitImm(ir.OpAtomicLoad, l.typeOf(v), l.memory(v, ir.Relaxed, ir.Relaxed, ir.Acquire, ir.Sequential), l.target(v))
}

func atomicStore(l *lowerer, v *ssa.Call) *ir.Value {
	p, x := l.target(v), l.value(v.Call.Args[1])
	return l.emitImm(ir.OpAtomicStore, ir.Void, l.memory(v, ir.Relaxed, ir.Relaxed, ir.Release, ir.Sequential), p, x)
}

func fence(l *lowerer, v *ssa.Call) *ir.Value {
	return l.emitImm(ir.OpFence, ir.Void, l.memory(v, ir.AcqRel, ir.AcqRel, ir.Sequential))
}

// asType returns the bits of x as a number of type t.
func (l *lowerer) asType(x *ir.Value, t *ir.Type) *ir.Value {
	if x.Type.Equal(t) {
		return x
	}
	return l.emit(ir.OpBitcast, t, x)
}
