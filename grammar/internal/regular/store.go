package regular

import (
	"encoding/binary"
	"slices"
)

// Store makes the terms of a program. It is not safe for concurrent use.
type Store struct {
	terms map[key]*Term
	limit int
	last  uint64
	work  uint64 // derivatives of terms and of their parts
	none  *Term
	empty *Term
	all   *Term // every text of bytes
	text  *Term // see SetText
}

// NewStore returns an empty store. When it has interned limit terms, it forgets them: later terms may be equal to earlier ones and not
// identical, which costs time, but is not wrong.
func NewStore(limit int) *Store {
	s := &Store{terms: map[key]*Term{}, limit: limit}
	s.none = s.intern(Term{kind: none, pure: true})
	s.empty = s.intern(Term{kind: empty, nullable: true, pure: true})
	s.all = s.Repeat(s.Range(0, 255), 0, Unbounded)
	return s
}

// SetText names a repetition of characters without bounds, of which all terms that stand beside it in unions are parts.
func (s *Store) SetText(t *Term) { s.text = t }

// Work returns a measure of the time that the store has taken: the number of derivatives of terms and of their parts, of which a million
// take about a second.
func (s *Store) Work() uint64 { return s.work }

// intern returns the term with the operands of t.
func (s *Store) intern(t Term) *Term {
	k := key{kind: t.kind, least: t.least, most: t.most, decimal: t.decimal}
	if t.a != nil {
		k.a = t.a.id
	}
	if t.b != nil {
		k.b = t.b.id
	}
	if t.set != nil {
		k.set = *t.set
	}
	if len(t.list) > 0 {
		k.list = listKey(t.list)
	}
	if old, ok := s.terms[k]; ok {
		return old
	}
	if len(s.terms) >= s.limit {
		s.terms = map[key]*Term{}
	}
	s.last++
	t.id = s.last
	made := &t
	s.terms[k] = made
	return made
}

// listKey returns a string that identifies a list.
func listKey(list []*Term) string {
	b := make([]byte, 0, 8*len(list))
	for _, t := range list {
		b = binary.LittleEndian.AppendUint64(b, t.id)
	}
	return string(b)
}

// None returns the language without texts.
func (s *Store) None() *Term { return s.none }

// Empty returns the language of the empty text.
func (s *Store) Empty() *Term { return s.empty }

// Range returns the language of the bytes from lo to hi.
func (s *Store) Range(lo, hi byte) *Term {
	var b byteSet
	for c := int(lo); c <= int(hi); c++ {
		b.add(byte(c))
	}
	return s.bytes(b)
}

// Bytes returns the language of one byte that occurs in a string.
func (s *Store) Bytes(list string) *Term {
	var b byteSet
	for i := range len(list) {
		b.add(list[i])
	}
	return s.bytes(b)
}

func (s *Store) bytes(b byteSet) *Term {
	if b == (byteSet{}) {
		return s.none
	}
	return s.intern(Term{kind: set, set: &b, pure: true})
}

// Literal returns the language of one text.
func (s *Store) Literal(text string) *Term {
	t := s.empty
	for i := len(text) - 1; i >= 0; i-- {
		t = s.pair(s.Range(text[i], text[i]), t)
	}
	return t
}

// Concat returns the language of texts of the first term, followed by texts of the second, and so on.
func (s *Store) Concat(list ...*Term) *Term {
	t := s.empty
	for i := len(list) - 1; i >= 0; i-- {
		t = s.pair(list[i], t)
	}
	return t
}

// pair returns a followed by b.
func (s *Store) pair(a, b *Term) *Term {
	switch {
	case a.kind == none || b.kind == none:
		return s.none
	case a.kind == empty:
		return b
	case b.kind == empty:
		return a
	case a.kind == concat:
		return s.pair(a.a, s.pair(a.b, b))
	}
	return s.intern(Term{kind: concat, a: a, b: b, nullable: a.nullable && b.nullable, pure: a.pure && b.pure})
}

// Repeat returns the language of least to most texts of t, one after another.
func (s *Store) Repeat(t *Term, least, most int32) *Term {
	switch {
	case least > most:
		return s.none
	case most == 0 || t.kind == empty:
		return s.empty
	case t.kind == none && least == 0:
		return s.empty
	case t.kind == none:
		return s.none
	case least == 1 && most == 1:
		return t
	case t.kind == repeat && t.least == 0 && t.most == Unbounded && least <= 1:
		return t
	}
	if t.nullable {
		least = 0
	}
	return s.intern(Term{kind: repeat, a: t, least: least, most: most, nullable: least == 0, pure: t.pure})
}

// Alt returns the union of languages.
func (s *Store) Alt(list ...*Term) *Term {
	flat := flatten(alt, list)
	var bytes byteSet
	merged := flat[:0]
	for _, t := range flat {
		switch t.kind {
		case none:
		case set:
			for i := range bytes {
				bytes[i] |= t.set[i]
			}
		default:
			merged = append(merged, t)
		}
	}
	if bytes != (byteSet{}) {
		merged = append(merged, s.bytes(bytes))
	}
	merged = ordered(merged)
	for _, whole := range []*Term{s.all, s.text} {
		if whole != nil && slices.Contains(merged, whole) {
			return whole
		}
	}
	if i := slices.Index(merged, s.empty); i >= 0 && slices.ContainsFunc(merged, func(t *Term) bool { return t.nullable && t != s.empty }) {
		merged = slices.Delete(merged, i, i+1)
	}
	switch len(merged) {
	case 0:
		return s.none
	case 1:
		return merged[0]
	}
	t := Term{kind: alt, list: merged, pure: true}
	for _, x := range merged {
		t.nullable, t.pure = t.nullable || x.nullable, t.pure && x.pure
	}
	return s.intern(t)
}

// And returns the intersection of languages.
func (s *Store) And(list ...*Term) *Term {
	flat := ordered(flatten(and, list))
	if slices.ContainsFunc(flat, func(t *Term) bool { return t.kind == none }) {
		return s.none
	}
	flat = slices.DeleteFunc(flat, func(t *Term) bool { return t == s.all })
	if s.text != nil && slices.ContainsFunc(flat, func(t *Term) bool { return t != s.text && t.kind != not && t.kind != multiple }) {
		flat = slices.DeleteFunc(flat, func(t *Term) bool { return t == s.text })
	}
	switch len(flat) {
	case 0:
		return s.all
	case 1:
		return flat[0]
	}
	t := Term{kind: and, list: flat, nullable: true}
	for _, x := range flat {
		if x.kind == empty {
			return s.onlyEmpty(flat)
		}
		t.nullable = t.nullable && x.nullable
	}
	return s.intern(t)
}

// onlyEmpty returns the intersection of languages of which one is that of the empty text.
func (s *Store) onlyEmpty(list []*Term) *Term {
	for _, t := range list {
		if !t.nullable {
			return s.none
		}
	}
	return s.empty
}

// Not returns the language of all texts of bytes that are not in t.
func (s *Store) Not(t *Term) *Term {
	switch t.kind {
	case not:
		return t.a
	case none:
		return s.all
	}
	if t == s.all {
		return s.none
	}
	return s.intern(Term{kind: not, a: t, nullable: !t.nullable})
}

// Multiple returns the language of decimals without sign and exponent whose product with 10^scale is a multiple of modulus. It does
// not demand that the text is a number: it has texts with several points and without digits.
func (s *Store) Multiple(modulus int64, scale int8) *Term {
	return s.multiple(decimal{modulus: modulus, scale: scale})
}

func (s *Store) multiple(d decimal) *Term {
	rest := d.remainder
	for range d.scale {
		rest = rest * 10 % d.modulus
	}
	return s.intern(Term{kind: multiple, decimal: d, nullable: rest == 0})
}

// flatten returns a list in which terms of a kind are replaced by their operands.
func flatten(k kind, list []*Term) []*Term {
	flat := make([]*Term, 0, len(list))
	for _, t := range list {
		if t.kind == k {
			flat = append(flat, t.list...)
		} else {
			flat = append(flat, t)
		}
	}
	return flat
}

// ordered sorts a list and removes duplicates.
func ordered(list []*Term) []*Term {
	slices.SortFunc(list, func(a, b *Term) int {
		switch {
		case a.id < b.id:
			return -1
		case a.id > b.id:
			return 1
		}
		return 0
	})
	return slices.Compact(list)
}
