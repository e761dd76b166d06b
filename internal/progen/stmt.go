package progen

import (
	"fmt"
	"strings"
)

// line writes a line of Go and begins the next statement.
func (g *gen) line(format string, args ...any) {
	g.text = append(g.text, strings.Repeat("\t", g.indent)...)
	g.text = fmt.Appendf(g.text, format+"\n", args...)
	g.risk = 0
}

// block writes statements in a scope of their own.
func (g *gen) block(n int) {
	saved := g.scope.clone()
	g.indent++
	g.depth++
	for range n {
		g.statement()
	}
	if g.hash && g.r.oneIn(2) { // before they are gone
		for _, p := range g.scope.places[min(len(saved.places), len(g.scope.places)):] {
			g.mixed(p, 1)
		}
	}
	g.depth--
	g.indent--
	g.scope = saved
}

// statement writes one statement.
func (g *gen) statement() {
	g.budget--
	if g.depth > 3 || g.budget < 0 {
		g.assign()
		return
	}
	switch g.r.IntN(50) {
	case 34, 35, 36:
		g.reduce()
	case 37:
		g.march()
	case 38:
		g.stencil()
	case 39:
		g.choosePointer()
	case 40:
		g.pointers()
	case 41:
		g.slicesOf()
	case 42:
		g.regrow()
	case 43:
		g.deferring()
	case 44:
		g.localAtomic()
	case 45:
		g.texts()
	case 46:
		g.settle()
	case 47:
		g.whole()
	case 48:
		g.search()
	case 27:
		g.forward()
	case 28:
		g.backward()
	case 29, 30:
		g.ownAtomic()
	case 31:
		g.assert()
	case 24:
		g.callForTwo()
	case 25:
		g.print()
	case 26:
		g.sliceVariable()
	case 0, 1, 2:
		g.variable()
	case 3, 4:
		g.branch()
	case 5, 6:
		g.loop()
	case 7:
		g.rangeLoop()
	case 8:
		g.switchValue()
	case 9:
		g.switchTrue()
	case 10:
		g.jump()
	case 11:
		g.swap()
	case 12:
		g.view()
	case 13:
		g.closure()
	case 14:
		g.callProcedure()
	case 15:
		g.atomic()
	case 16:
		g.clearOrCopy()
	case 17:
		g.pointer()
	case 18:
		g.opAssign()
	default:
		g.assign()
	}
}

// variable declares one, of any type.
func (g *gen) variable() {
	t := g.r.scalarType()
	if g.r.oneIn(3) {
		t = pick(g.r, g.types...)
	}
	name := g.name("v")
	switch {
	case g.r.oneIn(6):
		g.line("var %s %s", name, t.name)
	default:
		g.line("var %s %s = %s", name, t.name, g.expr(t, 3))
	}
	g.line("_ = %s", name)
	g.declare(name, t, false)
}

// target returns something to assign to, with its type.
func (g *gen) target(want func(*typ) bool) (place, bool) {
	if g.r.oneIn(3) {
		var found []slice
		for _, s := range g.scope.slices {
			if s.writable && reaches(s.elem, want) {
				found = append(found, s)
			}
		}
		if len(found) > 0 {
			s := pick(g.r, found...)
			p := place{text: s.text + "[" + g.sliceIndex(s) + "]", typ: s.elem}
			for !want(p.typ) {
				p = g.part(p, want)
			}
			return p, true
		}
	}
	return g.find(want, true)
}

func (g *gen) assign() {
	p, ok := g.target(anything(g.r))
	if !ok {
		g.variable()
		return
	}
	g.line("%s = %s", p.text, g.expr(p.typ, 3))
}

// anything wants scalars mostly.
func anything(r random) func(*typ) bool {
	scalars := !r.oneIn(6)
	return func(t *typ) bool { return t.scalar() || !scalars }
}

func (g *gen) opAssign() {
	p, ok := g.target(isInteger)
	if !ok {
		return
	}
	if g.r.oneIn(3) {
		g.line("%s%s", p.text, pick(g.r, "++", "--"))
		return
	}
	switch g.r.IntN(6) {
	case 0:
		g.line("%s %s= %d", p.text, pick(g.r, "<<", ">>"), g.r.IntN(p.typ.bits+2))
	case 1:
		g.line("%s %s= %s | 1", p.text, pick(g.r, "/", "%"), g.value(p.typ, 1))
	default:
		g.line("%s %s= %s", p.text, pick(g.r, "+", "-", "*", "&", "|", "^", "&^"), g.expr(p.typ, 2))
	}
}

func (g *gen) swap() {
	p, ok := g.target(anything(g.r))
	if !ok {
		return
	}
	q, ok := g.target(is(p.typ))
	if !ok {
		return
	}
	g.line("%s, %s = %s, %s", p.text, q.text, g.expr(p.typ, 1), g.expr(p.typ, 1))
}

func (g *gen) branch() {
	g.line("if %s {", g.value(typeBool, 2))
	g.block(g.r.between(1, 3))
	for g.r.oneIn(4) {
		g.line("} else if %s {", g.value(typeBool, 2))
		g.block(g.r.between(1, 2))
	}
	if g.r.oneIn(2) {
		g.line("} else {")
		g.block(g.r.between(1, 3))
	}
	g.line("}")
}
