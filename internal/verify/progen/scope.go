package progen

import "fmt"

// A variable is an operand with a type, which may be assigned unless it is constant.
type variable struct {
	text     string
	typ      *typ
	constant bool // it is not assigned
}

// slice is a slice that is in scope.
type slice struct {
	text string
	elem *typ
	// own is how many of its elements each thread has for itself, from own times that number on; 0
	// where the thread may read all.
	own      int
	writable bool
	least    int // its length, where that is known; the compiler does not know it
}

// scope is what names mean at one point of a function.
type scope struct {
	places []variable
	slices []slice
}

func (s scope) clone() scope {
	return scope{append([]variable(nil), s.places...), append([]slice(nil), s.slices...)}
}

// find returns a place, or a part of one, whose type is wanted.
func (g *gen) find(want func(*typ) bool, assign bool) (variable, bool) {
	var found []variable
	for _, p := range g.scope.places {
		if reaches(p.typ, want) && !(assign && p.constant) {
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		return variable{}, false
	}
	p := pick(g.r, found...)
	for !want(p.typ) {
		p = g.part(p, want)
	}
	return p, true
}

// part returns an element or a field of p that reaches what is wanted.
func (g *gen) part(p variable, want func(*typ) bool) variable {
	if p.typ.kind == array {
		return variable{text: p.text + "[" + g.arrayIndex(p.typ.length) + "]", typ: p.typ.elem, constant: p.constant}
	}
	var found []variable
	for i, f := range p.typ.fields {
		if reaches(f, want) {
			found = append(found, variable{text: fmt.Sprintf("%s.F%d", p.text, i), typ: f, constant: p.constant})
		}
	}
	return pick(g.r, found...)
}

// reaches reports whether t or a part of it is wanted.
func reaches(t *typ, want func(*typ) bool) bool {
	if want(t) {
		return true
	}
	if t.kind == array {
		return reaches(t.elem, want)
	}
	for _, f := range t.fields {
		if reaches(f, want) {
			return true
		}
	}
	return false
}

// name returns a fresh name.
func (g *gen) name(prefix string) string {
	g.names++
	return fmt.Sprintf("%s%d", prefix, g.names)
}

// declare adds a variable to the scope.
func (g *gen) declare(name string, t *typ, constant bool) {
	g.scope.places = append(g.scope.places, variable{text: name, typ: t, constant: constant})
}
