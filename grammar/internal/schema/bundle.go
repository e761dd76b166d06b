package schema

import "github.com/gopherwarp/gopherwarp/grammar/internal/regular"

// types is a set of types of values.
type types uint8

const (
	null types = 1 << iota
	no         // false
	yes        // true
	number
	text
	array
	object
	boolean  = no | yes
	anything = object<<1 - 1
)

// bundle is a set of values: for each of its types those that satisfy the type's constraint.
type bundle struct {
	types  types
	number *regular.Term // spelled numbers; nil for all
	text   *regular.Term // spelled contents of strings; nil for all
	array  arrays
	object objects
}

// unbounded is an upper bound that is none.
const unbounded = 1 << 30

// arrays is the constraint for arrays.
type arrays struct {
	prefix      []conjunction
	rest        conjunction // for elements after the prefix
	least, most int
	contains    []contains
	unique      *value // the keyword, or nil
}

// contains is the demand that least to most elements satisfy a schema.
type contains struct {
	element, other conjunction // other is what the other elements satisfy, if most matters
	least, most    int
	at             *value
}

// element returns the schema of an element.
func (a *arrays) element(i int) conjunction {
	if i < len(a.prefix) {
		return a.prefix[i]
	}
	return a.rest
}

// objects is the constraint for objects.
type objects struct {
	layers      []*layer
	required    []string
	least, most int
	fewest      *value          // the keyword with the lower bound, or nil
	names       []*regular.Term // of which all must have each name
}

// layer is the constraint of the keywords properties, patternProperties and additionalProperties of one schema.
type layer struct {
	names    []string
	fields   map[string]conjunction
	patterns []patterned
	extra    conjunction
}

// patterned is the schema of members whose names match a pattern.
type patterned struct {
	names *regular.Term
	value conjunction
}

// everything returns the bundle of all values.
func everything() *bundle {
	return &bundle{types: anything, array: arrays{most: unbounded}, object: objects{most: unbounded}}
}

// only returns the bundle of all values of some types.
func only(t types) *bundle {
	b := everything()
	b.types = t
	return b
}

// union is a list of bundles, whose values it has.
type union []*bundle

// term returns the intersection of two constraints that may be nil.
func (c *compiler) term(a, b *regular.Term) *regular.Term {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return c.And(a, b)
}

// meet returns the intersection of two bundles, or nil if it is empty.
func (c *compiler) meet(a, b *bundle) (*bundle, error) {
	if c.work++; c.work > maxWork || c.Work() > maxDerivatives {
		return nil, ErrLimit
	}
	r := &bundle{types: a.types & b.types, number: c.term(a.number, b.number), text: c.term(a.text, b.text)}
	if r.types&array != 0 {
		r.array = c.meetArrays(&a.array, &b.array)
	}
	if r.types&object != 0 {
		r.object = meetObjects(&a.object, &b.object)
	}
	err := c.prune(r)
	if err != nil || r.types == 0 {
		return nil, err
	}
	return r, nil
}

func (c *compiler) meetArrays(a, b *arrays) arrays {
	r := arrays{least: max(a.least, b.least), most: min(a.most, b.most), rest: c.both(a.rest, b.rest), unique: a.unique}
	for i := range max(len(a.prefix), len(b.prefix)) {
		r.prefix = append(r.prefix, c.both(a.element(i), b.element(i)))
	}
	r.contains = append(append(r.contains, a.contains...), b.contains...)
	if r.unique == nil {
		r.unique = b.unique
	}
	return r
}

func meetObjects(a, b *objects) objects {
	r := objects{least: a.least, fewest: a.fewest, most: min(a.most, b.most)}
	if b.least > a.least {
		r.least, r.fewest = b.least, b.fewest
	}
	r.layers = append(append(r.layers, a.layers...), b.layers...)
	r.required = append(append(r.required, a.required...), b.required...)
	r.names = append(append(r.names, a.names...), b.names...)
	return r
}

// prune removes types of which a bundle has no value, as far as that is found out without the members of members.
func (c *compiler) prune(b *bundle) error {
	if b.types&number != 0 && b.number != nil && !c.Alive(b.number) {
		b.types &^= number
	}
	if b.types&text != 0 && b.text != nil && !c.Alive(b.text) {
		b.types &^= text
	}
	if b.types&array != 0 {
		if err := c.pruneArrays(b); err != nil {
			return err
		}
	}
	if b.types&object != 0 {
		return c.pruneObjects(b)
	}
	return nil
}

// pruneArrays shortens the arrays to the elements that can exist.
func (c *compiler) pruneArrays(b *bundle) error {
	a := &b.array
	for i := range min(a.most, len(a.prefix)+1) {
		empty, err := c.empty(a.element(i))
		if err != nil {
			return err
		}
		if empty {
			a.most = i
			a.prefix = a.prefix[:min(i, len(a.prefix))]
		}
	}
	if a.least > a.most {
		b.types &^= array
	}
	for _, x := range a.contains {
		if x.least > a.most || x.least > x.most {
			b.types &^= array
		}
	}
	return nil
}

// pruneObjects removes the objects if a member must and cannot exist.
func (c *compiler) pruneObjects(b *bundle) error {
	o := &b.object
	if o.least > o.most {
		b.types &^= object
		return nil
	}
	for _, name := range o.required {
		empty, err := c.empty(c.member(o, name))
		if err != nil {
			return err
		}
		if empty {
			b.types &^= object
			return nil
		}
	}
	return nil
}

// member returns the schema of the member with a name.
func (c *compiler) member(o *objects, name string) conjunction {
	var all conjunction
	spelled := c.alphabet.Bytes(name)
	for _, names := range o.names {
		if !c.Match(names, spelled) {
			return c.never
		}
	}
	for _, l := range o.layers {
		x, found := l.fields[name]
		for _, p := range l.patterns {
			if c.Match(p.names, spelled) {
				x, found = c.both(x, p.value), true
			}
		}
		if !found {
			x = l.extra
		}
		all = c.both(all, x)
	}
	return all
}

// meetAll returns the intersection of unions.
func (c *compiler) meetAll(list ...union) (union, error) {
	result := union{everything()}
	for _, u := range list {
		var next union
		for _, a := range result {
			for _, b := range u {
				x, err := c.meet(a, b)
				if err != nil {
					return nil, err
				}
				if x != nil {
					next = append(next, x)
				}
			}
		}
		if len(next) > maxBundles {
			return nil, ErrLimit
		}
		result = next
	}
	return result, nil
}
