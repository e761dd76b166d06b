package pattern

import (
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/grammar/internal/regular"
)

// ErrUnsupported is the error of an expression that has no term.
var ErrUnsupported = errors.New("unsupported regular expression")

// operation is what a node does.
type operation uint8

const (
	class  operation = iota // one character of ranges
	joined                  // list, one after another
	either                  // one of list
	looped                  // least to most times list[0]
	begin                   // the beginning of the text
	end                     // the end
	ahead                   // list[0] matches here
	except                  // list[0] does not match here
)

// node is a node of a syntax tree.
type node struct {
	operation   operation
	ranges      []rune // pairs
	list        []*node
	least, most int32
}

// assertive reports whether a node has an assertion.
func (n *node) assertive() bool {
	if n.operation >= begin {
		return true
	}
	for _, x := range n.list {
		if x.assertive() {
			return true
		}
	}
	return false
}

// side is what is beside a node, to the left or to the right.
type side uint8

const (
	inner    side = iota // another node
	edge                 // the edge of the text
	anything             // any text, and then the edge
)

// converter makes terms of nodes.
type converter struct{ *Alphabet }

// search returns the texts in which n matches somewhere.
func (a *Alphabet) search(n *node) (*regular.Term, error) {
	c := converter{a}
	return c.term(n, anything, anything)
}

// whole returns the texts that n matches from the beginning to the end.
func (a *Alphabet) whole(n *node) (*regular.Term, error) {
	c := converter{a}
	return c.term(n, edge, edge)
}

// term returns the language of a node with what is beside it.
func (c *converter) term(n *node, left, right side) (*regular.Term, error) {
	switch n.operation {
	case class:
		return c.beside(left, c.Class(n.ranges), right), nil
	case joined:
		return c.join(n.list, left, right)
	case either:
		return c.either(n.list, left, right)
	case looped:
		return c.loop(n, left, right)
	}
	return c.join([]*node{n}, left, right)
}

// beside returns a term with the text beside it.
func (c *converter) beside(left side, t *regular.Term, right side) *regular.Term {
	if left == anything {
		t = c.Concat(c.Text, t)
	}
	if right == anything {
		t = c.Concat(t, c.Text)
	}
	return t
}

func (c *converter) either(list []*node, left, right side) (*regular.Term, error) {
	terms := make([]*regular.Term, len(list))
	for i, n := range list {
		t, err := c.term(n, left, right)
		if err != nil {
			return nil, err
		}
		terms[i] = t
	}
	return c.Alt(terms...), nil
}

// join returns the language of nodes, one after another.
func (c *converter) join(list []*node, left, right side) (*regular.Term, error) {
	for len(list) > 0 && list[0].operation == begin && left != inner {
		list, left = list[1:], edge
	}
	for len(list) > 0 && list[len(list)-1].operation == end && right != inner {
		list, right = list[:len(list)-1], edge
	}
	if len(list) == 0 {
		return c.nothing(left, right), nil
	}
	if n := list[0]; n.operation == ahead || n.operation == except {
		return c.look(n, list[1:], [2]side{left, right})
	}
	if len(list) == 1 {
		if list[0].operation >= begin {
			return nil, fmt.Errorf("%w: an assertion within the text", ErrUnsupported)
		}
		return c.term(list[0], left, right)
	}
	first, err := c.term(list[0], left, inner)
	if err != nil {
		return nil, err
	}
	rest, err := c.join(list[1:], inner, right)
	if err != nil {
		return nil, err
	}
	return c.Concat(first, rest), nil
}

// nothing returns the language of no node.
func (c *converter) nothing(left, right side) *regular.Term {
	if left == anything || right == anything {
		return c.Text
	}
	return c.Empty()
}

// look returns the language of an assertion about what follows it, and of the nodes that follow.
func (c *converter) look(n *node, rest []*node, sides [2]side) (*regular.Term, error) {
	if sides[1] == inner {
		return nil, fmt.Errorf("%w: a lookahead within a group", ErrUnsupported)
	}
	before := edge
	if sides[0] == inner {
		before = inner
	}
	condition, err := c.term(n.list[0], before, anything)
	if err != nil {
		return nil, err
	}
	follows, err := c.join(rest, before, sides[1])
	if err != nil {
		return nil, err
	}
	if n.operation == except {
		condition = c.Not(condition)
	}
	t := c.And(condition, follows)
	if sides[0] == anything {
		t = c.Concat(c.Text, t)
	}
	return t, nil
}

// loop returns the language of a repetition.
func (c *converter) loop(n *node, left, right side) (*regular.Term, error) {
	body := n.list[0]
	if !body.assertive() {
		t, err := c.term(body, inner, inner)
		if err != nil {
			return nil, err
		}
		return c.beside(left, c.Repeat(t, n.least, n.most), right), nil
	}
	if n.most != 1 {
		return nil, fmt.Errorf("%w: an assertion in a repetition", ErrUnsupported)
	}
	t, err := c.term(body, left, right)
	if n.least == 0 && err == nil {
		t = c.Alt(t, c.nothing(left, right))
	}
	return t, err
}
