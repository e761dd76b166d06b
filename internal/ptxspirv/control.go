package ptxspirv

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/spirv"
)

// list emits nodes. It reports whether control reaches their end.
func (t *translator) list(nodes []node, around []frame) bool {
	open := true
	for _, x := range nodes {
		if !open || t.err != nil {
			return false
		}
		switch x := x.(type) {
		case code:
			t.instructions(x.block)
		case leave:
			t.Emit(spirv.OpReturn)
			open = false
		case jump:
			t.jump(x.to, around)
			open = false
		case *choice:
			open = t.choice(x, around)
		case *scope:
			open = t.scope(x, around)
		case *loop:
			open = t.loop(x, around)
		}
	}
	return open
}

// label starts a block.
func (t *translator) label(id spirv.ID) { t.Emit(spirv.OpLabel, id) }

// when emits f where a condition holds, and otherwise g, if it is not nil. They report whether control reaches their ends, as when does.
func (t *translator) when(condition spirv.ID, f, g func() bool) bool {
	yes, no, merge := t.ID(), t.ID(), t.ID()
	if g == nil {
		no = merge
	}
	t.Emit(spirv.OpSelectionMerge, merge, 0)
	t.Emit(spirv.OpBranchConditional, condition, yes, no)
	open := t.part(yes, merge, f)
	if g == nil {
		open = true
	} else if t.part(no, merge, g) {
		open = true
	}
	t.label(merge)
	if !open {
		t.Emit(spirv.OpUnreachable)
	}
	return open
}

// part emits f as a block that ends with a branch to merge, if control reaches its end.
func (t *translator) part(start, merge spirv.ID, f func() bool) bool {
	t.label(start)
	open := f()
	if open {
		t.Emit(spirv.OpBranch, merge)
	}
	return open
}

// condition emits the condition of a block without the negation of its guard.
func (t *translator) condition(b *block) spirv.ID {
	if b.test != nil {
		return b.test(t)
	}
	return t.Value(spirv.OpLoad, t.boolean(), t.registers[b.guard.Reg])
}

func (t *translator) choice(x *choice, around []frame) bool {
	b := &t.blocks[x.block]
	c := t.condition(b)
	arms := x.arms
	if b.guard.Negate {
		arms[0], arms[1] = arms[1], arms[0]
	}
	if len(arms[0]) == 0 {
		c = t.Value(spirv.OpLogicalNot, t.boolean(), c)
		arms[0], arms[1] = arms[1], arms[0]
	}
	if len(arms[1]) == 0 {
		return t.when(c, func() bool { return t.list(arms[0], around) }, nil)
	}
	return t.when(c, func() bool { return t.list(arms[0], around) }, func() bool { return t.list(arms[1], around) })
}

func (t *translator) scope(x *scope, around []frame) bool {
	inside := append(around[:len(around):len(around)], frame{scope: x})
	if !x.named {
		return t.list(x.body, inside)
	}
	body := t.ID()
	x.merge = t.ID()
	t.Emit(spirv.OpSelectionMerge, x.merge, 0)
	t.Emit(spirv.OpSwitch, t.word(0), body)
	t.label(body)
	if t.list(x.body, inside) {
		t.depart(&x.exits, 0)
		x.normal = true
	}
	t.label(x.merge)
	return t.dispatch(&x.exits, around)
}

func (t *translator) loop(x *loop, around []frame) bool {
	header, body := t.ID(), t.ID()
	x.merge, x.again = t.ID(), t.ID()
	t.Emit(spirv.OpBranch, header)
	t.label(header)
	t.Emit(spirv.OpLoopMerge, x.merge, x.again, 0)
	t.Emit(spirv.OpBranch, body)
	t.label(body)
	t.keepValues(x.merge, t.outliving(x))
	if t.list(x.body, append(around[:len(around):len(around)], frame{loop: x})) {
		t.Emit(spirv.OpBranch, x.again)
	}
	t.label(x.again)
	t.Emit(spirv.OpBranch, header)
	t.label(x.merge)
	return t.dispatch(&x.exits, around)
}

// depart leaves a scope or a loop; to is where control goes on, plus 1, or 0 if it goes on after it.
func (t *translator) depart(e *exits, to int) {
	if len(e.others) > 0 {
		t.Emit(spirv.OpStore, t.exit, t.word(uint32(to)))
	}
	t.Emit(spirv.OpBranch, e.merge)
}

// jump goes to a block.
func (t *translator) jump(to int, around []frame) {
	i, direct := route(to, around)
	switch {
	case i >= 0 && direct:
		t.depart(around[i].exits(), 0)
	case i >= 0:
		t.depart(around[i].exits(), to+1)
	default:
		at := slices.IndexFunc(around, func(f frame) bool { return f.loop != nil && f.loop.header == to })
		t.Emit(spirv.OpBranch, around[at].loop.again)
	}
}

// dispatch continues the jumps that have left a construct. It reports whether control goes on after it.
func (t *translator) dispatch(e *exits, around []frame) bool {
	for k, to := range e.others {
		if !e.normal && k == len(e.others)-1 {
			t.jump(to, around)
			return false
		}
		c := t.Value(spirv.OpIEqual, t.boolean(), t.Value(spirv.OpLoad, t.u32(), t.exit), t.word(uint32(to+1)))
		t.when(c, func() bool { t.jump(to, around); return false }, nil)
	}
	if !e.normal {
		t.Emit(spirv.OpUnreachable)
	}
	return e.normal
}
