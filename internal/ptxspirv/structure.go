package ptxspirv

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/spirv"
)

// A node is a part of a kernel whose control flow is nested. Control that reaches the end of a list of nodes goes on after the list.
type node interface{}

type (
	code   struct{ block int } // the instructions of a block
	leave  struct{}            // the thread ends
	jump   struct{ to int }    // control continues with a block that follows an enclosing scope or loop, or with the header of a loop
	choice struct {            // the condition of a block
		block int
		arms  [2][]node
	}
	// A scope is nodes after which control reaches a block, which jumps inside it name.
	scope struct {
		exits
		follow int
		body   []node
	}
	// A loop is nodes that are repeated. Control that leaves it by a jump to follow goes on after it.
	loop struct {
		exits
		header, follow int
		body           []node
		again          spirv.ID // the block that repeats the loop
	}
)

// exits describes how control leaves a scope or a loop.
type exits struct {
	named  bool  // a jump names what follows, so that a scope needs a construct of SPIR-V
	normal bool  // control goes on after it
	others []int // jumps to outer places that must leave it first, because SPIR-V cannot leave two constructs at once
	merge  spirv.ID
}

// nest returns the nested form of a graph.
func nest(g *graph) []node {
	n := &nester{graph: g, inner: map[int][]int{}, after: map[int][]int{}, inline: map[int]bool{}}
	for _, i := range g.order[1:] { // in reverse postorder, so the lists are sorted by it
		n.place(i)
	}
	list := n.tree(0, -1)
	resolve(list)
	return list
}

// nester makes the nested form.
type nester struct {
	*graph
	inner  map[int][]int // blocks that control reaches from several places, by their dominator
	after  map[int][]int // blocks that follow a loop, by its header
	inline map[int]bool  // blocks with one predecessor
}

// place finds where a block belongs: directly after its only predecessor, after the code that its dominator controls, or, if it is outside
// of a loop that has its dominator, after the loop. Blocks that end the thread, and those that report a fault to threads that may wait
// for it, stay in the loop: after it, they would run only when all other threads of the subgroup have left the loop. In rounds, all blocks stay,
// because most leave the loop that goes from state to state: a construct for each would nest too deeply.
func (n *nester) place(i int) {
	b := &n.blocks[i]
	single := b.joins == 1
	if single && (b.prompt || n.inRounds || slices.Equal(b.next, []int{n.end})) {
		n.inline[i] = true
		return
	}
	left := -1
	for l := n.blocks[b.dominator].loop; l >= 0 && !n.inside(i, l); l = n.blocks[l].outer {
		left = l
	}
	switch {
	case i == n.end:
	case b.prompt:
		n.inner[b.dominator] = append(n.inner[b.dominator], i)
	case left >= 0:
		n.after[left] = append(n.after[left], i)
	case single:
		n.inline[i] = true
	default:
		n.inner[b.dominator] = append(n.inner[b.dominator], i)
	}
}

// tree returns the nodes of a block and of all that it dominates. Control that leaves them goes on with block fall, if it is not -1.
func (n *nester) tree(i, fall int) []node {
	core := func(fall int) []node { return n.within(i, fall) }
	if n.blocks[i].header {
		body := n.wrap(n.inner[i], i, core)
		return n.wrap(n.after[i], fall, func(fall int) []node {
			return []node{&loop{header: i, follow: fall, body: body}}
		})
	}
	return n.wrap(n.inner[i], fall, core)
}

// wrap returns the nodes of core, followed by those of the blocks in the list.
func (n *nester) wrap(list []int, fall int, core func(fall int) []node) []node {
	if len(list) == 0 {
		return core(fall)
	}
	last := list[len(list)-1]
	s := &scope{follow: last, body: n.wrap(list[:len(list)-1], last, core)}
	return append([]node{s}, n.tree(last, fall)...)
}

// within returns the nodes of a block and of those that follow it directly.
func (n *nester) within(i, fall int) []node {
	b := &n.blocks[i]
	list := []node{code{i}}
	switch len(b.next) {
	case 0:
		return append(list, leave{})
	case 1:
		return append(list, n.arm(i, b.next[0], fall)...)
	}
	return append(list, &choice{block: i, arms: [2][]node{n.arm(i, b.next[0], fall), n.arm(i, b.next[1], fall)}})
}

// arm returns the nodes that take control from one block to another.
func (n *nester) arm(from, to, fall int) []node {
	switch {
	case to == n.end:
		return []node{leave{}}
	case n.inline[to] && n.blocks[to].number > n.blocks[from].number:
		return n.tree(to, fall)
	case to == fall:
		return nil
	}
	return []node{jump{to}}
}

// frame is a scope or a loop around a node, whichever is not nil.
type frame struct {
	*scope
	*loop
}

func (f frame) exits() *exits {
	if f.scope != nil {
		return &f.scope.exits
	}
	return &f.loop.exits
}

// names reports whether a jump to a block leaves the frame normally.
func (f frame) names(to int) bool {
	return f.scope != nil && f.scope.follow == to || f.loop != nil && f.loop.follow == to
}

// resolve finds the exits of all scopes and loops.
func resolve(list []node) {
	visit(list, nil, func(to int, around []frame) {
		for _, f := range slices.Backward(around) {
			if f.names(to) {
				f.exits().named = true
				return
			}
		}
	})
	visit(list, nil, leaveBy)
}

// leaveBy records a jump with the frame that it leaves, and, if this is not where the jump ends, as a jump from there.
func leaveBy(to int, around []frame) {
	i, direct := route(to, around)
	if i < 0 {
		return
	}
	e := around[i].exits()
	if direct {
		e.normal = true
		return
	}
	if !slices.Contains(e.others, to) {
		e.others = append(e.others, to)
		leaveBy(to, around[:i])
	}
}

// route returns the index of the frame that a jump leaves, and whether the jump then is where it should be. The index is -1 if the jump
// repeats the innermost loop.
func route(to int, around []frame) (int, bool) {
	switchAt := -1 // the innermost construct
	for i, f := range slices.Backward(around) {
		if f.scope != nil && !f.scope.named {
			continue
		}
		if f.loop != nil {
			if f.loop.header == to {
				return -1, true
			}
			return i, f.names(to)
		}
		if switchAt < 0 {
			switchAt = i
		}
		if f.names(to) {
			return switchAt, switchAt == i
		}
	}
	return switchAt, false
}

// visit calls f for each jump with the scopes and loops around it.
func visit(list []node, around []frame, f func(to int, around []frame)) {
	for _, x := range list {
		switch x := x.(type) {
		case jump:
			f(x.to, around)
		case *choice:
			visit(x.arms[0], around, f)
			visit(x.arms[1], around, f)
		case *scope:
			visit(x.body, append(around[:len(around):len(around)], frame{scope: x}), f)
		case *loop:
			visit(x.body, append(around[:len(around):len(around)], frame{loop: x}), f)
		}
	}
}
