package progen

import (
	"fmt"
	"strings"
)

// elements writes a kernel that does an element of its slices a thread, as most of those that
// people write: the compiler may give a thread several.
func (g *gen) elements(k *Kernel) {
	g.scope = scope{}
	g.declareTables()
	n := k.Blocks[0]*k.Threads[0] - g.r.IntN(6)
	if n < 1 {
		n = 1
	}
	types := append(append([]*typ(nil), floats...), integers...)
	var params []string
	var guards []string
	for i := range g.r.between(2, 4) {
		s := slice{text: g.name("x"), elem: pick(g.r, types...), own: 1, writable: i == 0 || g.r.oneIn(3)}
		params = append(params, s.text+" []"+s.elem.name)
		k.Args = append(k.Args, Arg{s.elem.name, s.elem.layout(), n})
		g.scope.slices = append(g.scope.slices, s)
		if i == 0 || g.r.oneIn(3) {
			guards = append(guards, fmt.Sprintf("own < len(%s)", s.text))
		}
	}
	factor := g.name("a")
	params = append(params, factor+" float32")
	k.Args = append(k.Args, Arg{"float32", "float32", 0})
	g.line("//gpu:kernel")
	g.line("func %s(t gpu.Thread, first int, %s) {", k.Name, strings.Join(params, ", "))
	g.indent++
	g.line("id := t.GlobalX()")
	g.line("own := id")
	g.line("if %s {", strings.Join(guards, " && "))
	g.declare(factor, typeFloat32, false)
	g.declare("id", typeInt, true)
	g.inBlock(func() {
		for range g.r.between(0, 2) {
			g.variable()
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
