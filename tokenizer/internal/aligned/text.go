package aligned

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Span is a range of bytes of the original text.
type Span struct{ Start, End int }

// Text is a piece of an original string, or what normalizers made of it.
type Text struct {
	S string // the text now

	// spans has an element for each byte of S. It is nil if the characters of S
	// stand for the bytes of the original text from base on, one for one.
	spans []Span
	base  int
	track bool
}

// Edit is one character of a rewritten text.
type Edit struct {
	// Rune is the character. A negative value -1-b is the byte b, which is part
	// of no valid UTF-8 sequence.
	Rune rune
	// Change is 0 if the character replaces one of the old text, positive if it
	// is inserted, and -n if it replaces one and the next n characters are
	// removed.
	Change int
}

// New returns s as an original text. Without track, Span is meaningless after
// Rewrite.
func New(s string, track bool) Text { return Text{S: s, track: track} }

// Start returns the offset in the original text at which t starts.
func (t Text) Start() int {
	if len(t.spans) > 0 {
		return t.spans[0].Start
	}
	return t.base
}

// Slice returns the bytes from i to j of t.
func (t Text) Slice(i, j int) Text {
	s := t
	s.S = t.S[i:j]
	if t.spans != nil {
		s.spans = t.spans[i:j]
	} else {
		s.base = t.base + i
	}
	return s
}

// Span returns the bytes of the original text that the bytes from i to j of t
// stand for. It covers whole characters.
func (t Text) Span(i, j int) Span {
	if i >= j {
		start := t.at(i).Start
		return Span{start, start}
	}
	return Span{t.at(i).Start, t.at(j - 1).End}
}

// at returns the span of the character that byte i of t belongs to.
func (t Text) at(i int) Span {
	switch {
	case i < len(t.spans):
		return t.spans[i]
	case i >= len(t.S):
		return Span{t.end(), t.end()}
	}
	start := i
	for start > 0 && i-start < utf8.UTFMax-1 && !utf8.RuneStart(t.S[start]) {
		start--
	}
	_, n := utf8.DecodeRuneInString(t.S[start:])
	if start+n <= i { // byte i is not part of a valid sequence
		start, n = i, 1
	}
	return Span{t.base + start, t.base + start + n}
}

// end returns the offset in the original text at which t ends.
func (t Text) end() int {
	if n := len(t.spans); n > 0 {
		return t.spans[n-1].End
	}
	return t.base + len(t.S)
}

// Tracked reports whether t records spans.
func (t Text) Tracked() bool { return t.track }

// Replace returns t with the text s. If t is tracked, s must have characters of
// the same lengths at the same offsets.
func (t Text) Replace(s string) Text {
	t.S = s
	return t
}

// Rewrite returns the text of the edits, which together with the first skip
// characters account for all characters of t.
func (t Text) Rewrite(edits []Edit, skip int) Text {
	var b strings.Builder
	b.Grow(len(t.S))
	if !t.track {
		for _, e := range edits {
			write(&b, e.Rune)
		}
		return Text{S: b.String(), base: t.Start()}
	}
	spans := make([]Span, 0, len(t.S))
	pos := t.advance(0, skip)
	for _, e := range edits {
		var s Span
		switch {
		case e.Change <= 0:
			s = t.at(pos)
			pos = t.advance(pos, 1-e.Change)
		case pos == 0:
			s = Span{t.Start(), t.Start()}
		default:
			s = t.at(pos - 1)
		}
		spans = append(spans, slices.Repeat([]Span{s}, write(&b, e.Rune))...)
	}
	return Text{S: b.String(), spans: spans, base: t.Start(), track: true}
}

// Splice returns t with the bytes from each range replaced by content. The new
// characters get the span of the last character that they replace, or of the
// character before an empty range.
func (t Text) Splice(ranges []Span, content string) Text {
	var b strings.Builder
	var spans []Span
	if t.track {
		spans = make([]Span, 0, len(t.S))
	}
	last := 0
	copyTo := func(i int) {
		b.WriteString(t.S[last:i])
		if t.track {
			for k := last; k < i; k++ {
				spans = append(spans, t.at(k))
			}
		}
	}
	for _, r := range ranges {
		copyTo(r.Start)
		b.WriteString(content)
		if t.track {
			s := Span{t.Start(), t.Start()}
			if r.End > 0 {
				s = t.at(r.End - 1)
			}
			spans = append(spans, slices.Repeat([]Span{s}, len(content))...)
		}
		last = r.End
	}
	copyTo(len(t.S))
	return Text{S: b.String(), spans: spans, base: t.Start(), track: t.track}
}

// advance returns the offset n characters after offset i.
func (t Text) advance(i, n int) int {
	for ; n > 0 && i < len(t.S); n-- {
		_, size := utf8.DecodeRuneInString(t.S[i:])
		i += size
	}
	return i
}

// Runes calls yield with the characters of s, as Edit writes them.
func Runes(s string) func(yield func(rune) bool) {
	return func(yield func(rune) bool) {
		for i := 0; i < len(s); {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				r = -1 - rune(s[i])
			}
			if !yield(r) {
				return
			}
			i += n
		}
	}
}

// write appends the character or, if it is negative, the byte r, and returns
// the number of bytes.
func write(b *strings.Builder, r rune) int {
	if r < 0 {
		b.WriteByte(byte(-1 - r))
		return 1
	}
	n, _ := b.WriteRune(r) // a Builder returns no errors
	return n
}
