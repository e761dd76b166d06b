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
	all := statements()
	if write := all[g.r.IntN(len(all))]; write != nil {
		write(g)
		return
	}
	g.assign()
}

// statements are the writers of statements, each as often as it shall be drawn; where there is
// none it is an assignment's turn.
func statements() [50]func(*gen) {
	return [50]func(*gen){
		0: (*gen).variable, 1: (*gen).variable, 2: (*gen).variable, 3: (*gen).branch, 4: (*gen).branch,
		5: (*gen).loop, 6: (*gen).loop, 7: (*gen).rangeLoop, 8: (*gen).switchValue,
		9: (*gen).switchTrue, 10: (*gen).jump, 11: (*gen).swap, 12: (*gen).view, 13: (*gen).closure,
		14: (*gen).callProcedure, 15: (*gen).atomic, 16: (*gen).clearOrCopy, 17: (*gen).pointer,
		18: (*gen).opAssign, 24: (*gen).callForTwo, 25: (*gen).print, 26: (*gen).sliceVariable,
		27: (*gen).forward, 28: (*gen).backward, 29: (*gen).ownAtomic, 30: (*gen).ownAtomic,
		31: (*gen).assert, 34: (*gen).reduce, 35: (*gen).reduce, 36: (*gen).reduce, 37: (*gen).march,
		38: (*gen).stencil, 39: (*gen).choosePointer, 40: (*gen).pointers, 41: (*gen).slicesOf,
		42: (*gen).regrow, 43: (*gen).deferring, 44: (*gen).localAtomic, 45: (*gen).texts,
		46: (*gen).settle, 47: (*gen).whole, 48: (*gen).search, 49: (*gen).divide,
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
func (g *gen) target(want func(*typ) bool) (variable, bool) {
	if g.r.oneIn(3) {
		var found []slice
		for _, s := range g.scope.slices {
			if s.writable && reaches(s.elem, want) {
				found = append(found, s)
			}
		}
		if len(found) > 0 {
			s := pick(g.r, found...)
			p := variable{text: s.text + "[" + g.sliceIndex(s) + "]", typ: s.elem}
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
