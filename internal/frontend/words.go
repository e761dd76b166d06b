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
