package cpu

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/layout"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// blockCoder writes what a block of threads does: the nodes are regions.
type blockCoder struct {
	*emitter
	flow *flow
}

// kernelGraph returns the regions as nodes.
func (e *emitter) kernelGraph() (*layout.Node, bool) {
	nodes := map[*layout.Region]*layout.Node{}
	for _, g := range e.List {
		nodes[g] = &layout.Node{Block: g.First}
	}
	for _, g := range e.List {
		n := nodes[g]
		for _, s := range g.To {
			n.Succs = append(n.Succs, nodes[e.Of[s.ID]])
		}
		if len(g.To) == 0 {
			n.Succs = []*layout.Node{nil}
		}
	}
	entry := nodes[e.List[0]]
	return entry, layout.Analyse(entry)
}

func (c *blockCoder) label() string { return c.newLabel() }

func (c *blockCoder) edge(*layout.Node, int) {}

func (c *blockCoder) leave(*layout.Node) {
	if len(c.flow.loops) == 0 {
		c.out.line("continue")
		return
	}
	c.out.line("continue %s", c.word("next"))
}

func (c *blockCoder) condition(n *layout.Node) (holds, fails string) {
	c.here = c.Of[n.Block.ID]
	cond := c.here.Branch
	return c.ref(cond).text, c.negated(cond).text
}

// body writes a region.
func (c *blockCoder) body(n *layout.Node) {
	g := c.Of[n.Block.ID]
	c.begin(g)
	for _, b := range g.Blocks {
		for _, v := range b.Values {
			if c.Level[v.ID] == layout.PerBlock && v.Op != ir.OpPhi && !c.isInline(v) {
				c.statement(v)
			}
		}
	}
	c.threads(g)
	c.exchange(g)
	c.after.write(c.out)
	if c.Warps {
		return
	}
	if g.Leaves && len(g.To) > 0 {
		c.out.line("if %s == 0 {", c.word("live"))
		c.leave(n)
		c.out.line("}")
	}
}

// begin forgets what the region before has made for its threads.
func (e *emitter) begin(g *layout.Region) {
	e.here, e.after, e.assigns = g, &copies{}, false
	e.plane, e.row, e.top = nil, nil, nil
	e.rows = &scope{e.out.scope}
	maps.DeleteFunc(e.made, func(v *ir.Value, s *scope) bool { return s != e.root0 && e.Level[v.ID] > layout.PerBlock })
}

// threads writes the loops over the block's threads.
func (e *emitter) threads(g *layout.Region) {
	if lines := e.steps(g); len(lines) > 0 {
		e.out.append(e.nest(g, lines))
	}
}

// threadBody is what a thread does in a region, or several at once.
type threadBody struct {
	lines []line
	falls bool   // control reaches its end
	name  string // of the loop around it, where it has to have one
}

// label returns the line that names the loop around the body.
func (b threadBody) label() []line {
	if b.name == "" {
		return nil
	}
	return []line{{text: b.name + ":"}}
}

// threadBody writes the code of g for the given number of threads at once.
func (e *emitter) threadBody(g *layout.Region, threads int) threadBody {
	entry, err := e.graph(g)
	if err != nil {
		panic(refusal(err.Error()))
	}
	e.jam, e.parts, e.top = threads, false, nil
	defer func() { e.jam = 1 }()
	gotos := e.out.gotos
	c := &threadCoder{emitter: e}
	e.out.pos = ir.Pos{}
	outer := e.out.scope
	e.out.scope = e.rows
	falls := false
	body := e.out.capture(func() {
		e.body = e.out.scope
		c.flow = newFlow(e.out, c)
		falls = c.flow.tree(entry, nil)
	})
	e.out.scope = outer
	if e.out.gotos > gotos {
		e.found.gotos[g] = true
	}
	for _, v := range e.cleared(g) {
		e.needAlloca(v)
	}
	arrive := g == e.List[0] && e.AnyLeaves() && !e.Warps
	if len(body)+len(e.top) == 0 && !arrive {
		return threadBody{}
	}
	switch {
	case e.leftBefore(g) && e.Warps:
		e.top = slices.Insert(e.top, 0, line{text: fmt.Sprintf("if %s>>(%s&31)&1 == 0 {", e.word("alive"), e.thread().at(5))}, line{text: "continue"}, line{text: "}"})
	case e.leftBefore(g):
		e.top = slices.Insert(e.top, 0, line{text: fmt.Sprintf("if *(*bool)(%s) {", e.element("left", 1))}, line{text: "continue"}, line{text: "}"})
	}
	if arrive { // the array has what another block, or another kernel, left there
		e.top = append(e.top, line{text: fmt.Sprintf("*(*bool)(%s) = false", e.element("left", 1))})
	}
	b := threadBody{lines: slices.Concat(e.variables(g), e.top, body), falls: falls}
	if c.named {
		b.name = e.threadsLabel(g)
	}
	maps.DeleteFunc(e.made, func(_ *ir.Value, s *scope) bool { return e.body.within(s) })
	return b
}

// leftBefore reports whether threads may have left before g.
func (e *emitter) leftBefore(g *layout.Region) bool { return g != e.List[0] && e.AnyLeaves() }

// declared returns the hoisted variables of g, or of the block where that is nil, that are used.
func (e *emitter) declared(g *layout.Region) []*ir.Value {
	return slices.DeleteFunc(slices.Clone(e.known.order[g]), func(v *ir.Value) bool { return !e.known.used[use{v: v}] && e.Keep[v.ID] != layout.KeepBlock })
}

// variables declares the hoisted variables of g, or of the block where that is nil.
func (e *emitter) variables(g *layout.Region) []line {
	var types []string
	names := map[string][]string{}
	for _, v := range e.declared(g) {
		t := e.varType(v)
		if names[t] == nil {
			types = append(types, t)
		}
		e.each(v, func() { names[t] = append(names[t], e.nameOf(v)) })
	}
	var lines []line
	for _, t := range types {
		lines = append(lines, line{text: fmt.Sprintf("var %s %s", strings.Join(names[t], ", "), t)})
	}
	return lines
}

// nest returns a loop for y and z around that over the threads along x.
func (e *emitter) nest(g *layout.Region, threads []line) []line {
	if e.Warps {
		return e.outline(g, threads)
	}
	d := e.f.Block
	if usesWord(threads, e.names["row"]) {
		e.row = append(e.row, line{text: fmt.Sprintf("%s := %s", e.word("row"), e.rowStart())})
	}
	row := e.outline(g, slices.Concat(e.row, threads))
	inner := e.axis("ty", d[1], e.size(1), row)
	return e.axis("tz", d[2], e.size(2), slices.Concat(e.plane, inner))
}

// axis returns a loop along an axis, or a block where there is one thread.
func (e *emitter) axis(name string, fixed int, size string, lines []line) []line {
	switch {
	case fixed != 1:
		return e.rangeLoop(name, size, lines)
	case strings.HasPrefix(lines[0].text, "for "):
		return lines
	}
	return slices.Concat([]line{{text: "{"}}, lines, []line{{text: "}"}})
}

// loopVariable returns the start of a range clause, which is empty if nothing uses the variable.
func (e *emitter) loopVariable(name string, lines []line) string {
	if usesWord(lines, e.names[name]) {
		return e.names[name] + " := "
	}
	return ""
}

func (e *emitter) size(axis int) string {
	if n := e.f.Block[axis]; n > 0 {
		return fmt.Sprint(n)
	}
	return e.word("d" + "xyz"[axis:axis+1])
}

// rowStart returns the number of the row's first thread.
func (e *emitter) rowStart() string {
	d := e.f.Block
	ty := operand("0")
	if d[1] != 1 {
		ty = operand("%s", e.word("ty"))
	}
	if d[2] != 1 {
		ty = binary("+", binary("*", operand("%s", e.word("tz")), operand("%s", e.size(1))), ty)
	}
	return binary("*", ty, operand("%s", e.size(0))).text
}

// usesWord reports whether a name stands in lines.
func usesWord(lines []line, name string) bool {
	if name == "" {
		return false
	}
	for _, l := range lines {
		for end := 0; ; {
			i := strings.Index(l.text[end:], name)
			if i < 0 {
				break
			}
			begin := end + i
			end = begin + len(name)
			if (begin == 0 || !isNameByte(l.text[begin-1])) && (end == len(l.text) || !isNameByte(l.text[end])) {
				return true
			}
		}
	}
	return false
}

func isNameByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
