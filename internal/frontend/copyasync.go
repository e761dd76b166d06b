package frontend

import (
	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/internal/diag"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

func copyAsync(l *lowerer, v *ssa.Call) *ir.Value {
	n := l.copySize(v)
	to, from := l.value(v.Call.Args[1]), l.value(v.Call.Args[2])
	l.checkNil(v.Call.Args[1], to)
	l.checkNil(v.Call.Args[2], from)
	if l.irType(pointee(v.Call.Args[1].Type())).Align() < n {
		l.checkAligned("CopyAsync", to, n)
		l.checkAligned("CopyAsync", from, n)
	}
	return l.emitImm(ir.OpCopyAsync, ir.Void, n, to, from)
}

// copySize returns the number of bytes that a call copies.
func (l *lowerer) copySize(v *ssa.Call) int64 {
	n := l.irType(pointee(v.Call.Args[1].Type())).Size()
	if n != 4 && n != 8 && n != 16 {
		l.refuse(diag.LangCopy, "copy a number, or an array or a struct of 8 or 16 bytes", "gpu.%s of %d bytes; the size must be 4, 8 or 16", callName(v.Call.StaticCallee()), n)
	}
	return n
}

// checkAligned checks that address x is a multiple of n, a power of two, on behalf of a word of package
// gpu. Where each step from its root is one, the root is checked: in a loop it stays the same.
// Variables in shared memory are known to be aligned.
func (l *lowerer) checkAligned(word string, x *ir.Value, n int64) {
	at := x
	for (at.Op == ir.OpOffset || at.Op == ir.OpIndex) && at.Imm%n == 0 {
		at = at.Args[0]
	}
	if x, ok := at.Aux.(*ir.Variable); ok && (x.Align >= n || n <= 16 && x.Type.Size() >= n) {
		return
	}
	if at.Op == ir.OpOffset || at.Op == ir.OpIndex {
		at = x
	}
	rest := l.emit(ir.OpAnd, ir.I64, l.emit(ir.OpBitcast, ir.I64, at), l.int64(n-1))
	l.check(l.emit(ir.OpEq, ir.I1, rest, l.int64(0)), "gpu."+word+": address is not a multiple of the size")
}

func commitCopies(l *lowerer, _ *ssa.Call) *ir.Value { return l.emit(ir.OpCopyCommit, ir.Void) }

func waitCopies(l *lowerer, v *ssa.Call) *ir.Value {
	n, ok := constInt(v.Call.Args[1])
	if !ok || n < 0 || n > 7 {
		l.refuse(diag.LangCopy, "write a constant from 0 to 7", "t.WaitCopies requires a constant from 0 to 7")
	}
	return l.emitImm(ir.OpCopyWait, ir.Void, n)
}
