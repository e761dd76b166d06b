package schema

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/grammar/internal/machine"
	"github.com/gopherwarp/gopherwarp/grammar/internal/regular"
)

// maxClasses is the largest number of sets into which patterns divide names.
const maxClasses = 64

// memberOf is a member that a schema names.
type memberOf struct {
	key      *regular.Term
	value    conjunction
	required bool
}

// class is a set of names whose members have the same schema.
type class struct {
	key   *regular.Term
	value conjunction
}

// objectStates makes the states of one kind of objects: the named members come in their order, and then the others.
type objectStates struct {
	*compiler
	*objects
	members []memberOf
	extra   []class
	states  map[progress]int32 // before the name of a member
	after   map[progress]int32 // after a member
	list    []progress         // whose states have no steps yet
}

// progress is what is known about the members before a place.
type progress struct {
	next  int  // of members
	extra bool // there is one without a name in the schema
	least int  // how many there are for the lower bound, up to the bound
	most  int  // how many there are for the upper bound, if there is one
}

// object adds the steps of objects to a state.
func (c *compiler) object(start int32, o *objects) error {
	own := *o
	s := &objectStates{compiler: c, objects: &own, states: map[progress]int32{}, after: map[progress]int32{}}
	if err := s.name(); err != nil {
		return err
	}
	if err := s.simplify(); err != nil {
		return err
	}
	open := c.program.Add(machine.State{})
	c.lexeme(start, c.Concat(c.Literal("{"), c.space), open)
	c.skip(open, s.state(progress{}))
	s.close(open, progress{}, c.Literal("}"))
	for len(s.list) > 0 {
		p := s.list[len(s.list)-1]
		s.list = s.list[:len(s.list)-1]
		if p.next < len(s.members) {
			s.named(p)
		} else {
			s.rest(p)
		}
		if err := c.made(); err != nil {
			return err
		}
	}
	return nil
}

// simplify removes bounds that always hold, since states count up to the bounds. Members that the schema does not name count as one,
// since they may all have the same name.
func (s *objectStates) simplify() error {
	needed := 0
	for _, m := range s.members {
		if m.required {
			needed++
		}
	}
	if s.least <= needed {
		s.least = 0
	}
	if len(s.extra) == 0 && len(s.members) <= s.most {
		s.most = unbounded
	}
	if s.least > len(s.members)+1 && len(s.extra) > 0 {
		return unsupported(s.fewest, "more members than the schema names, and one")
	}
	return nil
}

// name finds the members and the classes of the other names.
func (s *objectStates) name() error {
	var names []string
	for _, l := range s.layers {
		names = append(names, l.names...)
	}
	names = append(names, s.required...)
	seen := map[string]bool{}
	var spelled []*regular.Term
	for _, name := range names {
		if seen[name] {
			continue
		}
		seen[name] = true
		t := s.alphabet.Spell(name)
		spelled = append(spelled, t)
		m := memberOf{key: s.keyOf(t), value: s.member(s.objects, name), required: slices.Contains(s.required, name)}
		empty, err := s.empty(m.value)
		if err != nil {
			return err
		}
		if !empty || m.required {
			s.members = append(s.members, m)
		}
	}
	return s.classify(spelled)
}

// keyOf returns the spelling of a name with the colon.
func (s *objectStates) keyOf(content *regular.Term) *regular.Term {
	return s.Concat(s.quoted(content), s.colon)
}

// classify divides the names that the schema does not have by the patterns that they match.
func (s *objectStates) classify(spelled []*regular.Term) error {
	all := s.And(append([]*regular.Term{s.alphabet.Text, s.Not(s.Alt(spelled...))}, s.names...)...)
	free := len(spelled) == 0 && len(s.names) == 0
	type part struct {
		names   *regular.Term
		matched []*patterned
	}
	parts := []part{{names: all}}
	for _, l := range s.layers {
		for i := range l.patterns {
			free = false
			p := &l.patterns[i]
			var next []part
			for _, x := range parts {
				if in := s.And(x.names, p.names); s.Alive(in) {
					next = append(next, part{in, append(slices.Clone(x.matched), p)})
				}
				if out := s.And(x.names, s.Not(p.names)); s.Alive(out) {
					next = append(next, part{out, x.matched})
				}
			}
			if parts = next; len(parts) > maxClasses {
				return ErrLimit
			}
		}
	}
	for _, x := range parts {
		k := class{key: s.keyOf(x.names)}
		if free {
			k.key = s.keyOf(nil)
		}
		for _, l := range s.layers {
			k.value = s.both(k.value, s.valueOf(l, x.matched))
		}
		empty, err := s.empty(k.value)
		if err != nil {
			return err
		}
		if !empty {
			s.extra = append(s.extra, k)
		}
	}
	return nil
}

// valueOf returns what a layer demands of a member whose name it does not have.
func (s *objectStates) valueOf(l *layer, matched []*patterned) conjunction {
	var all conjunction
	found := false
	for i := range l.patterns {
		if slices.Contains(matched, &l.patterns[i]) {
			all, found = s.both(all, l.patterns[i].value), true
		}
	}
	if !found {
		return l.extra
	}
	return all
}

// state returns the state before a name.
func (s *objectStates) state(p progress) int32 {
	i, ok := s.states[p]
	if !ok {
		i = s.program.Add(machine.State{})
		s.states[p] = i
		s.list = append(s.list, p)
	}
	return i
}

// follow returns the state after a member.
func (s *objectStates) follow(p progress) int32 {
	i, ok := s.after[p]
	if !ok {
		i = s.program.Add(machine.State{})
		s.after[p] = i
		s.lexeme(i, s.comma, s.state(p))
		s.close(i, p, s.Concat(s.space, s.Literal("}")))
	}
	return i
}

// close adds the end to a state if the object may end there.
func (s *objectStates) close(from int32, p progress, end *regular.Term) {
	if p.least < s.least || slices.ContainsFunc(s.members[p.next:], func(m memberOf) bool { return m.required }) {
		return
	}
	s.lexeme(from, end, s.end)
}

// count returns the progress after a further member.
func (s *objectStates) count(p progress, extra bool) progress {
	if !extra || !p.extra { // two others may have the same name, which is one member
		p.least = min(p.least+1, s.least)
	}
	p.extra = extra && s.least > 0
	if s.most < unbounded {
		p.most++
	}
	return p
}

// named adds the steps over a member that the schema names.
func (s *objectStates) named(p progress) {
	from, m := s.state(p), s.members[p.next]
	p.next++
	if !m.required {
		s.skip(from, s.state(p))
	}
	s.step(from, [2]progress{p, s.count(p, false)}, class{m.key, m.value})
}

// step adds the steps over a member.
func (s *objectStates) step(from int32, p [2]progress, k class) {
	if p[0].most >= s.most {
		return
	}
	value := s.program.Add(machine.State{})
	s.lexeme(from, k.key, value)
	s.call(value, s.lower(k.value), s.follow(p[1]))
}

// rest adds the steps over other members.
func (s *objectStates) rest(p progress) {
	for _, k := range s.extra {
		s.step(s.state(p), [2]progress{p, s.count(p, true)}, k)
	}
}
