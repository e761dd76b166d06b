package cpu

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/layout"
	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/vector"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// lanes is how many threads of a row a loop takes at once where its code has a loop of its
// own: the processor then overlaps their work, and loads what they have in common once.
const lanes = 4

// maxJammed bounds the values that are written for every lane.
const maxJammed = 150

// perLane reports whether v may differ between the threads that are taken at once. What a warp has voted on differs
// along a row of the block, and in no warp: it is in a variable where other regions need it.
func (e *emitter) perLane(v *ir.Value) bool {
	return e.jam > 1 && v.Op != ir.OpParam && e.Level[v.ID] >= layout.PerThread && e.Keep[v.ID] != layout.KeepBlock && e.InRow.Varying(v)
}

// each calls f for every lane, or once where v is the same in all.
func (e *emitter) each(v *ir.Value, f func()) {
	if !e.perLane(v) {
		f()
		return
	}
	e.everyLane(f)
}

func (e *emitter) everyLane(f func()) {
	for e.lane = range max(1, e.jam) {
		f()
	}
	e.lane = 0
}

// laneName returns the name of v's variable for the current lane.
func (e *emitter) laneName(v *ir.Value) string {
	key := [2]any{v, e.lane}
	if name := e.names[key]; name != "" {
		return name
	}
	return e.name(key, e.variableName(v)+string(rune('a'+e.lane)))
}

// canJam reports whether g's threads can be taken several at once. Where they part, or one may fault, they
// are taken one by one instead from the start, so nothing must have been written before.
func (e *emitter) canJam(g *layout.Region) bool {
	if d := e.f.Block[0]; d > 0 && d < lanes || e.AnyLeaves() || !e.loops(g) || e.Warps && !e.isLine() {
		return false
	}
	values := 0
	written := e.Written(g)
	for _, b := range g.Blocks {
		dirty := written[b.ID]
		for _, v := range b.Values {
			if e.Level[v.ID] >= layout.PerThread {
				values++
			}
			if !e.jams(v, dirty) {
				return false
			}
			dirty = dirty || v.Op == ir.OpStore
		}
	}
	return values <= maxJammed
}

// loops reports whether the threads have a loop of their own in g.
func (e *emitter) loops(g *layout.Region) bool {
	return slices.ContainsFunc(g.Blocks, func(b *ir.Block) bool {
		l := e.Loop[b.ID]
		return l != nil && e.Of[l.Header.ID] == g && l.Header != g.First
	})
}

// jams reports whether v can be done by several threads at once; dirty says that they may have
// written something before.
func (e *emitter) jams(v *ir.Value, dirty bool) bool {
	together := e.Level[v.ID] < layout.InThread || !e.InRow.Varying(v)
	switch v.Op {
	case ir.OpCheck:
		return !dirty || e.OncePerBlock[v.ID] || !e.InRow.Varying(v.Args[0])
	case ir.OpIf:
		inLoop := e.Loop[v.Block.ID] != nil && e.Of[e.Loop[v.Block.ID].Header.ID] == e.Of[v.Block.ID] && e.Loop[v.Block.ID].Header != e.Of[v.Block.ID].First
		return !e.InRow.Varying(v.Args[0]) || !dirty && !inLoop
	case ir.OpStore, ir.OpLoad:
		return e.RootOf(v.Args[0]).Op != ir.OpAlloca && e.Keep[v.ID] != layout.KeepBlock
	case ir.OpJump, ir.OpRet, ir.OpBarrier, ir.OpWarpBarrier:
		return true
	case ir.OpPhi:
		return e.Keep[v.ID] != layout.KeepBlock && (!v.Type.IsPtr() || !e.isRoot(v))
	}
	return v.Op.Pure() && e.Keep[v.ID] != layout.KeepBlock && (together || !v.Type.IsPtr() || !e.isRoot(v))
}

// vote writes that threads which a condition parts are taken one by one.
func (e *emitter) vote(cond *ir.Value) {
	if !e.perLane(cond) {
		return
	}
	var all []string
	e.everyLane(func() { all = append(all, e.ref(cond).at(4)) })
	var differ []string
	for _, c := range all[1:] {
		differ = append(differ, fmt.Sprintf("%s != %s", all[0], c))
	}
	e.out.line("if %s {", strings.Join(differ, " || "))
	e.alone()
	e.out.line("}")
}

// alone writes the jump to the code for one thread.
func (e *emitter) alone() {
	e.parts = true
	e.out.line("goto %s", e.name([2]any{"one", e.here}, "one"))
}

// steps writes the loop along x: vector code where there is any, and Go for what that leaves.
func (e *emitter) steps(g *layout.Region) []line {
	if e.Warps && !e.isLine() {
		if e.o.Vector != nil && vector.WorthVectors(g) {
			e.vectors.Remark(vector.Because("the threads of a warp exchange values").Standing(e.firstExchange()))
		}
		return e.warpSteps(g)
	}
	list := e.vectors.Vectorize(g)
	if len(list) == 0 {
		return e.stepsFrom(g, e.firstThread())
	}
	first := e.word("first")
	call := e.vectorCall(list, first)
	lines := e.stepsFrom(g, first)
	if len(lines) == 0 {
		return nil
	}
	if e.Warps { // the pieces of a state are in one scope
		return slices.Concat([]line{{text: "{"}}, call, lines, []line{{text: "}"}})
	}
	return slices.Concat(call, lines)
}

// firstThread returns the first thread of the loop along x.
func (e *emitter) firstThread() string {
	if e.Warps {
		return e.word("warp")
	}
	return "0"
}

// firstExchange returns where the threads of a warp first wait for each other.
func (e *emitter) firstExchange() ir.Pos {
	for _, b := range e.Dom.Order() {
		for _, v := range b.Values {
			if analysis.WarpOp(v.Op) {
				return v.Pos
			}
		}
	}
	return ir.Pos{}
}

// stepsFrom writes the loop along x from a thread on.
func (e *emitter) stepsFrom(g *layout.Region, first string) []line {
	if !e.canJam(g) {
		b := e.threadBody(g, 1)
		if len(b.lines) == 0 {
			return nil
		}
		if first == "0" {
			return slices.Concat(b.label(), e.rangeLoop("tx", e.size(0), b.lines))
		}
		tx := e.word("tx")
		return slices.Concat(b.label(), []line{{text: fmt.Sprintf("for %s := %s; %s < %s; %s++ {", tx, first, tx, e.last(), tx)}}, b.lines, []line{{text: "}"}})
	}
	several := e.threadBody(g, lanes)
	parts := e.parts
	if len(several.lines) == 0 {
		return nil
	}
	tx, size := e.word("tx"), e.last()
	if fixed := e.f.Block[0]; fixed%lanes == 0 && fixed > 0 && !parts {
		return slices.Concat(several.label(), []line{{text: fmt.Sprintf("for %s := %s; %s < %s; %s += %d {", tx, first, tx, size, tx, lanes)}}, several.lines, []line{{text: "}"}})
	}
	one := e.threadBody(g, 1)
	step := e.name("step", "step")
	lines := slices.Concat(threadBody{name: cmp.Or(several.name, one.name)}.label(), []line{
		{text: fmt.Sprintf("for %s, %s := %s, 0; %s < %s; %s += %s {", tx, step, first, tx, size, tx, step)},
		{text: fmt.Sprintf("if %s+%d <= %s {", tx, lanes, size)},
		{text: fmt.Sprintf("%s = %d", step, lanes)},
	})
	lines = append(lines, several.lines...)
	if several.falls {
		lines = append(lines, line{text: "continue"})
	}
	lines = append(lines, line{text: "}"})
	if parts {
		lines = append(lines, line{text: e.name([2]any{"one", g}, "one") + ":"})
	}
	lines = append(lines, line{text: step + " = 1"})
	lines = append(lines, one.lines...)
	return append(lines, line{text: "}"})
}

// last returns the end of the loop along x.
func (e *emitter) last() string {
	if e.Warps {
		return e.word("end")
	}
	return e.size(0)
}

// rangeLoop returns a loop over an axis around lines.
func (e *emitter) rangeLoop(name, size string, lines []line) []line {
	return slices.Concat([]line{{text: fmt.Sprintf("for %srange %s {", e.loopVariable(name, lines), size)}}, lines, []line{{text: "}"}})
}
