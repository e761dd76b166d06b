package frontend

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// syncWith lowers a barrier of the block that evaluates a condition of all threads.
func syncWith(op ir.Op, result *ir.Type) intrinsic {
	return func(l *lowerer, v *ssa.Call) *ir.Value {
		x := l.emit(op, result, l.value(v.Call.Args[1]))
		return l.resize(x, l.typeOf(v), true)
	}
}

func warpBarrier(l *lowerer, _ *ssa.Call) *ir.Value { return l.emit(ir.OpWarpBarrier, ir.Void) }

func gridBarrier(l *lowerer, _ *ssa.Call) *ir.Value { return l.emit(ir.OpGridBarrier, ir.Void) }

func lane(l *lowerer, _ *ssa.Call) *ir.Value {
	return l.emit(ir.OpZExt, ir.I64, l.emit(ir.OpLane, ir.I32))
}

// warpIndex divides the thread's index in the block, x counting fastest. The hardware's own
// number of a warp may be another one, and may change.
func warpIndex(l *lowerer, _ *ssa.Call) *ir.Value {
	i := l.special(ir.OpTid, 2)
	for axis := int64(1); axis >= 0; axis-- {
		row := l.emit(ir.OpMul, ir.I64, i, l.special(ir.OpNTid, axis))
		i = l.emit(ir.OpAdd, ir.I64, row, l.special(ir.OpTid, axis))
	}
	return l.emit(ir.OpLShr, ir.I64, i, l.constant(ir.I32, 5))
}

func (l *lowerer) ballot(p *ir.Value) *ir.Value { return l.emit(ir.OpBallot, ir.I32, p) }

func ballot(l *lowerer, v *ssa.Call) *ir.Value { return l.ballot(l.value(v.Call.Args[1])) }

func anyOf(l *lowerer, v *ssa.Call) *ir.Value {
	return l.emit(ir.OpNe, ir.I1, l.ballot(l.value(v.Call.Args[1])), l.constant(ir.I32, 0))
}

func allOf(l *lowerer, v *ssa.Call) *ir.Value {
	not := l.emit(ir.OpXor, ir.I1, l.value(v.Call.Args[1]), l.constant(ir.I1, -1))
	return l.emit(ir.OpEq, ir.I1, l.ballot(not), l.constant(ir.I32, 0))
}

func match(l *lowerer, v *ssa.Call) *ir.Value {
	x := l.value(v.Call.Args[1])
	return l.emit(ir.OpMatch, ir.I32, l.asType(x, bitsOf(x.Type)))
}

func shuffle(op ir.Op) intrinsic {
	return func(l *lowerer, v *ssa.Call) *ir.Value {
		x, by := l.value(v.Call.Args[1]), l.value(v.Call.Args[2])
		return l.emit(op, x.Type, x, l.emit(ir.OpTrunc, ir.I32, by))
	}
}

// warpReduce returns what gpu.WarpReduceAdd and its like are lowered by for integers of 32 bits; nil for others, whose Go
// code is compiled.
func warpReduce(fn *ssa.Function, name string) intrinsic {
	if len(fn.TypeArgs()) != 1 {
		return nil
	}
	t, ok := fn.TypeArgs()[0].Underlying().(*types.Basic)
	if !ok || t.Kind() != types.Int32 && t.Kind() != types.Uint32 {
		return nil
	}
	signed, found := map[string]ir.Reduction{
		"Add": ir.ReduceAdd, "Min": ir.ReduceSMin, "Max": ir.ReduceSMax, "And": ir.ReduceAnd, "Or": ir.ReduceOr, "Xor": ir.ReduceXor,
	}[name]
	if !found {
		return nil
	}
	if t.Kind() == types.Uint32 && (signed == ir.ReduceSMin || signed == ir.ReduceSMax) {
		signed++
	}
	return func(l *lowerer, v *ssa.Call) *ir.Value {
		return l.emitImm(ir.OpWarpReduce, ir.I32, int64(signed), l.value(v.Call.Args[1]))
	}
}
