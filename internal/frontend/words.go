package frontend

import (
	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/internal/diag"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

func assert(l *lowerer, v *ssa.Call) *ir.Value {
	message, ok := constString(v.Call.Args[1])
	if !ok {
		l.refuse(diag.LangPanic, "write the message as a constant", "gpu.Assert: the message is not constant")
	}
	l.assert(l.value(v.Call.Args[0]), quoteFormat("assertion failed: "+message))
	return nil
}

func clock(unit int64) intrinsic {
	return func(l *lowerer, _ *ssa.Call) *ir.Value { return l.emitImm(ir.OpClock, ir.I64, unit) }
}

// mostSleep is the most nanoseconds that an instruction sleeps (PTX ISA, nanosleep).
const mostSleep = 1_000_000

func sleep(l *lowerer, v *ssa.Call) *ir.Value {
	n := l.value(v.Call.Args[0])
	n = l.emit(ir.OpSelect, ir.I64, l.emit(ir.OpSLt, ir.I1, n, l.int64(0)), l.int64(0), n)
	n = l.emit(ir.OpSelect, ir.I64, l.emit(ir.OpSLt, ir.I1, n, l.int64(mostSleep)), n, l.int64(mostSleep))
	return l.emit(ir.OpSleep, ir.Void, l.emit(ir.OpTrunc, ir.I32, n))
}
