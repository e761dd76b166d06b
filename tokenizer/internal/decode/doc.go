// Package decode turns tokens back into text, one token at a time. Parse
// returns a decoder from its JSON object; a type that the package does not know
// is an error.
//
//	d, err := decode.Parse([]byte(`{"type": "WordPiece", "prefix": "##"}`))
//	var b strings.Builder
//	s := d.Start(&b)
//	s.Write("un")
//	s.Write("##seen")
//	s.End() // b holds "unseen"
//
// After any token, the text may end within a UTF-8 sequence. The tokenizers
// package replaces bytes that are not valid UTF-8 by U+FFFD; this package keeps
// them.
package decode
