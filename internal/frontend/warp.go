package frontend

import (
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/internal/diag"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// syncWith lowers a barrier of the block that evaluates a condition of all threads.
func syncWith(op ir.Op, result *ir.Type) intrinsic {
	return func(l *lowerer, v *ssa.Call) *ir.Value {
		x := l.emit(op, result, l.value(v.Call.Args[1]))
		return l.resize(x, l.typeOf(v), true)
	}
}

func warpBarrier(l *lowerer, v *ssa.Call) *ir.Value { return l.inWarp(v, ir.OpWarpBarrier, ir.Void) }

// inWarp emits an operation of a warp for a call, whose last argument is the list of sets of lanes.
func (l *lowerer) inWarp(v *ssa.Call, op ir.Op, t *ir.Type, args ...*ir.Value) *ir.Value {
	return l.emit(op, t, append(args, l.lanes(v)...)...)
}

// lanes returns the set of lanes that a call names, if there is one. The thread must be in it.
func (l *lowerer) lanes(v *ssa.Call) []*ir.Value {
	_, list, ok := variadic(v.Call.Args[len(v.Call.Args)-1])
	switch {
	case !ok || len(list) > 1:
		l.refuse(diag.LangMemory, "write the set as the last argument", "%s takes at most one set of lanes", strings.TrimPrefix(callName(v.Call.StaticCallee()), "(Thread)."))
	case len(list) == 0:
		return nil
	}
	set := l.value(list[0])
	if set.Op == ir.OpConst && uint32(set.Imm) == allLanes {
		return nil
	}
	own := l.emit(ir.OpAnd, ir.I32, l.emit(ir.OpLShr, ir.I32, set, l.emit(ir.OpLane, ir.I32)), l.constant(ir.I32, 1))
	l.check(l.emit(ir.OpNe, ir.I1, own, l.constant(ir.I32, 0)), "the set of lanes does not contain the thread")
	return []*ir.Value{set}
}

const allLanes = 1<<32 - 1

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

func (l *lowerer) ballot(v *ssa.Call, p *ir.Value) *ir.Value {
	return l.inWarp(v, ir.OpBallot, ir.I32, p)
}

func ballot(l *lowerer, v *ssa.Call) *ir.Value { return l.ballot(v, l.value(v.Call.Args[1])) }

func anyOf(l *lowerer, v *ssa.Call) *ir.Value {
	return l.emit(ir.OpNe, ir.I1, l.ballot(v, l.value(v.Call.Args[1])), l.constant(ir.I32, 0))
}

func allOf(l *lowerer, v *ssa.Call) *ir.Value {
	not := l.emit(ir.OpXor, ir.I1, l.value(v.Call.Args[1]), l.constant(ir.I1, -1))
	return l.emit(ir.OpEq, ir.I1, l.ballot(v, not), l.constant(ir.I32, 0))
}

func elect(l *lowerer, v *ssa.Call) *ir.Value {
	present := l.ballot(v, l.constant(ir.I1, -1))
	own := l.emit(ir.OpShl, ir.I32, l.constant(ir.I32, 1), l.emit(ir.OpLane, ir.I32))
	before := l.emit(ir.OpSub, ir.I32, own, l.constant(ir.I32, 1))
	return l.emit(ir.OpEq, ir.I1, l.emit(ir.OpAnd, ir.I32, present, before), l.constant(ir.I32, 0))
}

func match(l *lowerer, v *ssa.Call) *ir.Value {
	x := l.value(v.Call.Args[1])
	return l.inWarp(v, ir.OpMatch, ir.I32, l.asType(x, bitsOf(x.Type)))
}

func shuffle(op ir.Op) intrinsic {
	return func(l *lowerer, v *ssa.Call) *ir.Value {
		x, by := l.value(v.Call.Args[1]), l.value(v.Call.Args[2])
		return l.inWarp(v, op, x.Type, x, l.emit(ir.OpTrunc, ir.I32, by))
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
		args := append([]*ir.Value{l.value(v.Call.Args[1])}, l.lanes(v)...)
		return l.emitImm(ir.OpWarpReduce, ir.I32, int64(signed), args...)
	}
}
