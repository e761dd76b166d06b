package schema

import (
	"errors"
	"fmt"
	"slices"
)

// literal is a schema, or its negation.
type literal struct {
	at      *value
	negated bool
}

// conjunction is a list of literals in the order of the text, without duplicates; the empty one is satisfied by every value.
type conjunction []literal

// of returns the conjunction of one schema.
func of(v *value) conjunction {
	if trivial(v) {
		return nil
	}
	return conjunction{{at: v}}
}

// trivial reports whether every value satisfies a schema.
func trivial(v *value) bool { return v.kind == 't' || v.kind == '{' && len(v.names) == 0 }

// negation returns the conjunction of the negation of one schema.
func negation(v *value) conjunction { return conjunction{{at: v, negated: true}} }

// both returns a conjunction of conjunctions.
func (c *compiler) both(a, b conjunction) conjunction {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	}
	all := slices.Concat(a, b)
	slices.SortFunc(all, func(x, y literal) int {
		if x.at.id != y.at.id {
			return x.at.id - y.at.id
		}
		if x.negated == y.negated {
			return 0
		}
		if x.negated {
			return 1
		}
		return -1
	})
	return slices.Compact(all)
}

// key identifies a conjunction.
func (x conjunction) key() string {
	b := make([]byte, 0, 8*len(x))
	for _, l := range x {
		b = fmt.Appendf(b, "%d %v,", l.at.id, l.negated)
	}
	return string(b)
}

// expansion is what is known about a conjunction.
type expansion struct {
	union union
	err   error
	done  bool
}

// expand returns the bundles of a conjunction.
func (c *compiler) expand(x conjunction) (union, error) {
	key := x.key()
	e := c.expansions[key]
	if e == nil {
		e = &expansion{}
		c.expansions[key] = e
		if c.depth++; c.depth > 2*maxDepth {
			return nil, ErrLimit
		}
		list := make([]union, len(x))
		for i := 0; i < len(x) && e.err == nil; i++ {
			list[i], e.err = c.literal(x[i])
		}
		if e.err == nil {
			e.union, e.err = c.meetAll(list...)
		}
		c.depth--
		e.done = true
	} else if !e.done {
		return nil, unsupported(x[0].at, "a schema that refers to itself")
	}
	return e.union, e.err
}

// literal returns the bundles of a literal.
func (c *compiler) literal(l literal) (union, error) {
	if c.inside[l] {
		return nil, unsupported(l.at, "a schema that refers to itself")
	}
	c.inside[l] = true
	defer delete(c.inside, l)
	if l.negated {
		return c.negative(l.at)
	}
	return c.positive(l.at)
}

// apart expands a conjunction that is not part of the ones that are being expanded, but a schema of their members.
func (c *compiler) apart(x conjunction) (union, error) {
	inside := c.inside
	c.inside = map[literal]bool{}
	defer func() { c.inside = inside }()
	return c.expand(x)
}

// empty reports whether no value satisfies a conjunction. What is not found out is taken for one that has values.
func (c *compiler) empty(x conjunction) (bool, error) {
	if len(x) == 0 || c.depth > maxDepth {
		return false, nil
	}
	if e := c.expansions[x.key()]; e != nil && !e.done {
		return false, nil
	}
	u, err := c.apart(x)
	if errors.Is(err, ErrUnsupported) {
		return false, nil
	}
	return len(u) == 0, err
}
