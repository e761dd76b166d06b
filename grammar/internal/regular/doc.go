// Package regular represents regular languages of bytes as terms, and follows them by derivatives.
//
//	s := regular.NewStore(100000)
//	digits := s.Repeat(s.Range('0', '9'), 1, 3)
//	even := s.And(digits, s.Multiple(2, 0))
//	s.Match(even, "128") // true
//	next := s.Derive(even, '1')
//	next.Nullable()      // false: 1 is odd
//
// The derivative of a language by a byte is what may follow this byte (Brzozowski, "Derivatives of regular expressions", 1964). Terms are
// interned, so that the states of an automaton are terms, made when they are reached. Intersection and complement are operations as any
// others, and a repetition takes one term, however often it repeats (Owens, Reppy and Turon, "Regular-expression derivatives
// re-examined", 2009).
package regular
