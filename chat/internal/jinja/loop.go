package jinja

import (
	"maps"
	"slices"
)

// sortedNames returns the names of arguments.
func sortedNames(named map[string]Value) []string { return slices.Sorted(maps.Keys(named)) }

// iteration is the variable loop.
type iteration struct {
	l     *loop
	scope *scope // around the loop
	list  []Value
	at    int
	depth int
	last  []Value // arguments of the last call of changed
}

func (l loop) exec(r *run, s *scope) flow {
	r.at(l.line)
	list := r.iterate(l.list.eval(r, s))
	return l.iterate(r, &iteration{l: &l, scope: s, list: list})
}

// iterate runs the body for all elements.
func (l loop) iterate(r *run, it *iteration) flow {
	if l.condition != nil {
		it.list = slices.DeleteFunc(slices.Clone(it.list), func(v Value) bool {
			r.at(l.line)
			in := it.scope.inside()
			l.target.set(r, in, v)
			return !truthy(l.condition.eval(r, in))
		})
	}
	if len(it.list) == 0 {
		return r.body(l.otherwise, it.scope.inside())
	}
	for ; it.at < len(it.list); it.at++ {
		r.at(l.line)
		in := it.scope.inside()
		in.vars["loop"] = it
		l.target.set(r, in, it.list[it.at])
		if r.body(l.body, in) == broke {
			break
		}
	}
	return normal
}

// call runs the loop for other elements, within its body.
func (it *iteration) call(r *run, a arguments) Value {
	if !it.l.recursive {
		r.fail("the loop is not recursive")
	}
	if r.macros++; r.macros > mostMacros {
		r.fail("loops of the template call themselves more than %d deep", mostMacros)
	}
	nested := &iteration{l: it.l, scope: it.scope, list: r.iterate(a.get(0, "iterable", nil)), depth: it.depth + 1}
	text := r.capture([]statement{nested}, it.scope)
	r.macros--
	return text
}

// exec runs a nested loop.
func (it *iteration) exec(r *run, _ *scope) flow { return it.l.iterate(r, it) }

// attribute returns an attribute of the variable loop.
func (it *iteration) attribute(name string) Value {
	n := len(it.list)
	switch name {
	case "index":
		return int64(it.at + 1)
	case "index0":
		return int64(it.at)
	case "revindex":
		return int64(n - it.at)
	case "revindex0":
		return int64(n - it.at - 1)
	case "first":
		return it.at == 0
	case "last":
		return it.at == n-1
	case "length":
		return int64(n)
	case "depth":
		return int64(it.depth + 1)
	case "depth0":
		return int64(it.depth)
	case "previtem":
		if it.at > 0 {
			return it.list[it.at-1]
		}
	case "nextitem":
		if it.at+1 < n {
			return it.list[it.at+1]
		}
	case "cycle":
		return builtin(it.cycle)
	case "changed":
		return builtin(it.changed)
	}
	return Undefined{name}
}

func (it *iteration) cycle(r *run, a arguments) Value {
	if len(a.list) == 0 {
		r.fail("loop.cycle without values")
	}
	return a.list[it.at%len(a.list)]
}

func (it *iteration) changed(r *run, a arguments) Value {
	same := it.last != nil && slices.EqualFunc(it.last, a.list, r.equal)
	it.last = append([]Value{}, a.list...)
	return !same
}
