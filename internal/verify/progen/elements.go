package progen

import (
	"fmt"
	"slices"
	"strings"
)

// elements writes a kernel that does an element of its slices a thread, as most of those that
// people write: the compiler may give a thread several.
func (g *gen) elements(k *Kernel) {
	g.scope = scope{}
	g.declareTables()
	n := k.Blocks[0]*k.Threads[0] - g.r.IntN(6) // a grid may also be too small
	if g.r.oneIn(3) {
		n += 8
	}
	if n < 1 {
		n = 1
	}
	types := slices.Concat(floats, integers, halves)
	var params []string
	var guards []string
	for i := range g.r.between(2, 4) {
		s := slice{text: g.name("x"), elem: pick(g.r, types...), own: 1, writable: i == 1 || i == 0 && g.r.oneIn(2) || g.r.oneIn(3)}
		params = append(params, s.text+" []"+s.elem.name)
		k.Args = append(k.Args, Arg{Type: s.elem.name, Layout: s.elem.layout(), Len: n})
		g.scope.slices = append(g.scope.slices, s)
		if i == 0 || g.r.oneIn(3) {
			guards = append(guards, fmt.Sprintf("own < len(%s)", s.text))
		}
	}
	factor := g.name("a")
	params = append(params, factor+" float32")
	k.Args = append(k.Args, Arg{Type: "float32", Layout: "float32"})
	g.line("//gpu:kernel")
	g.line("func %s(t gpu.Thread, first int, %s) {", k.Name, strings.Join(params, ", "))
	g.indent++
	g.line("id := t.GlobalX()")
	g.line("own := id")
	if g.r.oneIn(4) {
		g.line("if own %s %d {", pick(g.r, "<", "==", ">"), g.r.IntN(n+1))
		g.line("\treturn")
		g.line("}")
	}
	ahead := g.r.oneIn(3)
	if ahead { // the first slice is read before the thread's element, if nobody writes it
		guards[0] = fmt.Sprintf("own < len(%s)-1", g.scope.slices[0].text)
	}
	g.line("if %s {", strings.Join(guards, " && "))
	g.declare(factor, typeFloat32, false)
	g.declare("id", typeInt, true)
	g.inBlock(func() {
		for range g.r.between(0, 2) {
			g.variable()
		}
		if first := g.scope.slices[0]; ahead && !first.writable {
			g.line("next := %s[own+1]", first.text)
			g.line("_ = next")
			g.declare("next", first.elem, false)
		}
		for _, s := range g.scope.slices {
			if s.writable {
				g.line("%s[own] = %s", s.text, g.expr(s.elem, 3))
			}
		}
		if g.r.oneIn(4) {
			g.assign()
		}
	})
	g.line("}")
	g.indent--
	g.line("}")
}
