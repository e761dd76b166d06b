package cpu

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/layout"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// flow writes a graph as structured Go: loops are for statements, branches are if statements, and
// a block that several others lead to is after the one that dominates it, at a label where
// control does not fall into it (after Ramsey, "Beyond Relooper", whose labelled blocks
// are gotos here: Go allows those out of blocks).
type flow struct {
	out  *writer
	code coder
	// loops are those that are open, the outermost first.
	loops  []*openLoop
	labels map[*layout.Node]string
	jumped map[*layout.Node]bool // by goto
}

// coder writes what stands in a graph's nodes and on its edges.
type coder interface {
	// body writes what n does, up to the branch at its end.
	body(n *layout.Node)
	// edge writes what happens on the way from n to its successor i.
	edge(n *layout.Node, i int)
	// condition returns the expression that n's branch depends on, and its negation.
	condition(n *layout.Node) (holds, fails string)
	// leave writes the jump to the end of the graph from within a loop of it, or from its middle.
	leave(n *layout.Node)
	// label returns a name for a label that no other label has.
	label() string
}

type openLoop struct {
	header *layout.Node
	follow *layout.Node // what is after it; nil for the end of the graph
	name   string
	left   bool // for what is after it
}

func newFlow(out *writer, code coder) *flow {
	return &flow{out: out, code: code, labels: map[*layout.Node]string{}, jumped: map[*layout.Node]bool{}}
}

// tree writes n and all that it dominates. Control that reaches the end of the text is at
// next, which is nil for the end of the graph. The result reports whether any does.
func (f *flow) tree(n, next *layout.Node) (falls bool) {
	if !n.Heads() {
		return f.content(n, next)
	}
	behind := n.Loop.Followers()
	l := &openLoop{header: n, follow: next}
	if len(behind) > 0 {
		l.follow = behind[0]
	}
	f.loops = append(f.loops, l)
	inner := f.out.capture(func() { f.content(n, n) })
	f.loops = f.loops[:len(f.loops)-1]
	if l.name != "" {
		f.out.label(l.name)
	}
	f.out.at(n.Block.Term().Pos)
	f.out.line("for {")
	f.out.append(inner)
	f.out.line("}")
	return f.sequence(behind, next, l.left)
}

// content writes n and what it dominates inside the innermost loop around it.
func (f *flow) content(n, next *layout.Node) (falls bool) {
	var merges []*layout.Node
	for _, k := range n.Kids {
		if n.Loop.Contains(k) && k.Forward() > 1 {
			merges = append(merges, k)
		}
	}
	first := next
	if len(merges) > 0 {
		first = merges[0]
	}
	f.code.body(n)
	falls = f.terminator(n, first)
	return f.sequence(merges, next, falls)
}

// sequence writes nodes one after the other, each with a label where one is jumped to.
func (f *flow) sequence(list []*layout.Node, next *layout.Node, falls bool) bool {
	for i, n := range list {
		after := next
		if i+1 < len(list) {
			after = list[i+1]
		}
		if f.jumped[n] {
			f.out.label(f.labels[n])
		}
		falls = f.tree(n, after)
	}
	return falls
}

func (f *flow) terminator(n, next *layout.Node) (falls bool) {
	switch len(n.Succs) {
	case 0:
		return f.exit(n)
	case 1:
		return f.jump(n, 0, next)
	}
	var fall [2]bool
	yes := f.out.capture(func() { fall[0] = f.jump(n, 0, next) })
	no := f.out.capture(func() { fall[1] = f.jump(n, 1, next) })
	holds, fails := f.code.condition(n)
	f.out.at(n.Block.Term().Pos)
	switch {
	case len(yes) == 0 && len(no) == 0:
	case len(no) == 0, !fall[0]: // what comes else needs no braces
		f.branch(holds, yes)
		f.out.append(no)
	case len(yes) == 0, !fall[1]:
		f.branch(fails, no)
		f.out.append(yes)
	default:
		f.out.line("if %s {", holds)
		f.out.append(yes)
		f.out.line("} else {")
		f.out.append(no)
		f.out.line("}")
	}
	return fall[0] || fall[1]
}

func (f *flow) branch(cond string, then []line) {
	f.out.line("if %s {", cond)
	f.out.append(then)
	f.out.line("}")
}

// exit writes the end of a node without successors: the function has returned, or has to.
func (f *flow) exit(n *layout.Node) (falls bool) {
	return n.Block.Term().Op != ir.OpFault
}

// jump writes the way from n to its successor i, and the successor itself where nothing else
// leads there.
func (f *flow) jump(n *layout.Node, i int, next *layout.Node) (falls bool) {
	f.code.edge(n, i)
	to := n.Succs[i]
	if to == next {
		return true
	}
	for k, l := range slices.Backward(f.loops) {
		word := ""
		switch {
		case to != nil && to == l.header:
			word = "continue"
		case to == l.follow:
			word, l.left = "break", true
		default:
			continue
		}
		if k == len(f.loops)-1 {
			f.out.line("%s", word)
			return false
		}
		if l.name == "" {
			l.name = f.code.label()
		}
		f.out.line("%s %s", word, l.name)
		return false
	}
	switch {
	case to == nil:
		f.code.leave(n)
		return false
	case to.Idom == n && to.Forward() == 1 && n.Loop.Contains(to):
		return f.tree(to, next)
	}
	if f.labels[to] == "" {
		f.labels[to] = f.code.label()
	}
	f.jumped[to] = true
	f.out.gotos++
	f.out.line("goto %s", f.labels[to])
	return false
}
