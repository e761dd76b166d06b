package jinja

import (
	"slices"
	"strings"
)

// run is one run of a template.
type run struct {
	work
	out *strings.Builder // where tags print
}

// scope holds the variables of a template, of an iteration, or of a call of a macro.
type scope struct {
	vars  map[string]Value
	outer *scope
}

func (s *scope) inside() *scope { return &scope{map[string]Value{}, s} }

// get returns the value of a variable or of a function of Jinja.
func (s *scope) get(name string) Value {
	for ; s != nil; s = s.outer {
		if v, ok := s.vars[name]; ok {
			return v
		}
	}
	if f := function(name); f != nil {
		return f
	}
	return Undefined{name}
}

// print adds text to what the template prints.
func (r *run) print(s string) {
	if r.printed += len(s); r.printed > mostPrinted {
		r.fail("the template prints more than %d bytes", mostPrinted)
	}
	r.read(len(s))
	r.out.WriteString(s)
}

// capture returns what statements print.
func (r *run) capture(body []statement, s *scope) string {
	out := r.out
	defer func() { r.out = out }()
	r.out = &strings.Builder{}
	r.body(body, s)
	return r.out.String()
}

// body runs statements until one of them leaves the loop around them.
func (r *run) body(list []statement, s *scope) flow {
	r.enter()
	defer r.leave()
	for _, st := range list {
		if f := st.exec(r, s); f != normal {
			return f
		}
	}
	return normal
}

// at counts a statement at a line.
func (r *run) at(line int) {
	r.line = line
	r.spend(1)
}

func (t text) exec(r *run, _ *scope) flow {
	r.print(t.text)
	return normal
}

func (p printed) exec(r *run, s *scope) flow {
	r.at(p.line)
	r.print(r.str(p.value.eval(r, s)))
	return normal
}

func (list branches) exec(r *run, s *scope) flow {
	for _, b := range list {
		r.at(b.line)
		if b.condition == nil || truthy(b.condition.eval(r, s)) {
			return r.body(b.body, s)
		}
	}
	return normal
}

func (b inner) exec(r *run, s *scope) flow { return r.body(b.body, s.inside()) }
func (j jump) exec(*run, *scope) flow      { return j.to }

func (a assignment) exec(r *run, s *scope) flow {
	r.at(a.line)
	a.target.set(r, s, a.value.eval(r, s))
	return normal
}

// set assigns a value.
func (t target) set(r *run, s *scope, v Value) {
	switch {
	case t.parts != nil:
		list := r.iterate(v)
		if len(list) != len(t.parts) {
			r.fail("%d values for %d variables", len(list), len(t.parts))
		}
		for i, part := range t.parts {
			part.set(r, s, list[i])
		}
	case t.attribute != "":
		n, ok := s.get(t.name).(*namespace)
		if !ok {
			r.fail("%s is not a namespace", t.name)
		}
		r.put(n.Dict, t.attribute, v)
	default:
		s.vars[t.name] = v
	}
}

// put sets a key of a dictionary.
func (r *run) put(d *Dict, key, v Value) {
	if !isKey(key) {
		r.fail("a value of type %s cannot be a key", kindOf(key))
	}
	r.elements(1, len(d.keys)+1)
	d.put(key, v)
}

func (b block) exec(r *run, s *scope) flow {
	r.at(b.line)
	b.target.set(r, s, r.filter(b.filters, b.body, s))
	return normal
}

func (b filterBlock) exec(r *run, s *scope) flow {
	r.at(b.line)
	r.print(r.str(r.filter(b.filters, b.body, s)))
	return normal
}

// filter returns what filters, unless they are nil, make of what statements print.
func (r *run) filter(filters expression, body []statement, s *scope) Value {
	in := s.inside()
	text := r.capture(body, in)
	if filters == nil {
		return text
	}
	in = s.inside()
	in.vars[captured] = text
	return filters.eval(r, in)
}

func (w with) exec(r *run, s *scope) flow {
	r.at(w.line)
	in := s.inside()
	for i, e := range w.values {
		w.names[i].set(r, in, e.eval(r, s))
	}
	return r.body(w.body, in)
}

func (d *definition) exec(r *run, s *scope) flow {
	s.vars[d.name] = &macro{d, s}
	return normal
}

func (c callBlock) exec(r *run, s *scope) flow {
	r.at(c.line)
	a := c.call.arguments(r, s)
	named := map[string]Value{"caller": &macro{c.caller, s}}
	for name, v := range a.named {
		named[name] = v
	}
	r.print(r.str(r.call(c.call.function.eval(r, s), arguments{a.list, named})))
	return normal
}

// macro is a macro with the variables around it.
type macro struct {
	*definition
	scope *scope
}

// call returns what a macro prints.
func (m *macro) call(r *run, a arguments) Value {
	line := r.line
	if r.macros++; r.macros > mostMacros {
		r.fail("macros of the template call each other more than %d deep", mostMacros)
	}
	r.spend(1)
	s := m.scope.inside()
	m.bind(r, s, a)
	text := r.capture(m.body, s)
	r.macros--
	r.line = line
	return text
}

// bind sets the parameters of a macro.
func (m *macro) bind(r *run, s *scope, a arguments) {
	for i, p := range m.params {
		v, ok := a.named[p.name]
		switch {
		case i < len(a.list):
			if ok {
				r.fail("the macro %s got two values for %s", m.name, p.name)
			}
			v = a.list[i]
		case ok:
		case p.otherwise != nil:
			v = p.otherwise.eval(r, s)
		default:
			v = Undefined{p.name}
		}
		s.vars[p.name] = v
	}
	var others []Value
	if len(a.list) > len(m.params) {
		others = a.list[len(m.params):]
	}
	rest := NewDict()
	for _, name := range sortedNames(a.named) {
		switch {
		case slices.ContainsFunc(m.params, func(p parameter) bool { return p.name == name }):
		case name == "caller":
			s.vars[name] = a.named[name]
		default:
			r.put(rest, name, a.named[name])
		}
	}
	s.vars["varargs"], s.vars["kwargs"] = &List{items: others, tuple: true}, rest
}
