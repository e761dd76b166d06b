package cpu

import (
	"fmt"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/layout"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// Where the threads of a warp exchange numbers a region ends, as at a barrier. Each thread has brought what it has:
// what all threads get alike has grown in a variable, all else is in an array and is sorted out
// by gpu.Lanes when the last one has come. So it is with the threads of a block at a counting barrier.

// startSharing writes what v is before any thread has brought something.
func (e *emitter) startSharing(v *ir.Value) {
	if !e.wanted(v) {
		return
	}
	start := "0"
	switch v.Op {
	case ir.OpBarrierAnd:
		start = "true"
	case ir.OpBarrierOr:
		start = "false"
	case ir.OpShuffle:
		start = e.arbitrary(v.Type)
	case ir.OpWarpReduce:
		start = reductions[ir.Reduction(v.Imm)].start
	}
	e.out.line("%s = %s", e.hoistedName(v), start)
}

// arbitrary returns what a thread gets from one that is not there: all ones, as package gpu has it.
func (e *emitter) arbitrary(t *ir.Type) string {
	switch t.Kind {
	case ir.KindF32:
		return e.imported("math") + ".Float32frombits(1<<32 - 1)"
	case ir.KindF64:
		return e.imported("math") + ".Float64frombits(1<<64 - 1)"
	}
	return "-1"
}

// reductions are how OpWarpReduce starts and, with what it has and what a thread brings, goes on.
var reductions = [...]struct{ start, step string }{
	ir.ReduceAdd:  {"0", "%s + %s"},
	ir.ReduceSMin: {"1<<31 - 1", "min(%s, %s)"},
	ir.ReduceUMin: {"-1", "int32(min(uint32(%s), uint32(%s)))"},
	ir.ReduceSMax: {"-1 << 31", "max(%s, %s)"},
	ir.ReduceUMax: {"0", "int32(max(uint32(%s), uint32(%s)))"},
	ir.ReduceAnd:  {"-1", "%s & %s"},
	ir.ReduceOr:   {"0", "%s | %s"},
	ir.ReduceXor:  {"0", "%s ^ %s"},
}

// bring writes what a thread brings to the meeting v.
func (e *emitter) bring(v *ir.Value) {
	e.out.at(v.Pos)
	switch {
	case v.Type.Kind == ir.KindVoid:
	case e.IsShared(v):
		if e.wanted(v) {
			e.share(v)
		}
	case e.Keep[v.ID] == layout.KeepEach:
		e.out.line("*(*%s)(%s) = %s", e.typeName(v.Args[0].Type, false), e.element(brought(v), v.Args[0].Type.Size()), e.ref(v.Args[0]).text)
		if v.Op != ir.OpMatch && !e.MovesAlike(v) {
			e.out.line("*(*int32)(%s) = %s", e.element("lane", 4), e.source(v))
		}
	}
}

// brought returns the name of the array for what threads bring to v. One serves all meetings.
func brought(v *ir.Value) string { return fmt.Sprintf("brought%d", v.Args[0].Type.Bits()) }

// share writes how what the thread brings changes what all get.
func (e *emitter) share(v *ir.Value) {
	e.assigns = true
	name, x := e.hoistedName(v), v.Args[0]
	switch v.Op {
	case ir.OpBarrierCount:
		e.where(x, true, name+"++")
	case ir.OpBarrierAnd:
		e.where(x, false, name+" = false")
	case ir.OpBarrierOr:
		e.where(x, true, name+" = true")
	case ir.OpBallot:
		e.where(x, true, fmt.Sprintf("%s |= 1 << %s", name, e.laneText()))
	case ir.OpShuffle:
		e.out.line("if int32%s == %s {", e.laneText(), e.lastBits(v.Args[1]))
		e.out.line("%s = %s", name, e.ref(x).text)
		e.out.line("}")
	case ir.OpWarpReduce:
		e.out.line("%s = %s", name, fmt.Sprintf(reductions[ir.Reduction(v.Imm)].step, name, e.arg(v, 0).at(6)))
	}
}

// where writes a statement that is for the threads in which the condition x is as wanted.
func (e *emitter) where(x *ir.Value, wanted bool, statement string) {
	if x.Op == ir.OpConst {
		if (x.Imm&1 != 0) == wanted {
			e.out.line("%s", statement)
		}
		return
	}
	condition := e.ref(x)
	if !wanted {
		condition = e.negated(x)
	}
	e.out.line("if %s {", condition.text)
	e.out.line("%s", statement)
	e.out.line("}")
}

// laneText returns the lane of the thread, an int.
func (e *emitter) laneText() string { return "(" + e.thread().at(5) + " & 31)" }

// lastBits returns by modulo the size of a warp.
func (e *emitter) lastBits(by *ir.Value) string {
	if by.Op == ir.OpConst {
		return fmt.Sprint(by.Imm & 31)
	}
	return e.ref(by).at(5) + "&31"
}

// source returns the lane from which the thread gets its value in v; its own where it is none.
func (e *emitter) source(v *ir.Value) string {
	by := e.lastBits(v.Args[1])
	if v.Op == ir.OpShuffle {
		return by
	}
	op := map[ir.Op]string{ir.OpShuffleUp: "-", ir.OpShuffleDown: "+", ir.OpShuffleXor: "^"}[v.Op]
	return fmt.Sprintf("int32%s %s %s", e.laneText(), op, by)
}

// exchange writes what becomes of the arrays when all threads of the warp have come to the end of g.
func (e *emitter) exchange(g *layout.Region) {
	v := g.Meets
	if v == nil || e.Keep[v.ID] != layout.KeepEach {
		return
	}
	e.out.at(v.Pos)
	warp := operand("%s", e.word("warp"))
	bits := v.Args[0].Type.Bits()
	lanes := fmt.Sprintf("(&%s.Lanes[uint%d]{Alive: %s, To: %s, From: %s})", e.imported(gpuPath), bits, e.word("alive"),
		e.elementAt(e.array[v.ID], v.Type.Size(), warp), e.elementAt(brought(v), int64(bits/8), warp))
	method := map[ir.Op]string{ir.OpShuffleUp: "Up", ir.OpShuffleDown: "Down", ir.OpShuffleXor: "Xor"}[v.Op]
	switch {
	case v.Op == ir.OpMatch:
		e.out.line("%s.Match()", lanes)
	case e.MovesAlike(v):
		e.out.line("%s.%s(%s)", lanes, method, e.ref(v.Args[1]).text)
	default:
		e.out.line("%s.Take(%s)", lanes, e.elementAt("lane", 4, warp))
	}
}

// warpSteps writes the loop over the threads of a warp in a block of several dimensions.
func (e *emitter) warpSteps(g *layout.Region) []line {
	b := e.threadBody(g, 1)
	if len(b.lines) == 0 {
		return nil
	}
	thread := e.word("thread")
	lines := slices.Concat(b.label(), []line{{text: fmt.Sprintf("for %s := %s; %s < %s; %s++ {", thread, e.word("warp"), thread, e.word("end"), thread)}})
	for _, axis := range [...]string{"X", "Y", "Z"} {
		if name := e.names["t"+string(axis[0]|0x20)]; usesWord(b.lines, name) {
			lines = append(lines, line{text: fmt.Sprintf("%s := %s.Thread%s(%s)", name, e.word("blocks"), axis, thread)})
		}
	}
	return slices.Concat(lines, b.lines, []line{{text: "}"}})
}
