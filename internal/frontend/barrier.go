package frontend

import (
	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/internal/diag"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// onBarrier lowers a method of gpu.Barrier; arg is the place of its number among the call's arguments, or 0.
func onBarrier(op ir.Op, result *ir.Type, arg int) intrinsic {
	return func(l *lowerer, v *ssa.Call) *ir.Value {
		b, n := l.sharedAddress(v, v.Call.Args[0]), l.constant(ir.I32, 0)
		if arg > 0 {
			n = l.emit(ir.OpTrunc, ir.I32, l.value(v.Call.Args[arg]))
		}
		return l.emit(op, result, b, n)
	}
}

// initBarrier lowers Barrier.Init, which a GPU that meets a wrong count would leave undefined.
func initBarrier(l *lowerer, v *ssa.Call) *ir.Value {
	const most = 1<<20 - 1 // PTX ISA, mbarrier.init
	n := l.emit(ir.OpSub, ir.I64, l.value(v.Call.Args[2]), l.int64(1))
	l.check(l.emit(ir.OpULt, ir.I1, n, l.int64(most)), "gpu.Barrier: number of arrivals out of range 1 to 1048575")
	return onBarrier(ir.OpMBarrierInit, ir.Void, 2)(l, v)
}

// noArguments lowers a call to an operation without arguments.
func noArguments(op ir.Op) intrinsic {
	return func(l *lowerer, _ *ssa.Call) *ir.Value { return l.emit(op, ir.Void) }
}

// groupsLeft lowers a call whose argument is the number of groups that may be left, a constant from 0
// to 7, to an operation with the sum of that and more.
func groupsLeft(op ir.Op, more int64) intrinsic {
	return func(l *lowerer, v *ssa.Call) *ir.Value {
		return l.emitImm(op, ir.Void, l.left(v, v.Call.Args[1])|more)
	}
}

// left returns the number of groups that x, an argument of call v, says to leave.
func (l *lowerer) left(v *ssa.Call, x ssa.Value) int64 {
	n, ok := constInt(x)
	if !ok || n < 0 || n > 7 {
		l.refuse(diag.LangCopy, "write a constant from 0 to 7", "%s requires a constant from 0 to 7", callName(v.Call.StaticCallee()))
	}
	return n
}

// warpGroup lowers Thread.WarpGroup.
func warpGroup(l *lowerer, v *ssa.Call) *ir.Value {
	return l.emit(ir.OpLShr, ir.I64, warpIndex(l, v), l.constant(ir.I32, 2))
}
