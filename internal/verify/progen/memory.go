package progen

import (
	"fmt"
	"strings"
)

// view declares a slice of an array or of the thread's part of a slice.
func (g *gen) view() {
	name := g.name("s")
	if p, ok := g.find(func(t *typ) bool { return t.kind == array }, true); ok && g.r.oneIn(2) {
		bounds := g.bounds(p.typ.length)
		risky := g.risk > 0
		g.line("%s := %s[%s]", name, p.text, bounds)
		g.line("_ = %s", name)
		if risky {
			g.line("_ = %s[0]", name) // an empty one must not fault together with something else
		}
		g.scope.slices = append(g.scope.slices, slice{text: name, elem: p.typ.elem, writable: true})
		return
	}
	for _, s := range g.scope.slices {
		if s.own == 0 || !g.r.oneIn(2) {
			continue
		}
		g.line("%s := %s[own*%d : own*%d+%d]", name, s.text, s.own, s.own, s.own)
		g.line("_ = %s", name)
		g.scope.slices = append(g.scope.slices, slice{text: name, elem: s.elem, writable: true})
		return
	}
}

// bounds returns bounds of a part of n elements that is not empty.
func (g *gen) bounds(n int) string {
	low := g.r.IntN(n)
	high := g.r.between(low+1, n)
	switch {
	case g.mayFault():
		return g.simple() + ":" + pick(g.r, "", fmt.Sprint(n))
	case g.r.oneIn(4):
		return fmt.Sprintf("%d:%d:%d", low, high, g.r.between(high, n))
	case g.r.oneIn(4):
		return fmt.Sprintf("%d:", low)
	case g.r.oneIn(4):
		return fmt.Sprintf(":%d", high)
	}
	return fmt.Sprintf("%d:%d", low, high)
}

// views returns the slices that are all the thread's own.
func (g *gen) views() []slice {
	var found []slice
	for _, s := range g.scope.slices {
		if s.writable && s.own == 0 {
			found = append(found, s)
		}
	}
	return found
}

func (g *gen) clearOrCopy() {
	found := g.views()
	if len(found) == 0 {
		g.view()
		return
	}
	s := pick(g.r, found...)
	for _, from := range g.scope.slices {
		if from.elem == s.elem && from.own == 0 && g.r.oneIn(2) {
			g.line("copy(%s, %s)", s.text, from.text)
			return
		}
	}
	g.line("clear(%s)", s.text)
}

// pointer declares the address of something that may be assigned.
func (g *gen) pointer() {
	p, ok := g.target(anything(g.r))
	if !ok {
		return
	}
	name := g.name("p")
	g.line("%s := &%s", name, p.text)
	g.line("_ = %s", name)
	g.declare("(*"+name+")", p.typ, false)
}

// counter is a slice that all threads change by one atomic operation.
type counter struct {
	slice
	operation string
}

// atomic changes what all threads share.
func (g *gen) atomic() {
	if len(g.counters) == 0 {
		g.opAssign()
		return
	}
	c := pick(g.r, g.counters...)
	g.line("gpu.Atomic%s(&%s[%s], %s)", c.operation, c.text, g.sliceIndex(c.slice), g.expr(c.elem, 2))
}

// print prints numbers, in kernels that print.
func (g *gen) print() {
	if !g.prints || g.trips > 4 {
		g.assign()
		return
	}
	t, u := pick(g.r, integers...), pick(g.r, append(integers, floats...)...)
	g.line("gpu.Printf(t, \"%s %%v\\n\", %s, %s)", pick(g.r, "%d", "%x", "%5d"), g.value(t, 1), g.value(u, 1))
}

// sliceVariable declares a slice that is one of two.
func (g *gen) sliceVariable() {
	found := g.views()
	if len(found) == 0 {
		g.view()
		return
	}
	a := pick(g.r, found...)
	for _, b := range found {
		if b.elem == a.elem && b.text != a.text {
			name := g.name("s")
			g.line("%s := %s", name, a.text)
			g.line("_ = %s", name)
			g.line("if %s {", g.value(typeBool, 2))
			g.line("\t%s = %s", name, b.text)
			g.line("}")
			g.scope.slices = append(g.scope.slices, slice{text: name, elem: a.elem, writable: true})
			return
		}
	}
}

// phase lets all threads of a block exchange values through shared memory.
func (g *gen) phase() {
	s := pick(g.r, g.shared...)
	if !g.copyAsync(s) {
		g.line("%s[lane] = %s", s.text, g.expr(s.elem, 3))
	}
	g.line("t.Sync()")
	for range g.r.between(1, 2) {
		name := g.name("v")
		index := fmt.Sprintf("(lane+%d)%%size", g.r.IntN(9))
		if g.r.oneIn(2) {
			index = fmt.Sprintf("uint(%s)%%uint(size)", g.simple())
		}
		g.line("%s := %s[%s]", name, s.text, index)
		g.line("_ = %s", name)
		g.declare(name, s.elem, false)
	}
	if g.r.oneIn(3) {
		g.assign()
	}
	g.line("t.Sync()")
}

// uniform writes phases where all threads of a block come by together.
func (g *gen) uniform() {
	if !g.faulty && len(g.text)%4 == 0 {
		g.together()
		return
	}
	switch g.r.IntN(7) {
	case 6:
		g.sharedAtomic()
		return
	case 4:
		name, t := g.name("v"), typeInt
		what := "SyncCount"
		if g.r.oneIn(2) {
			what, t = pick(g.r, "SyncAnd", "SyncOr"), typeBool
		}
		g.line("%s := t.%s(%s)", name, what, g.value(typeBool, 2))
		g.line("_ = %s", name)
		g.declare(name, t, false)
		return
	case 5:
		if g.warps {
			g.warp()
			return
		}
		g.phase()
		return
	case 0:
		i := g.name("i")
		g.line("for %s := range %d {", i, g.r.between(1, 3))
		g.inBlock(func() {
			g.line("_ = %s", i)
			g.declare(i, typeInt, true)
			g.phase()
			g.assign()
		})
	case 1:
		g.line("if t.BlockX() == %d {", g.r.IntN(2))
		g.inBlock(g.phase)
	case 2:
		g.line("for %s := size; %s > 0; %s /= 4 {", "half", "half", "half")
		g.inBlock(func() {
			g.declare("half", typeInt, true)
			g.phase()
			g.statement()
		})
	default:
		g.phase()
		return
	}
	g.line("}")
}

// inBlock calls f in a scope of its own.
func (g *gen) inBlock(f func()) {
	saved := g.scope.clone()
	g.indent++
	g.depth++
	f()
	g.depth--
	g.indent--
	g.scope = saved
}

// someLanes lets the threads of a warp that go one way combine values.
func (g *gen) someLanes() {
	way, lanes, name, t := g.name("way"), g.name("lanes"), g.name("v"), pick(g.r, typeInt32, typeUint32, typeInt64, typeUint64)
	g.line("%s := %s", way, g.value(typeBool, 2))
	g.line("%s := gpu.Ballot(t, %s)", lanes, way)
	text := fmt.Sprintf("gpu.WarpReduce%s(t, %s, %s)", pick(g.r, "Add", "Min", "Max", "And", "Or", "Xor"), g.value(t, 2), lanes)
	switch g.r.IntN(6) {
	case 0:
		text, t = fmt.Sprintf("gpu.Match(t, %s&3, %s)", g.value(pick(g.r, numbers...), 1), lanes), typeUint32
	case 1:
		text, t = fmt.Sprintf("gpu.Ballot(t, %s, %s)", g.value(typeBool, 2), lanes), typeUint32
	case 2:
		t = pick(g.r, floats...)
		text = fmt.Sprintf("gpu.WarpReduce%s(t, %s, %s)", pick(g.r, "Min", "Max"), g.value(t, 2), lanes)
	case 3:
		text, t = fmt.Sprintf("gpu.%s(t, %s, %s)", pick(g.r, "Any", "All"), g.value(typeBool, 2), lanes), typeBool
	}
	g.line("var %s %s", name, t.name)
	g.line("if %s {", way)
	g.line("\t%s = %s", name, text)
	g.line("}")
	g.line("_ = %s", name)
	g.declare(name, t, false)
}

// warp lets the threads of a full warp exchange values.
func (g *gen) warp() {
	if g.r.oneIn(5) {
		g.someLanes()
		return
	}
	t := pick(g.r, typeInt32, typeUint32, typeInt64, typeUint64, typeFloat32, typeFloat64)
	name, x := g.name("v"), g.value(t, 2)
	lane := fmt.Sprintf("int(uint(%s)%%32)", g.simple())
	text := fmt.Sprintf("gpu.%s(t, %s, %s)", pick(g.r, "Shuffle", "ShuffleUp", "ShuffleDown", "ShuffleXor"), x, pick(g.r, "3", "17", "lane"))
	switch g.r.IntN(8) {
	case 4:
		t = pick(g.r, floats...)
		text = fmt.Sprintf("gpu.WarpReduce%s(t, %s)", pick(g.r, "Min", "Max"), g.value(t, 2))
	case 5:
		u := pick(g.r, numbers...)
		text, t = fmt.Sprintf("gpu.Match(t, %s&3)", g.value(u, 1)), typeUint32
	case 6:
		g.line("t.SyncWarp()")
	case 0:
		text = fmt.Sprintf("gpu.Shuffle(t, %s, %s)", x, lane)
	case 1:
		text, t = fmt.Sprintf("gpu.Ballot(t, %s)", g.value(typeBool, 2)), typeUint32
	case 2:
		text, t = fmt.Sprintf("gpu.%s(t, %s)", pick(g.r, "Any", "All"), g.value(typeBool, 2)), typeBool
	case 3:
		t = pick(g.r, typeInt32, typeUint32, typeInt64, typeUint64)
		text = fmt.Sprintf("gpu.WarpReduce%s(t, %s)", pick(g.r, "Add", "Min", "Max", "And", "Or", "Xor"), g.value(t, 2))
	}
	g.line("%s := %s", name, strings.ReplaceAll(text, "lane)", "lane%32)"))
	g.line("_ = %s", name)
	g.declare(name, t, false)
	if name = g.name("v"); g.r.oneIn(4) {
		g.line("%s := t.Lane() + 32*t.Warp()", name)
		g.line("_ = %s", name)
		g.declare(name, typeInt, false)
	}
}

// copyAsync fills the thread's element of shared memory by an asynchronous copy, where there is
// something to copy.
func (g *gen) copyAsync(s slice) bool {
	if n := s.elem.bytes(); n != 4 && n != 8 && n != 16 || !g.r.oneIn(2) {
		return false
	}
	for _, from := range g.scope.slices {
		if from.elem != s.elem || from.own > 0 || from.writable {
			continue
		}
		index := fmt.Sprintf("uint(%s)%%uint(len(%s))", g.simple(), from.text)
		if g.r.oneIn(3) {
			g.line("gpu.FetchAsync(t, &%s[lane], %s, %s)", s.text, from.text, pick(g.r, "int("+index+")", "int("+g.simple()+")"))
		} else {
			g.line("gpu.CopyAsync(t, &%s[lane], &%s[%s])", s.text, from.text, index)
		}
		g.line("t.CommitCopies()")
		g.line("t.WaitCopies(0)")
		return true
	}
	return false
}

// sharedAtomic lets all threads of a block change one number in shared memory.
func (g *gen) sharedAtomic() {
	for _, s := range g.shared {
		if !containsType(atomics, s.elem) {
			continue
		}
		at, name := g.r.IntN(4), g.name("v")
		g.line("if lane == 0 {")
		g.line("\t%s[%d] = %s", s.text, at, g.literal(s.elem))
		g.line("}")
		g.line("t.Sync()")
		g.line("gpu.Atomic%s(&%s[%d], %s)", pick(g.r, "Add", "Sub", "Min", "Max", "And", "Or", "Xor"), s.text, at, g.expr(s.elem, 2))
		g.line("t.Sync()")
		g.line("%s := %s[%d]", name, s.text, at)
		g.line("_ = %s", name)
		g.declare(name, s.elem, false)
		g.line("t.Sync()")
		return
	}
	g.phase()
}

// together writes calls of functions that have shared memory of their own.
func (g *gen) together() {
	t, name := g.r.scalarType(), g.name("v")
	switch g.r.IntN(3) {
	case 0:
		t = pick(g.r, typeInt32, typeUint32, typeInt64, typeUint64)
		op := pick(g.r, "Sum", "Min", "Max")
		g.line("%s := collective.BlockReduce[collective.%s[%s]](t, %s)", name, op, t.name, g.value(t, 2))
	case 1:
		t = pick(g.r, typeInt32, typeUint32, typeInt64, typeUint64)
		op := pick(g.r, "Sum", "Min", "Max")
		g.line("%s, _ := collective.BlockScan[collective.%s[%s]](t, %s)", name, op, t.name, g.value(t, 2))
	default:
		g.line("%s := turned[%s](t, %s, %d)", name, t.name, g.value(t, 2), g.r.IntN(9))
	}
	g.line("for range %d {", g.r.IntN(3))
	g.line("\t%[1]s = turned(t, %[1]s, 3)", name)
	g.line("}")
	g.declare(name, t, false)
}
