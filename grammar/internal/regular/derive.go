package regular

// Derive returns the language of what follows c in the texts of t that begin with c.
func (s *Store) Derive(t *Term, c byte) *Term {
	s.work++
	switch t.kind {
	case set:
		if t.set.has(c) {
			return s.empty
		}
	case concat:
		d := s.pair(s.Derive(t.a, c), t.b)
		if t.a.nullable {
			return s.Alt(d, s.Derive(t.b, c))
		}
		return d
	case alt:
		return s.Alt(s.deriveAll(t.list, c)...)
	case and:
		return s.And(s.deriveAll(t.list, c)...)
	case not:
		return s.Not(s.Derive(t.a, c))
	case repeat:
		return s.pair(s.Derive(t.a, c), s.less(t))
	case multiple:
		return s.divide(t.decimal, c)
	}
	return s.none
}

// deriveAll returns the derivatives of terms.
func (s *Store) deriveAll(list []*Term, c byte) []*Term {
	d := make([]*Term, len(list))
	for i, t := range list {
		d[i] = s.Derive(t, c)
	}
	return d
}

// less returns a repetition with one part less.
func (s *Store) less(t *Term) *Term {
	most := t.most
	if most != Unbounded {
		most--
	}
	return s.Repeat(t.a, max(t.least-1, 0), most)
}

// divide goes on with a division.
func (s *Store) divide(d decimal, c byte) *Term {
	switch {
	case c == '.' && !d.fraction:
		d.fraction = true
	case c < '0' || c > '9':
		return s.none
	case d.fraction && d.scale == 0:
		if c != '0' {
			return s.none
		}
	default:
		d.remainder = (d.remainder*10 + int64(c-'0')) % d.modulus
		if d.fraction {
			d.scale--
		}
	}
	return s.multiple(d)
}

// Match reports whether a text is in a language.
func (s *Store) Match(t *Term, text string) bool {
	for i := range len(text) {
		if t = s.Derive(t, text[i]); t.kind == none {
			return false
		}
	}
	return t.nullable
}

// Free returns how many times the texts of t may begin with unit, whatever the number is and whatever follows: 0 if that is not clear
// from the form of the term.
func (t *Term) Free(unit *Term) int32 {
	switch t.kind {
	case repeat:
		if t.a == unit && t.least == 0 {
			return t.most
		}
	case concat:
		if t.a.kind == repeat && t.a.a == unit {
			return t.a.most
		}
	case alt:
		most := int32(0)
		for _, x := range t.list {
			most = max(most, x.Free(unit))
		}
		return most
	}
	return 0
}
