package normalize

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/gopherwarp/gopherwarp/tokenizer/internal/aligned"
)

// decompose is the Unicode normalization form D or KD.
type decompose struct{ form norm.Form }

// mark is an edit with the combining class of its character.
type mark struct {
	aligned.Edit
	class uint8
}

// Normalize implements Normalizer: each character is decomposed by itself, and
// then the marks after each base character are sorted by their classes.
func (d decompose) Normalize(t aligned.Text) aligned.Text {
	if d.form.IsNormalString(t.S) {
		return t
	}
	edits := make([]aligned.Edit, 0, len(t.S))
	var marks []mark
	flush := func() {
		slices.SortStableFunc(marks, func(a, b mark) int { return int(a.class) - int(b.class) })
		for _, m := range marks {
			edits = append(edits, m.Edit)
		}
		marks = marks[:0]
	}
	for i := 0; i < len(t.S); {
		parts, n := d.first(t.S[i:])
		i += n
		change := 0
		for c := range aligned.Runes(parts) {
			class := uint8(0)
			if c >= utf8.RuneSelf {
				class = d.form.PropertiesString(string(c)).CCC()
			}
			if class == 0 && len(marks) > 0 {
				flush()
			}
			e := aligned.Edit{Rune: c, Change: change}
			if change = 1; class == 0 {
				edits = append(edits, e)
			} else {
				marks = append(marks, mark{e, class})
			}
		}
	}
	flush()
	return t.Rewrite(edits, 0)
}

// first returns the decomposition of the first character of s, and that
// character's length.
func (d decompose) first(s string) (parts string, n int) {
	if s[0] < utf8.RuneSelf {
		return s[:1], 1
	}
	r, n := utf8.DecodeRuneInString(s)
	switch parts := d.form.PropertiesString(s).Decomposition(); {
	case parts != nil:
		return string(parts), n
	case r >= 0xac00 && r <= 0xd7a3: // a syllable of Hangul, which the tables omit
		return d.form.String(s[:n]), n
	}
	return s[:n], n
}

// compose is the Unicode normalization form C or KC.
type compose norm.Form

// Normalize implements Normalizer. Within a segment, which is a base character
// and its marks, the characters of the result stand for those of the segment
// in order, and the last one for all that remain.
func (c compose) Normalize(t aligned.Text) aligned.Text {
	form := norm.Form(c)
	if form.IsNormalString(t.S) {
		return t
	}
	edits := make([]aligned.Edit, 0, len(t.S))
	for s := t.S; s != ""; {
		n := form.NextBoundaryInString(s, true)
		if n <= 0 {
			n = len(s)
		}
		edits = appendReplaced(edits, s[:n], form.String(s[:n]))
		s = s[n:]
	}
	return t.Rewrite(edits, 0)
}

// appendReplaced appends the edits that replace the string from by the string
// to.
func appendReplaced(edits []aligned.Edit, from, to string) []aligned.Edit {
	left := utf8.RuneCountInString(from)
	first := len(edits)
	for r := range aligned.Runes(to) {
		e := aligned.Edit{Rune: r}
		if left == 0 {
			e.Change = 1
		} else {
			left--
		}
		edits = append(edits, e)
	}
	if len(edits) > first {
		edits[len(edits)-1].Change -= left
	} else if first > 0 {
		edits[first-1].Change -= left
	}
	return edits
}

// continues reports whether byte k of s belongs to the character that starts at
// byte i.
func continues(s string, i, k int) bool {
	_, n := utf8.DecodeRuneInString(s[i:])
	return k < i+n
}

func trimLeft(s string) string  { return strings.TrimLeftFunc(s, unicode.IsSpace) }
func trimRight(s string) string { return strings.TrimRightFunc(s, unicode.IsSpace) }
