package regular

import (
	"math/bits"
	"slices"
)

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
		for _, c := range ClassesOf(x).representatives() {
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
type Classes struct {
	sets []byteSet
	seen []*byteSet // that have divided the classes
}

// ClassesOf returns a division for terms.
func ClassesOf(terms ...*Term) *Classes {
	all := ^uint64(0)
	c := &Classes{sets: []byteSet{{all, all, all, all}}}
	for _, t := range terms {
		c.refine(t)
	}
	return c
}

// Len returns the number of classes.
func (c *Classes) Len() int { return len(c.sets) }

// Table returns the class of each byte.
func (c *Classes) Table() *[256]uint8 {
	table := new([256]uint8)
	for class, set := range c.sets {
		for i, word := range set {
			for ; word != 0; word &= word - 1 {
				table[i*64+bits.TrailingZeros64(word)] = uint8(class)
			}
		}
	}
	return table
}

// refine divides the classes further, for another term.
func (c *Classes) refine(t *Term) {
	switch t.kind {
	case set:
		c.split(t.set)
	case concat:
		if c.refine(t.a); t.a.nullable {
			c.refine(t.b)
		}
	case alt, and:
		for _, x := range t.list {
			c.refine(x)
		}
	case not, repeat:
		c.refine(t.a)
	case multiple:
		for _, digit := range []byte("0123456789.") {
			var b byteSet
			b.add(digit)
			c.split(&b)
		}
	}
}

// split divides the classes by a set.
func (c *Classes) split(b *byteSet) {
	if slices.Contains(c.seen, b) {
		return
	}
	c.seen = append(c.seen, b)
	for i, x := range c.sets {
		var inside, outside byteSet
		for word := range x {
			inside[word], outside[word] = x[word]&b[word], x[word]&^b[word]
		}
		if inside != (byteSet{}) && outside != (byteSet{}) {
			c.sets[i] = inside
			c.sets = append(c.sets, outside)
		}
	}
}

// representatives returns a byte of each class.
func (c *Classes) representatives() []byte {
	list := make([]byte, len(c.sets))
	for class, set := range c.sets {
		for i, word := range set {
			if word != 0 {
				list[class] = byte(i*64 + bits.TrailingZeros64(word))
				break
			}
		}
	}
	return list
}
