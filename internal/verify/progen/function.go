package progen

import (
	"strings"
)

// function is one that a kernel calls.
type function struct {
	name   string
	params []*typ
	result *typ
	second *typ // of two results
	method bool // of the second parameter
}

// call returns a call with these arguments.
func (f function) call(args []string) string {
	if f.method {
		receiver := strings.TrimPrefix(args[1], "&")
		return "(" + receiver + ")." + f.name + "(" + strings.Join(append(args[:1:1], args[2:]...), ", ") + ")"
	}
	return f.name + "(" + strings.Join(args, ", ") + ")"
}

// pure writes a function without effects.
func (g *gen) pure() {
	f := function{name: g.token + g.name("f"), result: g.anyType(), params: []*typ{typeInt}}
	params := []string{"id int"}
	g.scope = scope{}
	g.declareTables()
	g.declare("id", typeInt, false)
	for range g.r.between(1, 3) {
		t, name := g.anyType(), g.name("a")
		f.params = append(f.params, t)
		params = append(params, name+" "+t.name)
		g.declare(name, t, false)
	}
	receiver := ""
	if f.method = f.params[1].kind == structure; f.method {
		receiver = "(" + params[1] + ") "
		params = append(params[:1:1], params[2:]...)
	}
	results := f.result.name
	switch g.r.IntN(3) {
	case 0:
		results = "(r " + f.result.name + ")"
		g.declare("r", f.result, false)
	case 1:
		f.second = g.anyType()
		results = "(" + f.result.name + ", " + f.second.name + ")"
	}
	g.line("func %s%s(%s) %s {", receiver, f.name, strings.Join(params, ", "), results)
	g.body(f.result, func() { g.second = f.second })
	g.functions = append(g.functions, f)
}

// values returns an expression for each of the types of a function's parameters.
func (g *gen) values(types []*typ, depth int) []string {
	var args []string
	for _, t := range types {
		args = append(args, g.expr(t, depth))
	}
	return args
}

// callForTwo declares the results of a function that has two.
func (g *gen) callForTwo() {
	for _, f := range g.functions {
		if f.second == nil || g.r.oneIn(3) {
			continue
		}
		x, y := g.name("v"), g.name("v")
		g.line("%s, %s := %s", x, y, f.call(g.values(f.params, 1)))
		g.line("_, _ = %s, %s", x, y)
		g.declare(x, f.result, false)
		g.declare(y, f.second, false)
		return
	}
	g.assign()
}

// procedure writes a function that changes what its pointers lead to.
func (g *gen) procedure() {
	f := function{name: g.token + g.name("f")}
	f.params = []*typ{typeInt}
	params := []string{"id int"}
	g.scope = scope{}
	g.declareTables()
	g.declare("id", typeInt, false)
	for i := range g.r.between(1, 3) {
		t, name := g.anyType(), g.name("a")
		f.params = append(f.params, t)
		if i > 0 && g.r.oneIn(3) {
			params = append(params, name+" []"+t.name)
			f.params[i+1] = &typ{name: "[]", elem: t}
			g.scope.slices = append(g.scope.slices, slice{text: name, elem: t, writable: true})
		} else if i == 0 || g.r.oneIn(2) {
			params = append(params, name+" *"+t.name)
			f.params[i+1] = &typ{name: "*", elem: t}
			g.declare("(*"+name+")", t, false)
		} else {
			params = append(params, name+" "+t.name)
			g.declare(name, t, false)
		}
	}
	receiver := ""
	if f.method = f.params[1].elem != nil && f.params[1].elem.kind == structure; f.method {
		receiver, params = "("+params[1]+") ", append(params[:1:1], params[2:]...)
	}
	g.line("func %s%s(%s) {", receiver, f.name, strings.Join(params, ", "))
	g.body(nil, func() { g.mayReturn = true })
	g.procedures = append(g.procedures, f)
}

// body writes the statements of a function and its end.
func (g *gen) body(result *typ, before func()) {
	saved := *g
	g.result, g.second, g.loops, g.trips, g.mayReturn = result, nil, nil, 8, false
	if before != nil {
		before()
	}
	g.budget = g.r.between(1, 6)
	g.block(g.budget)
	if result != nil {
		g.line("\treturn %s", g.returned())
	}
	g.line("}")
	g.result, g.second, g.loops, g.trips, g.mayReturn, g.budget = saved.result, saved.second, saved.loops, saved.trips, saved.mayReturn, saved.budget
}

// returned returns the results of a return statement.
func (g *gen) returned() string {
	text := g.expr(g.result, 2)
	if g.second != nil {
		text += ", " + g.expr(g.second, 1)
	}
	return text
}

// callProcedure calls one with places that are there.
func (g *gen) callProcedure() {
	if len(g.procedures) == 0 {
		g.assign()
		return
	}
	f := pick(g.r, g.procedures...)
	var args []string
	for _, t := range f.params {
		if t.name == "[]" {
			text, ok := g.ownSlice(t.elem)
			if !ok {
				g.assign()
				return
			}
			args = append(args, text)
			continue
		}
		if t.name != "*" {
			args = append(args, g.expr(t, 1))
			continue
		}
		p, ok := g.target(is(t.elem))
		if !ok {
			g.assign()
			return
		}
		args = append(args, "&"+p.text)
	}
	g.line("%s", f.call(args))
}

// ownSlice returns a slice that only this thread has, and that is not empty.
func (g *gen) ownSlice(elem *typ) (string, bool) {
	for _, s := range g.views() {
		if s.elem == elem && !g.r.oneIn(3) {
			return s.text, true
		}
	}
	p, ok := g.find(func(t *typ) bool { return t.kind == array && t.elem == elem }, true)
	return p.text + "[:]", ok
}

// closure declares a function in a function, and calls it.
func (g *gen) closure() {
	if g.inClosure {
		g.assign()
		return
	}
	t, u := g.r.scalarType(), g.r.scalarType()
	name, arg := g.name("f"), g.name("a")
	g.line("%s := func(%s %s) %s {", name, arg, t.name, u.name)
	saved := g.scope.clone()
	g.declare(arg, t, false)
	g.inClosure = true
	g.body(u, nil)
	g.inClosure = false
	g.scope = saved
	for range g.r.between(1, 2) {
		result := g.name("v")
		g.line("%s := %s(%s)", result, name, g.expr(t, 1))
		g.line("_ = %s", result)
		g.declare(result, u, false)
	}
}

// anyType returns a type of the kernel's, or a scalar one.
func (g *gen) anyType() *typ {
	if g.r.oneIn(4) {
		return pick(g.r, g.types...)
	}
	return g.r.scalarType()
}

// structType declares a struct.
func (g *gen) structType() {
	t := &typ{name: g.token + g.name("S"), kind: structure}
	g.line("type %s struct {", t.name)
	for i := range g.r.between(1, 4) {
		f := g.r.scalarType()
		if len(g.types) > 0 && g.r.oneIn(4) {
			f = pick(g.r, g.types...)
		}
		t.fields = append(t.fields, f)
		g.line("\tF%d %s", i, f.name)
	}
	g.line("}")
	g.types = append(g.types, t)
}

// large is the number of scalars that few types have.
const large = 24

// arrayType makes an array type known.
func (g *gen) arrayType() {
	elem := g.r.scalarType()
	if len(g.types) > 0 && g.r.oneIn(3) {
		elem = pick(g.r, g.types...)
	}
	n := pick(g.r, 1, 2, 3, 4, 5, 8)
	if n*elem.size() > large && !g.r.oneIn(8) {
		n = 1 // large ones take long to compile: a few must do
	}
	g.types = append(g.types, arrayOf(n, elem))
}

// size returns how many scalars a value of t has.
func (t *typ) size() int {
	switch t.kind {
	case array:
		return t.length * t.elem.size()
	case structure:
		n := 0
		for _, f := range t.fields {
			n += f.size()
		}
		return n
	}
	return 1
}

// bytes returns the bytes that a value of t takes.
func (t *typ) bytes() int {
	n, _ := t.place()
	return n
}

// place returns the size and the alignment of t.
func (t *typ) place() (size, align int) {
	switch t.kind {
	case boolean:
		return 1, 1
	case array:
		size, align = t.elem.place()
		return t.length * size, align
	case structure:
		align = 1
		for _, f := range t.fields {
			n, a := f.place()
			size = (size+a-1)/a*a + n
			align = max(align, a)
		}
		return (size + align - 1) / align * align, align
	}
	return t.bits / 8, t.bits / 8
}
