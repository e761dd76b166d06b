package progen

import "fmt"

// What people write with slices, and compilers look for.

// readable returns a slice of numbers that all threads read and nobody writes; its least length is known here alone.
func (g *gen) readable(least int, want func(*typ) bool) (slice, bool) {
	var found []slice
	for _, s := range g.scope.slices {
		if s.own == 0 && !s.writable && s.least >= least && want(s.elem) {
			found = append(found, s)
		}
	}
	if len(found) == 0 {
		return slice{}, false
	}
	return pick(g.r, found...), true
}

func isNumber(t *typ) bool { return t.number() }

// maxReduced is how many elements a loop over a slice reads, times those of the loops around it.
const maxReduced = 80

// reduce sums up elements of a slice in a loop that runs as often as its length says.
func (g *gen) reduce() {
	s, ok := g.readable(1, isNumber)
	if !ok || g.trips*s.least > maxReduced {
		g.assign()
		return
	}
	sum, i, x := g.name("v"), g.name("i"), g.name("x")
	g.line("var %s %s", sum, s.elem.name)
	item := s.text + "[" + i + "]"
	header := fmt.Sprintf("for %s := range len(%s)", i, s.text)
	switch g.r.IntN(6) {
	case 0:
		header = fmt.Sprintf("for %s := len(%s) - 1; %s >= 0; %s--", i, s.text, i, i)
	case 1:
		header = fmt.Sprintf("for %s := %d; %s < len(%s); %s += %d", i, g.r.IntN(3), i, s.text, i, g.r.between(1, 4))
	case 2:
		header, item = fmt.Sprintf("for %s, %s := range %s", i, x, s.text), x
	case 3:
		header = fmt.Sprintf("for %s := uint32(0); int(%s) < len(%s); %s++", i, i, s.text, i)
	}
	g.line("%s {", header)
	if g.r.oneIn(4) && s.elem.integer() && header[len(header)-1] != ')' {
		g.line("\tif %s %s %s {", item, pick(g.r, "<", ">=", "=="), g.literal(s.elem))
		g.line("\t\t%s", pick(g.r, "continue", "break"))
		g.line("\t}")
	}
	g.line("\t_ = %s", i)
	g.line("\t%s %s %s", sum, pick(g.r, "+=", "+=", "-="), g.summand(s, item, i))
	g.line("}")
	g.declare(sum, s.elem, false)
}

// summand returns what is made of element item, number i, of a slice: itself, a product, or what it
// is the index of.
func (g *gen) summand(s slice, item, i string) string {
	other, ok := g.readable(1, is(s.elem))
	if !ok {
		return item
	}
	switch g.r.IntN(5) {
	case 0:
		return item + " * " + item
	case 1:
		return fmt.Sprintf("%s * %s[%s]", item, other.text, g.within(other, "int("+i+")"))
	case 2:
		if s.elem.integer() {
			return fmt.Sprintf("%s[%s]", other.text, g.within(other, "int("+item+")"))
		}
	case 3:
		if g.faulty && g.r.oneIn(2) {
			return fmt.Sprintf("%s * %s[%s+%d]", item, other.text, i, g.r.IntN(3))
		}
	}
	return item
}

// within returns the integer as an index of the slice: the compiler must check it, though it is always in range. In
// kernels that may fault it may be out of it.
func (g *gen) within(s slice, i string) string {
	if g.faulty && g.r.oneIn(3) {
		return i
	}
	mask := 1
	for 2*mask+1 < s.least {
		mask = 2*mask + 1
	}
	if s.least == 1 {
		mask = 0
	}
	return fmt.Sprintf("%s&%d", i, mask)
}

// march writes a loop whose index is linear in its counter, in a slice or an array, in range in all rounds.
func (g *gen) march() {
	s, ok := g.readable(4, isNumber)
	if !ok || g.trips*s.least > maxReduced {
		g.reduce()
		return
	}
	times, more := g.r.between(1, 3), g.r.IntN(3)
	i, sum := g.name("i"), g.name("v")
	rounds := (s.least-1-more)/times + 1 // of which the last is at most the last element
	if g.faulty && g.r.oneIn(2) {
		rounds++
	}
	bound := fmt.Sprintf("min(len(%s), %d)", s.text, rounds)
	factor := fmt.Sprint(times)
	if g.r.oneIn(3) { // the same number, which the compiler does not know
		factor = g.name("k")
		g.line("%s := min(len(%s), %d)", factor, s.text, times)
	}
	index := fmt.Sprintf("%s*%s+%d", i, factor, more)
	if g.r.oneIn(3) {
		index = fmt.Sprintf("%d-%s*%s", s.least-1, i, factor)
		bound = fmt.Sprintf("min(len(%s), %d)", s.text, (s.least-1)/times+1)
	}
	g.line("var %s %s", sum, s.elem.name)
	g.inLoop(s.least, fmt.Sprintf("for %s := 0; %s < %s; %s++", i, i, bound, i), func() {
		saved := g.scope.clone()
		g.line("\t%s += %s[%s]", sum, s.text, index)
		g.declare(i, typeInt, true)
		g.declare(sum, s.elem, false)
		g.block(g.r.IntN(2))
		g.scope = saved
	})
	g.declare(sum, s.elem, false)
}

// stencil reads the neighbours of an element, in a line or in a grid.
func (g *gen) stencil() {
	s, ok := g.readable(12, isNumber)
	if !ok {
		g.reduce()
		return
	}
	w, row, column, v := g.name("w"), g.name("r"), g.name("c"), g.name("v")
	g.line("%s, %s := 1+int(uint(%s)%%3), 1+int(uint(%s)%%2)", w, row, g.simple(), g.simple())
	g.line("%s := int(uint(%s)%%uint(%s))", column, g.simple(), w)
	at := fmt.Sprintf("%s*%s+%s", row, w, column)
	x := s.text
	g.line("%s := %s[%s] + %s[%s-1] - %s[%s+1] + %s[%s-%s] + %s[%s+%s]", v, x, at, x, at, x, at, x, at, w, x, at, w)
	g.line("_ = %s", v)
	g.declare(v, s.elem, false)
}

// choosePointer declares a pointer to one of two places.
func (g *gen) choosePointer() {
	p, ok := g.target(anything(g.r))
	if !ok {
		return
	}
	q, ok := g.target(is(p.typ))
	if !ok {
		return
	}
	name := g.name("p")
	if g.r.oneIn(2) {
		g.line("%s := choose(%s, &%s, &%s)", name, g.value(typeBool, 1), p.text, q.text)
	} else {
		g.line("%s := &%s", name, p.text)
		g.line("if %s {", g.value(typeBool, 1))
		g.line("\t%s = &%s", name, q.text)
		g.line("}")
	}
	g.line("*%s = %s", name, g.expr(p.typ, 2))
	g.declare("(*"+name+")", p.typ, false)
}

// pointers declares an array of pointers to variables that are read by these alone, or to others.
func (g *gen) pointers() {
	p, ok := g.find(is(pick(g.r, integers...)), true)
	if !ok {
		g.choosePointer()
		return
	}
	q := p
	if g.r.oneIn(2) {
		p.text, q.text = g.name("v"), g.name("v")
		g.line("%s, %s := %s, %s", p.text, q.text, g.value(p.typ, 1), g.value(p.typ, 1))
	} else if q, ok = g.find(is(p.typ), true); !ok {
		return
	}
	name := g.name("ps")
	g.line("%s := [2]*%s{&%s, &%s}", name, p.typ.name, p.text, q.text)
	g.line("_ = %s", name)
	if g.r.oneIn(2) {
		g.line("*%s[%s&1] = %s", name, g.simple(), g.expr(p.typ, 2))
	}
	g.declare(fmt.Sprintf("(*%s[%s&1])", name, g.simple()), p.typ, false)
}

// slicesOf declares an array of slices, and a slice that is one of them.
func (g *gen) slicesOf() {
	found := g.views()
	if len(found) == 0 {
		g.view()
		return
	}
	a := pick(g.r, found...)
	for _, b := range found {
		if b.elem == a.elem {
			name, one := g.name("ss"), g.name("s")
			g.line("%s := [2][]%s{%s, %s}", name, a.elem.name, a.text, b.text)
			g.line("%s := %s[%s&1]", one, name, g.simple())
			g.line("_ = %s", one)
			g.scope.slices = append(g.scope.slices, slice{text: one, elem: a.elem, writable: true})
			return
		}
	}
}

// regrow declares a slice that is shorter than what it was made of, and one that is as long again.
func (g *gen) regrow() {
	found := g.views()
	if len(found) == 0 {
		g.view()
		return
	}
	s := pick(g.r, found...)
	short, long := g.name("s"), g.name("s")
	g.line("%s := %s[:1:len(%s)]", short, s.text, s.text) // after it may be what is another thread's
	g.line("%s := %s[:cap(%s)]", long, short, short)
	g.line("_ = %s", long)
	g.scope.slices = append(g.scope.slices, slice{text: long, elem: s.elem, writable: true})
	if g.r.oneIn(2) {
		g.line("copy(%s[min(1, len(%s)-1):], %s)", long, long, long)
	}
}

// deferring calls a function that defers changes of a variable. Nothing in it faults: Go runs deferred calls then, a
// kernel does not.
func (g *gen) deferring() {
	faulty := g.faulty
	g.faulty = false
	defer func() { g.faulty = faulty }()
	p, ok := g.find(isInteger, true)
	if !ok || g.inClosure || g.trips > 8 {
		g.assign()
		return
	}
	t := p.typ.name
	g.line("func() {")
	g.line("\tdefer func(x %s) { %s = %s*3 + x }(%s)", t, p.text, p.text, g.expr(p.typ, 1))
	g.line("\t%s = %s", p.text, g.expr(p.typ, 1))
	g.line("\tif %s {", g.value(typeBool, 1))
	g.line("\t\treturn")
	g.line("\t}")
	g.line("\ty := %s", g.value(p.typ, 1))
	g.line("\tdefer func(x %s) { %s = %s ^ x }(y)", t, p.text, p.text)
	g.line("\ty++")
	g.line("\t%s -= y", p.text)
	g.line("}()")
}

// localAtomic changes a variable of the thread by an atomic operation.
func (g *gen) localAtomic() {
	p, ok := g.find(func(t *typ) bool { return containsType(atomics, t) }, true)
	if !ok {
		g.opAssign()
		return
	}
	name := g.name("v")
	switch g.r.IntN(3) {
	case 0:
		g.line("%s, %sok := gpu.AtomicCompareAndSwap(&%s, %s, %s)", name, name, p.text, pick(g.r, p.text, g.expr(p.typ, 1)), g.expr(p.typ, 1))
		g.line("_ = %sok", name)
		g.declare(name+"ok", typeBool, false)
	default:
		g.line("%s := gpu.Atomic%s(&%s, %s)", name, pick(g.r, "Add", "Sub", "Min", "Max", "And", "Or", "Xor", "Exchange"), p.text, g.expr(p.typ, 1))
	}
	g.line("_ = %s", name)
	g.declare(name, p.typ, false)
}

// texts compares strings that are one of several, and looks at their bytes.
func (g *gen) texts() {
	name, same, sum := g.name("text"), g.name("v"), g.name("v")
	g.line("%s := %q", name, pick(g.r, "", "a", "kernel", "kernels"))
	g.line("if %s {", g.value(typeBool, 1))
	g.line("\t%s = %q", name, pick(g.r, "a", "b", "kernel", "sernel", "kernelb"))
	g.line("}")
	g.line("%s, %s := %s %s %q, len(%s)", same, sum, name, pick(g.r, "==", "!="), pick(g.r, "a", "kernel"), name)
	g.line("for i, c := range \"a\\u00e9\\u20ac\" {")
	g.line("\t%s += i * int(c)", sum)
	g.line("}")
	g.line("_ = %s", same)
	g.declare(same, typeBool, false)
	g.declare(sum, typeInt, false)
}

// settle writes a loop that ends by a float, or after some rounds.
func (g *gen) settle() {
	p, ok := g.find(func(t *typ) bool { return t.kind == float }, true)
	if !ok || g.trips > 4 {
		g.assign()
		return
	}
	n := g.name("n")
	g.line("%s := 0", n)
	g.line("for {")
	g.line("\tif %s++; %s > %d {", n, n, g.r.between(3, 12))
	g.line("\t\tbreak")
	g.line("\t}")
	g.line("\t%s %s", p.text, pick(g.r, "/= 2", "*= 3", "-= 1.5"))
	g.line("\tif %s {", pick(g.r, p.text+" < 1", p.text+" >= 1000", p.text+" != "+p.text, "!("+p.text+" > 1)"))
	g.line("\t\tbreak")
	g.line("\t}")
	g.line("}")
	g.declare(n, typeInt, false)
}

// whole copies and exchanges large arrays, of which there are few.
func (g *gen) whole() {
	if g.larges > 0 || g.trips > 3 {
		g.assign()
		return
	}
	g.larges++
	t := pick(g.r, integers...)
	if g.r.oneIn(2) {
		g.exchanged(t)
		return
	}
	a, b, i, v := g.name("v"), g.name("v"), g.name("i"), g.name("v")
	n := g.r.between(65, 90)
	g.line("var %s, %s [%d]%s", a, b, n, t.name)
	g.line("for %s := range %d {", i, n/5)
	g.line("\t%s[%s*5] = %s(%s)", a, i, t.name, i)
	g.line("\t%s[%s*5+3] = %s", b, i, g.value(t, 0))
	g.line("}")
	g.line("for %s := range min(int(uint(%s)%%4), 3) {", i, g.simple())
	g.line("\t%s, %s = %s, %s", a, b, b, a)
	g.line("\t%s[%s] = 7", a, i)
	g.line("}")
	if g.r.oneIn(2) {
		g.line("*(*[%d]%s)(%s[%d:]) = [%d]%s(%s[:%d])", n-2, t.name, a, g.r.IntN(3), n-2, t.name, a, n-2)
	}
	g.line("%s := %s[uint(%s)%%%d] ^ %s[uint(%s)%%%d]", v, a, g.simple(), n, b, g.simple(), n)
	g.line("_ = %s", v)
	g.declare(v, t, false)
}

// exchanged has large arrays that are never changed in part change places.
func (g *gen) exchanged(t *typ) {
	a, b, i, v := g.name("v"), g.name("v"), g.name("i"), g.name("v")
	g.line("%s, %s := filled(%s), filled(%s)", a, b, g.value(t, 1), g.value(t, 1))
	g.line("for %s := range 1 + int(uint(%s)%%3) {", i, g.simple())
	g.line("\t_ = %s", i)
	g.line("\t%s, %s = %s, %s", a, b, b, a)
	g.line("}")
	g.line("if %s {", g.value(typeBool, 1))
	g.line("\t%s = %s", a, b)
	g.line("}")
	g.line("%s := at(%s, int(%s)) - at(%s, int(%s))", v, a, g.simple(), b, g.simple())
	g.line("_ = %s", v)
	g.declare(v, t, false)
}

// search looks for an element that ends it, in kernels that may fault where there is none.
func (g *gen) search() {
	s, ok := g.readable(1, isNumber)
	if !ok || !g.faulty || g.trips*s.least > maxReduced {
		g.reduce()
		return
	}
	i, x := g.name("n"), g.name("x")
	g.line("%s := 0", i)
	g.line("for {")
	g.line("\t%s := %s[%s]", x, s.text, i)
	g.line("\tif %s++; %s %s %s {", i, x, pick(g.r, "<", ">=", ">", "!="), g.literal(s.elem))
	g.line("\t\tbreak")
	g.line("\t}")
	g.line("}")
	g.declare(i, typeInt, false)
}
