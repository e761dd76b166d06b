// Package pattern finds the matches of a pattern in a tokenizer file, which is a
// literal string or a regular expression in the syntax of Oniguruma. Patterns of
// well-known models run as state machines written by hand; all others run in
// regexp2, because they use lookahead, which package regexp lacks.
//
//	p, err := pattern.Regex(`\s+(?!\S)|\s+`)
//	for m := range p.Find("a  b") {
//		fmt.Println(m.Start, m.End) // 1 2, then 2 3
//	}
//
// The classes L, N and M are those of the Unicode version of Go's package
// unicode.
package pattern
