// Package pattern makes terms of package regular from regular expressions: those of ECMA-262, as in JSON Schema, and those of Go.
//
//	a := pattern.NewAlphabet(store, pattern.JSON)
//	t, err := pattern.ECMA(a, "^[a-z]+$") // the texts in which the expression matches somewhere
//
// An Alphabet says how characters are spelled: as UTF-8, or as in a JSON string. What a finite automaton cannot find, or what this
// package does not know, is an error that matches ErrUnsupported. Lookahead is supported where the rest of the text follows it.
package pattern
