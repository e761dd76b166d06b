package frontend

import (
	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// clock returns the intrinsic that reads a clock with the given unit.
func clock(unit int64) intrinsic {
	return func(l *lowerer, _ *ssa.Call) *ir.Value { return l.emitImm(ir.OpClock, ir.I64, unit) }
}

// mostSleep is the maximum number of nanoseconds of one instruction (PTX ISA, nanosleep).
const mostSleep = 1_000_000

// sleep lowers gpu.Sleep, with the duration clamped to what an instruction allows.
func sleep(l *lowerer, v *ssa.Call) *ir.Value {
	n := l.value(v.Call.Args[0])
	n = l.emit(ir.OpSelect, ir.I64, l.emit(ir.OpSLt, ir.I1, n, l.int64(0)), l.int64(0), n)
	n = l.emit(ir.OpSelect, ir.I64, l.emit(ir.OpSLt, ir.I1, n, l.int64(mostSleep)), n, l.int64(mostSleep))
	return l.emit(ir.OpSleep, ir.Void, l.emit(ir.OpTrunc, ir.I32, n))
}
