package schema

import "github.com/gopherwarp/gopherwarp/grammar/internal/machine"

// arrayStates makes the states of one kind of arrays.
type arrayStates struct {
	*compiler
	*arrays
	contains contains // if the demand is one
	demands  bool
	top      int              // after as many elements, all are the same
	after    map[[2]int]int32 // by the number of elements and the number of those that contains demands
}

// array adds the steps of arrays to a state.
func (c *compiler) array(start int32, a *arrays) error {
	s := arrayStates{compiler: c, arrays: a, after: map[[2]int]int32{}}
	if a.unique != nil && a.most > 1 {
		return c.uniqueArray(start, a)
	}
	if len(a.contains) > 1 {
		return unsupported(a.contains[1].at, "several of this keyword for the same array")
	}
	if len(a.contains) == 1 {
		s.contains, s.demands = a.contains[0], true
	}
	if s.top = max(len(a.prefix), a.least); a.most < unbounded {
		s.top = a.most
	}
	open := c.program.Add(machine.State{})
	c.lexeme(start, c.Concat(c.Literal("["), c.space), open)
	if s.closes(0, 0) {
		c.lexeme(open, c.Literal("]"), c.end)
	}
	if err := s.element(open, [2]int{}); err != nil {
		return err
	}
	return nil
}

// closes reports whether an array may end.
func (s *arrayStates) closes(n, k int) bool {
	return n >= s.least && (!s.demands || s.contains.least <= k)
}

// element adds the steps over the element after some elements.
func (s *arrayStates) element(from int32, first [2]int) error {
	type place struct {
		from int32
		at   [2]int
	}
	for list := []place{{from, first}}; len(list) > 0; {
		p := list[len(list)-1]
		list = list[:len(list)-1]
		n, k := p.at[0], p.at[1]
		if n >= s.most {
			continue
		}
		to := func(k int) int32 {
			at := [2]int{min(n+1, s.top), k}
			next, ok := s.after[at]
			if !ok {
				next = s.program.Add(machine.State{})
				s.after[at] = next
				if s.closes(at[0], k) {
					s.lexeme(next, s.Concat(s.space, s.Literal("]")), s.end)
				}
				if n+1 < s.most {
					item := s.program.Add(machine.State{})
					s.lexeme(next, s.comma, item)
					list = append(list, place{item, at})
				}
			}
			return next
		}
		s.elements(p.from, s.arrays.element(n), k, to)
		if err := s.made(); err != nil {
			return err
		}
	}
	return nil
}

// elements adds the calls for an element. With contains, they count the elements that it demands.
func (s *arrayStates) elements(from int32, x conjunction, k int, to func(k int) int32) {
	if !s.demands {
		s.call(from, s.lower(x), to(0))
		return
	}
	other := x
	if s.contains.most < unbounded {
		other = s.both(other, s.contains.other)
	}
	s.call(from, s.lower(other), to(k))
	if k < s.contains.most {
		next := k + 1
		if s.contains.most == unbounded {
			next = min(next, s.contains.least)
		}
		s.call(from, s.lower(s.both(x, s.contains.element)), to(next))
	}
}
