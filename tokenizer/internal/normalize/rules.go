package normalize

import (
	"unicode"

	"github.com/gopherwarp/gopherwarp/tokenizer/internal/aligned"
)

// filter keeps the characters for which the function returns true.
type filter func(rune) bool

// Normalize implements Normalizer.
func (keep filter) Normalize(t aligned.Text) aligned.Text {
	if !has(t.S, func(r rune) bool { return !keep(r) }) {
		return t
	}
	edits := make([]aligned.Edit, 0, len(t.S))
	skip := 0
	for r := range aligned.Runes(t.S) {
		switch {
		case keep(r):
			edits = append(edits, aligned.Edit{Rune: r})
		case len(edits) == 0:
			skip++
		default:
			edits[len(edits)-1].Change--
		}
	}
	return t.Rewrite(edits, skip)
}

// mapping replaces each character by one character.
type mapping func(rune) rune

// Normalize implements Normalizer.
func (f mapping) Normalize(t aligned.Text) aligned.Text {
	if !has(t.S, func(r rune) bool { return f(r) != r }) {
		return t
	}
	edits := make([]aligned.Edit, 0, len(t.S))
	for r := range aligned.Runes(t.S) {
		edits = append(edits, aligned.Edit{Rune: f(r)})
	}
	return t.Rewrite(edits, 0)
}

// lowercase converts characters to lower case, each on its own, so that a final
// sigma is not special.
type lowercase struct{}

// Normalize implements Normalizer.
func (lowercase) Normalize(t aligned.Text) aligned.Text {
	if !has(t.S, func(r rune) bool { return unicode.ToLower(r) != r }) {
		return t
	}
	edits := make([]aligned.Edit, 0, len(t.S))
	for r := range aligned.Runes(t.S) {
		if r == 'İ' { // the only character whose lower case has two
			edits = append(edits, aligned.Edit{Rune: 'i'}, aligned.Edit{Rune: '\u0307', Change: 1})
			continue
		}
		edits = append(edits, aligned.Edit{Rune: unicode.ToLower(r)})
	}
	return t.Rewrite(edits, 0)
}

// strip removes white space at the ends.
type strip struct{ left, right bool }

// Normalize implements Normalizer.
func (p strip) Normalize(t aligned.Text) aligned.Text {
	i, j := 0, len(t.S)
	if p.left {
		i = j - len(trimLeft(t.S))
	}
	if p.right {
		j = i + len(trimRight(t.S[i:]))
	}
	return t.Slice(i, j)
}

// nmt removes control characters and replaces unusual white space, as
// SentencePiece's rule nmt does.
type nmt struct{}

// Normalize implements Normalizer.
func (nmt) Normalize(t aligned.Text) aligned.Text {
	t = filter(func(r rune) bool {
		return !(r >= 0x01 && r <= 0x08 || r == 0x0b || r >= 0x0e && r <= 0x1f || r == 0x7f || r == 0x8f || r == 0x9f)
	}).Normalize(t)
	return mapping(func(r rune) rune {
		switch {
		case r == '\t', r == '\n', r == '\f', r == '\r', r == 0x1680, r >= 0x200b && r <= 0x200f,
			r == 0x2028, r == 0x2029, r == 0x2581, r == 0xfeff, r == 0xfffd, r < 0:
			return ' '
		}
		return r
	}).Normalize(t)
}

// has reports whether f returns true for a character of s.
func has(s string, f func(rune) bool) bool {
	for r := range aligned.Runes(s) {
		if f(r) {
			return true
		}
	}
	return false
}

// isMark reports whether r is a combining mark.
func isMark(r rune) bool { return unicode.Is(unicode.M, r) }
