package frontend

import (
	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/internal/diag"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

func copyAsync(l *lowerer, v *ssa.Call) *ir.Value {
	t := l.irType(pointee(v.Call.Args[1].Type()))
	n := t.Size()
	if n != 4 && n != 8 && n != 16 {
		l.refuse(diag.LangCopy, "copy a number, or an array or a struct of 8 or 16 bytes", "gpu.CopyAsync of %d bytes, possible are 4, 8 and 16", n)
	}
	to, from := l.value(v.Call.Args[1]), l.value(v.Call.Args[2])
	l.checkNil(v.Call.Args[1], to)
	l.checkNil(v.Call.Args[2], from)
	if t.Align() < n {
		l.checkAligned(n, to, from)
	}
	return l.emitImm(ir.OpCopyAsync, ir.Void, n, to, from)
}

// checkAligned checks that both addresses are multiples of n, a power of two.
func (l *lowerer) checkAligned(n int64, p, q *ir.Value) {
	both := l.emit(ir.OpOr, ir.I64, l.emit(ir.OpBitcast, ir.I64, p), l.emit(ir.OpBitcast, ir.I64, q))
	rest := l.emit(ir.OpAnd, ir.I64, both, l.int64(n-1))
	l.check(l.emit(ir.OpEq, ir.I1, rest, l.int64(0)), "gpu.CopyAsync: an address is no multiple of the size")
}

func commitCopies(l *lowerer, _ *ssa.Call) *ir.Value { return l.emit(ir.OpCopyCommit, ir.Void) }

func waitCopies(l *lowerer, v *ssa.Call) *ir.Value {
	n, ok := constInt(v.Call.Args[1])
	if !ok || n < 0 || n > 7 {
		l.refuse(diag.LangCopy, "write a constant from 0 to 7", "t.WaitCopies takes a constant from 0 to 7")
	}
	return l.emitImm(ir.OpCopyWait, ir.Void, n)
}
