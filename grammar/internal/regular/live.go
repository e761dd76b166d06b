package regular

import "slices"

// liveness says whether a language has texts.
type liveness uint8

const (
	unknown liveness = iota
	live
	dead
)

// Limits of a search of Alive.
const (
	maxSeen = 3000  // terms
	maxWork = 50000 // derivatives of their parts
)

// Alive reports whether a language has texts. If that cannot be found out among a few thousand derivatives, it reports true.
func (s *Store) Alive(t *Term) bool {
	if t.pure || t.live != unknown {
		return t.kind != none && t.live != dead
	}
	alive := true
	switch t.kind {
	case concat:
		alive = s.Alive(t.a) && s.Alive(t.b)
	case alt:
		alive = slices.ContainsFunc(t.list, s.Alive)
	case repeat:
		alive = t.least == 0 || s.Alive(t.a)
	default:
		alive = s.search(t)
	}
	if t.live = dead; alive {
		t.live = live
	}
	return alive
}

// search looks for a nullable derivative, those by short texts first.
func (s *Store) search(t *Term) bool {
	seen, began := map[*Term]bool{t: true}, s.work
	for list := []*Term{t}; len(list) > 0; list = list[1:] {
		x := list[0]
		if x.nullable || x.live == live || x.pure && x.kind != none {
			return true
		}
		if x.live == dead {
			continue
		}
		for _, c := range x.Classes().representatives() {
			d := s.Derive(x, c)
			if d.kind == none || seen[d] {
				continue
			}
			if seen[d] = true; len(seen) > maxSeen || s.work-began > maxWork {
				return true
			}
			list = append(list, d)
		}
	}
	for x := range seen { // nothing that t leads to is nullable
		x.live = dead
	}
	return false
}

// Classes divide the bytes: the derivatives by bytes of one class are the same.
type Classes [256]uint8

// Classes returns a division for a term.
func (t *Term) Classes() *Classes {
	c := new(Classes)
	c.Refine(t)
	return c
}

// Refine divides the classes further, for another term.
func (c *Classes) Refine(t *Term) {
	switch t.kind {
	case set:
		c.split(t.set)
	case concat:
		if c.Refine(t.a); t.a.nullable {
			c.Refine(t.b)
		}
	case alt, and:
		for _, x := range t.list {
			c.Refine(x)
		}
	case not, repeat:
		c.Refine(t.a)
	case multiple:
		for digit := byte('0'); digit <= '9'; digit++ {
			var b byteSet
			b.add(digit)
			c.split(&b)
		}
		var b byteSet
		b.add('.')
		c.split(&b)
	}
}

// split divides the classes by a set.
func (c *Classes) split(b *byteSet) {
	var inside, outside [256]bool
	most := uint8(0)
	for i, class := range c {
		if b.has(byte(i)) {
			inside[class] = true
		} else {
			outside[class] = true
		}
		most = max(most, class)
	}
	var moved [256]uint8
	for class := range inside {
		if inside[class] && outside[class] {
			most++
			moved[class] = most
		}
	}
	for i, class := range c {
		if moved[class] != 0 && b.has(byte(i)) {
			c[i] = moved[class]
		}
	}
}

// representatives returns a byte of each class.
func (c *Classes) representatives() []byte {
	var seen [256]bool
	var list []byte
	for i, class := range c {
		if !seen[class] {
			seen[class] = true
			list = append(list, byte(i))
		}
	}
	return list
}
