package progen

import (
	"bytes"
	"fmt"
	"strings"
)

// trip returns how often a loop runs at most, so that a kernel ends soon.
func (g *gen) trip() int {
	n := g.r.between(1, 6)
	if g.trips*n > 40 {
		return 1
	}
	return n
}

// inLoop writes a loop that ends, with a label where something in it jumps there, and often a directive that unrolls it.
func (g *gen) inLoop(trips int, header string, body func()) {
	outer, label := g.text, g.name("L")
	g.text = nil
	g.loops = append(g.loops, label)
	g.trips *= trips
	body()
	g.trips /= trips
	g.loops = g.loops[:len(g.loops)-1]
	inner := g.text
	g.text = outer
	if bytes.Contains(inner, []byte(" "+label+"\n")) {
		g.text = append(g.text, label+":\n"...)
	}
	overFunction := strings.Contains(header, "range below(") || strings.Contains(header, "range backward(")
	if n := len(inner) % 8; n >= 1 && n <= 4 && !overFunction {
		g.line("//gpu:unroll %d", n)
	}
	g.line("%s {", header)
	g.text = append(g.text, inner...)
	g.line("}")
}

func (g *gen) loop() {
	n, i := g.trip(), g.name("i")
	t := pick(g.r, integers...)
	var header string
	var first string
	switch g.r.IntN(7) {
	case 5:
		t = typeInt
		header = fmt.Sprintf("for %s := range below(%s)", i, pick(g.r, fmt.Sprint(n), fmt.Sprintf("min(int(%s), %d)", g.simple(), n)))
	case 0:
		header = fmt.Sprintf("for %s := range %s(%d)", i, t.name, n)
	case 1:
		header = fmt.Sprintf("for %s := %s(%d); %s > 0; %s--", i, t.name, n, i, i)
	case 2:
		t = typeInt
		header = fmt.Sprintf("for %s := 0; %s < %d && %s; %s++", i, i, n, g.value(typeBool, 1), i)
	case 3:
		t = typeInt
		header = fmt.Sprintf("for %s := %d; ; %s--", i, n, i)
		first = fmt.Sprintf("if %s <= 0 || %s {", i, g.value(typeBool, 1))
	case 4:
		t = typeInt
		header = fmt.Sprintf("for %s := range min(int(%s), %d)", i, g.simple(), n)
	default:
		header = fmt.Sprintf("for %s := %s(0); %s < %d; %s++", i, t.name, i, n, i)
	}
	g.inLoop(n, header, func() {
		saved := g.scope.clone()
		g.declare(i, t, true)
		g.indent++
		g.line("_ = %s", i)
		if first != "" {
			g.line("%s", first)
			g.line("\tbreak")
			g.line("}")
		}
		g.indent--
		g.block(g.r.between(1, 4))
		g.scope = saved
	})
}

// rangeLoop ranges over an array or a slice.
func (g *gen) rangeLoop() {
	over, t, n := "", (*typ)(nil), 0
	if g.r.oneIn(2) && len(g.scope.slices) > 0 {
		s := pick(g.r, g.scope.slices...)
		t, n = s.elem, 8
		over = s.text + fmt.Sprintf("[:min(%d, len(%s))]", n, s.text)
		if s.own > 0 {
			over = fmt.Sprintf("%s[own*%d : own*%d+%d]", s.text, s.own, s.own, s.own)
		}
		if g.r.oneIn(3) {
			over = "backward(" + over + ")"
		}
	} else if p, ok := g.find(func(t *typ) bool { return t.kind == array }, false); ok {
		over, t, n = p.text, p.typ.elem, p.typ.length
	}
	if t == nil || g.trips*n > 60 {
		return
	}
	i, x := g.name("i"), g.name("x")
	g.inLoop(n, fmt.Sprintf("for %s, %s := range %s", i, x, over), func() {
		saved := g.scope.clone()
		g.indent++
		g.line("_, _ = %s, %s", i, x)
		g.indent--
		g.declare(i, typeInt, true)
		g.declare(x, t, false)
		g.block(g.r.between(1, 3))
		g.scope = saved
	})
}

// divide writes a loop of one block with a division, as often as compilers unroll it in part. It may be left out, and both of its
// variables count after it.
func (g *gen) divide() {
	t, n := pick(g.r, typeFloat32, typeFloat64, typeInt, typeInt64, typeUint64), pick(g.r, 8, 12, 16)
	if g.trips*n > 60 {
		return
	}
	i, x, y := g.name("i"), g.name("v"), g.name("v")
	by := y
	if t.kind != float {
		by = fmt.Sprintf("(%s | 1)", y)
	}
	g.line("var %s, %s %s = %s, %s", x, y, t.name, g.expr(t, 2), g.expr(t, 2))
	g.line("if %s {", g.value(typeBool, 2))
	g.line("\tfor %s := 0; %s < %d; %s++ {", i, i, n, i)
	g.line("\t\t%s, %s = %s/%s, %s", x, y, x, by, pick(g.r, x, y, fmt.Sprintf("%s + %s", x, y)))
	g.line("\t}")
	g.line("}")
	g.declare(x, t, false)
	g.declare(y, t, false)
}

// jump leaves a loop, begins its next round, or returns.
func (g *gen) jump() {
	what := ""
	switch {
	case len(g.loops) > 0 && !g.r.oneIn(5):
		what = pick(g.r, "break", "continue")
		if g.r.oneIn(2) {
			what += " " + pick(g.r, g.loops...)
		}
	case g.result != nil:
		what = "return " + g.returned()
	case g.mayReturn:
		what = "return"
	default:
		g.opAssign()
		return
	}
	if g.faulty && g.r.oneIn(4) {
		what = `panic("` + pick(g.r, "a", "no such value", "100%") + `")`
	}
	g.line("if %s {", g.value(typeBool, 2))
	g.line("\t%s", what)
	g.line("}")
}

func (g *gen) switchValue() {
	t := pick(g.r, integers...)
	g.line("switch %s {", g.value(t, 2))
	values := g.r.Perm(9)
	for i := range g.r.between(1, 4) {
		if g.r.oneIn(3) {
			g.line("case %d, %s:", values[2*i], g.value(t, 1))
		} else {
			g.line("case %d:", values[2*i])
		}
		g.switchBody(true)
	}
	if g.r.oneIn(2) {
		g.line("default:")
		g.switchBody(false)
	} else {
		g.line("case %d:", values[8])
	}
	g.line("}")
}

// switchBody writes the statements of a case, which may fall through to the next.
func (g *gen) switchBody(fall bool) {
	loops := g.loops
	g.block(g.r.between(0, 2))
	g.loops = loops
	if fall && g.r.oneIn(4) {
		g.line("\tfallthrough")
	}
}

func (g *gen) switchTrue() {
	g.line("switch {")
	for range g.r.between(1, 4) {
		g.line("case %s:", g.value(typeBool, 2))
		g.switchBody(true)
	}
	g.line("default:")
	g.switchBody(false)
	g.line("}")
}
