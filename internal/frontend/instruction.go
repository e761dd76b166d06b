package frontend

import (
	"fmt"
	"go/token"

	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// instruction lowers in, or refuses it.
func (l *lowerer) instruction(in ssa.Instruction) {
	if _, ok := in.(*ssa.Go); ok { // whatever its operands are
		l.lacks(&lackGo)
	}
	l.needOperands(in)
	switch in := in.(type) {
	case *ssa.Jump:
		l.branch(in.Block(), ir.OpJump)
	case *ssa.If:
		l.conditional(in)
	case *ssa.Return:
		l.ret(in)
	case *ssa.Panic:
		l.panics(in)
	case *ssa.Store:
		l.store(in)
	case *ssa.DebugRef:
	case *ssa.RunDefers:
		l.runDefers()
	case *ssa.Defer:
		l.deferCall(in)
	case *ssa.Send:
		l.lacks(&lackChan)
	case *ssa.MapUpdate:
		l.lacks(&lackMap)
	case ssa.Value:
		if x := l.result(in); x != nil {
			l.values[in] = x
			l.spillResult(in)
		}
	default:
		panic(fmt.Sprintf("BUG: frontend: instruction %T", in))
	}
}

// needOperands gives in up, in silence, where one of its operands is missing. A call goes on until
// its callee has been looked at.
func (l *lowerer) needOperands(in ssa.Instruction) {
	if c, ok := in.(*ssa.Call); ok && c.Call.StaticCallee() != nil {
		return
	}
	for _, op := range in.Operands(nil) {
		if *op != nil && l.missing[*op] {
			panic(refused{})
		}
	}
}

// result lowers an instruction that has a value. It returns nil for those whose value has
// no form in IR and is looked at by those who use it.
func (l *lowerer) result(v ssa.Value) *ir.Value {
	if runtimeError(v) != "" {
		return nil
	}
	if _, call := v.(*ssa.Call); !call && isStatic(v.Type()) {
		return l.static(v)
	}
	switch v := v.(type) {
	case *ssa.Phi:
		return l.phi(v)
	case *ssa.BinOp:
		return l.binary(v)
	case *ssa.UnOp:
		return l.unary(v)
	case *ssa.Convert:
		return l.convert(v)
	case *ssa.ChangeType:
		return l.changeType(v)
	case *ssa.Alloc:
		return l.alloc(v)
	case *ssa.FieldAddr:
		return l.fieldAddr(v)
	case *ssa.IndexAddr:
		return l.indexAddr(v)
	case *ssa.Field:
		return l.emitImm(ir.OpExtract, l.typeOf(v), int64(v.Field), l.value(v.X))
	case *ssa.Extract:
		return l.emitImm(ir.OpExtract, l.typeOf(v), int64(v.Index), l.value(v.Tuple))
	case *ssa.Index:
		return l.index(v)
	case *ssa.Slice:
		return l.slice(v)
	case *ssa.SliceToArrayPointer:
		return l.sliceToArray(v)
	case *ssa.Call:
		return l.call(v)
	case *ssa.MakeInterface, *ssa.MakeClosure:
		return nil
	case *ssa.Lookup:
		if isString(v.X.Type()) {
			return l.stringIndex(v.X, v.Index)
		}
	case *ssa.Range:
		if isString(v.X.Type()) {
			l.rangeString(v)
			return nil
		}
	case *ssa.Next:
		return l.nextRune(v)
	}
	l.refuseValue(v)
	return nil
}

// static looks at an instruction whose value is a function, or the address of a variable of a
// function type: it has no form in IR.
func (l *lowerer) static(v ssa.Value) *ir.Value {
	switch v := v.(type) {
	case *ssa.Alloc, *ssa.MakeClosure, *ssa.Phi, *ssa.ChangeType, *ssa.Extract:
	case *ssa.UnOp:
		if root(v.X) != v.X {
			l.lacks(&lackFunc)
		}
	default:
		l.lacks(&lackFunc)
	}
	return nil
}

// refuseValue says no to an instruction whose value kernels cannot have.
func (l *lowerer) refuseValue(v ssa.Value) {
	switch v := v.(type) {
	case *ssa.MakeMap:
		l.lacks(&lackMap)
	case *ssa.Lookup:
		l.lacks(lackOf(v.X.Type()))
	case *ssa.Range:
		l.lacks(lackOf(v.X.Type()))
	case *ssa.MakeChan:
		l.lacks(&lackChan)
	case *ssa.Select:
		l.lacks(&lackSelect)
	case *ssa.MakeSlice:
		l.lacks(&lackMake)
	case *ssa.TypeAssert, *ssa.ChangeInterface:
		l.lacks(&lackInterface)
	case *ssa.MultiConvert:
		l.irType(v.Type())
	}
	panic(fmt.Sprintf("BUG: frontend: %s: value %T %v", l.fn, v, v))
}

func (l *lowerer) phi(v *ssa.Phi) *ir.Value {
	if isThread(v.Type()) {
		return nil
	}
	if loop, ok := asLoopVar(v); ok {
		return l.value(loop.first)
	}
	return l.emit(ir.OpPhi, l.typeOf(v))
}

func (l *lowerer) changeType(v *ssa.ChangeType) *ir.Value {
	l.typeOf(v)
	return l.value(v.X)
}

func (l *lowerer) unary(v *ssa.UnOp) *ir.Value {
	switch v.Op {
	case token.MUL:
		return l.load(v)
	case token.ARROW:
		l.lacks(&lackChan)
	}
	t, x := l.typeOf(v), l.value(v.X)
	switch {
	case v.Op == token.SUB && t.IsFloat():
		return l.emit(ir.OpFNeg, t, x)
	case v.Op == token.SUB:
		return l.emit(ir.OpSub, t, l.constant(t, 0), x)
	}
	return l.emit(ir.OpXor, t, x, l.constant(t, -1)) // ^x and !x
}
