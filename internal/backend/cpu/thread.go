package cpu

import (
	"fmt"
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/layout"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// threadCoder writes what each thread does in a region: the nodes are its blocks.
type threadCoder struct {
	*emitter
	flow  *flow
	named bool // the loop over the threads needs a label
}

// graph returns the blocks of g as nodes. An edge out of the region is one out of the graph.
func (e *emitter) graph(g *layout.Region) (*layout.Node, error) { return e.GraphOf(g, nil) }

func (c *threadCoder) label() string { return c.newLabel() }

func (e *emitter) newLabel() string {
	e.labels++
	return e.name([2]any{"label", e.labels}, fmt.Sprintf("l%d", e.labels))
}

// body writes a block.
func (c *threadCoder) body(n *layout.Node) {
	for _, v := range n.Block.Values {
		switch {
		case v.Op == ir.OpPhi:
			c.each(v, func() { c.keepEach(v) })
		case layout.Waits(v):
			c.bring(v)
		case c.Level[v.ID] >= layout.PerThread && !c.isInline(v):
			c.statement(v)
		}
	}
}

func (c *threadCoder) condition(n *layout.Node) (holds, fails string) {
	cond := n.Block.Term().Args[0]
	c.vote(cond)
	return c.ref(cond).text, c.negated(cond).text
}

func (c *threadCoder) leave(*layout.Node) {
	if len(c.flow.loops) == 0 {
		c.out.line("continue")
		return
	}
	c.named = true
	c.out.line("continue %s", c.threadsLabel(c.here))
}

// threadsLabel returns the label of g's loop over the threads along x.
func (e *emitter) threadsLabel(g *layout.Region) string {
	return e.name([2]any{"threads", g}, "threads")
}

// edge writes the copies that phis want, or that the thread leaves for good.
func (c *threadCoder) edge(n *layout.Node, i int) {
	b := n.Block
	if c.Ends(b) {
		c.storeAtEnd(b)
	}
	switch {
	case c.Together[b]:
		return
	case b.Term().Op == ir.OpRet:
		if c.here.Leaves && c.Warps {
			c.out.line("%s &^= 1 << (%s & 31)", c.word("alive"), c.thread().at(5))
		} else if c.here.Leaves {
			c.out.line("*(*bool)(%s) = true", c.element("left", 1))
			c.out.line("%s--", c.word("live"))
		}
		return
	}
	s := b.Succs[i]
	var here copies
	for _, phi := range s.Phis() {
		c.copyPhi(&here, phi, phi.Args[s.PredIndex(b)])
	}
	c.out.at(b.Term().Pos)
	here.write(c.out)
}

// storeAtEnd keeps what the region has computed for others, at the end of b.
func (c *threadCoder) storeAtEnd(b *ir.Block) {
	c.out.at(b.Term().Pos)
	for _, x := range c.here.Blocks {
		for _, v := range x.Values {
			if c.Keep[v.ID] == layout.KeepEach && !c.IsFirstPhi(v) && c.KeptAtEnd(v) && !layout.Waits(v) {
				c.storeKept(v)
			}
		}
	}
}

// copyPhi adds that phi becomes a.
func (c *threadCoder) copyPhi(here *copies, phi, a *ir.Value) {
	switch {
	case !c.isWanted(phi):
	case c.Keep[phi.ID] == layout.KeepEach && c.IsFirstPhi(phi):
		if a.Op != ir.OpParam && c.array[a.ID] == c.array[phi.ID] { // a is there already, which has to be written for that
			c.found.used[use{a, c.here}] = true
			return
		}
		c.everyLane(func() { here.add(c.kept(phi), c.valueOrOffset(phi, a).text) })
	case c.Level[phi.ID] == layout.PerBlock && c.Level[a.ID] <= layout.PerBlock && c.WaysIn(phi, c.here) == 1:
		c.after.add(c.hoistedName(phi), c.valueOrOffset(phi, a).text)
	case c.Level[phi.ID] == layout.PerBlock: // all threads compute it, and the old one is needed until then
		next := c.name1(phi, "next")
		c.assigns = true
		here.add(next, c.valueOrOffset(phi, a).text)
		c.after.add(c.hoistedName(phi), next)
	default:
		g := c.here
		if c.Keep[phi.ID] == layout.KeepBlock {
			g, c.assigns = nil, true
		}
		c.hoist(g, phi)
		c.each(phi, func() { here.add(c.nameOf(phi), c.valueOrOffset(phi, a).text) })
	}
}

// isWanted reports whether anything uses the phi, as far as is known.
func (e *emitter) isWanted(phi *ir.Value) bool {
	return !e.informed || e.known.used[use{v: phi}]
}

// hoistedName returns the name of a variable of the block.
func (e *emitter) hoistedName(v *ir.Value) string {
	e.hoist(nil, v)
	return e.nameOf(v)
}

// name1 returns the name of a second variable of v, which the block declares.
func (e *emitter) name1(v *ir.Value, suffix string) string {
	name := e.name([2]any{suffix, v}, e.nameOf(v)+suffix)
	e.found.words[name] = true
	e.extra = appendLine(e.extra, fmt.Sprintf("var %s %s", name, e.varType(v)))
	return name
}

func appendLine(lines []line, text string) []line {
	for _, l := range lines {
		if l.text == text {
			return lines
		}
	}
	return append(lines, line{text: text})
}

// copies are assignments that happen at once.
type copies struct{ to, from []string }

func (c *copies) add(to, from string) {
	if to == from {
		return
	}
	for i, t := range c.to { // several ways lead to the same
		if t == to && c.from[i] == from {
			return
		}
	}
	c.to, c.from = append(c.to, to), append(c.from, from)
}

func (c *copies) write(w *writer) {
	if len(c.to) > 0 {
		w.line("%s = %s", strings.Join(c.to, ", "), strings.Join(c.from, ", "))
	}
}

// again writes a value before the thread's code that another region computes, or one that
// does not differ between threads.
func (e *emitter) again(v *ir.Value) {
	switch {
	case e.Keep[v.ID] == layout.KeepBlock:
		e.hoist(nil, v)
		return
	case e.Keep[v.ID] == layout.KeepEach:
		lines := e.apart(func() { e.each(v, func() { e.out.line("%s := %s", e.nameOf(v), e.kept(v)) }) }, v)
		e.top = append(e.top, lines...)
		e.made[v] = e.body
		return
	case e.Level[v.ID] == layout.InThread && v.Op == ir.OpPhi && e.Of[v.Block.ID] == e.here:
		e.hoist(e.here, v)
		return
	}
	to := map[layout.Level]*[]line{layout.PerLaunch: &e.launch, layout.PerPlane: &e.plane, layout.PerRow: &e.row, layout.PerThread: &e.top}[e.Level[v.ID]]
	if to == nil {
		if e.Level[v.ID] == layout.PerBlock {
			e.hoist(nil, v)
			return
		}
		if v.Op == ir.OpLoad && v.Type.IsPtr() {
			panic(refuse("a pointer that was stored in memory is live across regions"))
		}
		panic(fmt.Sprintf("BUG: cpu: %s: %s is used where it is not computed", e.f.Name, v.LongString()))
	}
	lines := e.apart(func() { e.statement(v) }, v)
	*to = append(*to, lines...)
	switch e.Level[v.ID] {
	case layout.PerLaunch:
		e.made[v] = e.root0
	case layout.PerPlane:
		e.made[v], e.types[e.nameOf(v)] = e.rows, e.varType(v)
	case layout.PerRow:
		e.made[v] = e.rows
	default:
		e.made[v] = e.body
	}
}

// apart returns the lines that f writes for another place than the current one.
func (e *emitter) apart(f func(), v *ir.Value) []line {
	fresh, pos := e.fresh, e.out.pos
	e.fresh = true
	e.out.at(v.Pos)
	lines := e.out.capture(f)
	e.fresh, e.out.pos = fresh, pos
	return lines
}
