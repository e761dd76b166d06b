package progen

import (
	"strings"
)

// function is one that a kernel calls.
type function struct {
	name   string
	params []*typ
	result *typ
}

// pure writes a function without effects.
func (g *gen) pure() {
	f := function{name: g.token + g.name("f"), result: g.anyType()}
	f.params = []*typ{typeInt}
	params := []string{"id int"}
	g.scope = scope{}
	g.declare("id", typeInt, false)
	for range g.r.between(1, 3) {
		t, name := g.anyType(), g.name("a")
		f.params = append(f.params, t)
		params = append(params, name+" "+t.name)
		g.declare(name, t, false)
	}
	if g.r.oneIn(2) {
		g.line("func %s(%s) %s {", f.name, strings.Join(params, ", "), f.result.name)
		g.body(f.result, nil)
	} else {
		g.line("func %s(%s) (r %s) {", f.name, strings.Join(params, ", "), f.result.name)
		g.declare("r", f.result, false)
		g.body(f.result, nil)
	}
	g.functions = append(g.functions, f)
}

// procedure writes a function that changes what its pointers lead to.
func (g *gen) procedure() {
	f := function{name: g.token + g.name("f")}
	f.params = []*typ{typeInt}
	params := []string{"id int"}
	g.scope = scope{}
	g.declare("id", typeInt, false)
	for i := range g.r.between(1, 3) {
		t, name := g.anyType(), g.name("a")
		f.params = append(f.params, t)
		if i == 0 || g.r.oneIn(2) {
			params = append(params, name+" *"+t.name)
			f.params[i+1] = &typ{name: "*", elem: t}
			g.declare("(*"+name+")", t, false)
		} else {
			params = append(params, name+" "+t.name)
			g.declare(name, t, false)
		}
	}
	g.line("func %s(%s) {", f.name, strings.Join(params, ", "))
	g.body(nil, func() { g.mayReturn = true })
	g.procedures = append(g.procedures, f)
}

// body writes the statements of a function and its end.
func (g *gen) body(result *typ, before func()) {
	saved := *g
	g.result, g.loops, g.trips, g.mayReturn = result, nil, 8, false
	if before != nil {
		before()
	}
	g.budget = g.r.between(1, 6)
	g.block(g.budget)
	if result != nil {
		g.line("\treturn %s", g.expr(result, 2))
	}
	g.line("}")
	g.result, g.loops, g.trips, g.mayReturn, g.budget = saved.result, saved.loops, saved.trips, saved.mayReturn, saved.budget
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
	g.line("%s(%s)", f.name, strings.Join(args, ", "))
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

// arrayType makes an array type known.
func (g *gen) arrayType() {
	elem := g.r.scalarType()
	if len(g.types) > 0 && g.r.oneIn(3) {
		elem = pick(g.r, g.types...)
	}
	g.types = append(g.types, arrayOf(pick(g.r, 1, 2, 3, 4, 5, 8), elem))
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
