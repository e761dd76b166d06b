package normalize

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/gopherwarp/gopherwarp/tokenizer/internal/aligned"
)

// Bert is the normalizer of BERT.
type Bert struct {
	Clean        bool // remove control characters, make all white space spaces
	Chinese      bool // put spaces around Chinese characters
	StripAccents bool
	Lower        bool
}

// Normalize implements Normalizer.
func (b Bert) Normalize(t aligned.Text) aligned.Text {
	if s, n := b.ascii(t.S); n == len(t.S) {
		return t.Replace(s)
	}
	if !t.Tracked() {
		return t.Replace(b.runs(t.S))
	}
	return b.apply(t)
}

// runs returns the normal form of s. It normalizes runs of ASCII characters and
// the rest separately, which gives the same result, because no rule depends on
// an adjacent character, except that marks after a base character are sorted.
func (b Bert) runs(s string) string {
	var out strings.Builder
	out.Grow(len(s))
	for s != "" {
		plain, n := b.ascii(s)
		out.WriteString(plain)
		end := n
		for end < len(s) && (end == n || s[end] >= utf8.RuneSelf) {
			end++
		}
		if n < end {
			out.WriteString(b.apply(aligned.New(s[n:end], false)).S)
		}
		s = s[end:]
	}
	return out.String()
}

// apply applies the rules one after the other.
func (b Bert) apply(t aligned.Text) aligned.Text {
	if b.Clean {
		t = filter(func(r rune) bool { return r > 0 && r != utf8.RuneError && !isControl(r) }).Normalize(t)
		t = mapping(func(r rune) rune {
			if unicode.IsSpace(r) {
				return ' '
			}
			return r
		}).Normalize(t)
	}
	if b.Chinese {
		t = spaceChinese(t)
	}
	if b.StripAccents {
		t = decompose{norm.NFD}.Normalize(t)
		t = filter(func(r rune) bool { return !unicode.Is(unicode.Mn, r) }).Normalize(t)
	}
	if b.Lower {
		t = lowercase{}.Normalize(t)
	}
	return t
}

// ascii returns the normal form of the ASCII characters at the start of s up to
// the first one that is removed, and their number.
func (b Bert) ascii(s string) (string, int) {
	changes := false
	n := 0
	for ; n < len(s); n++ {
		c := s[n]
		if c >= 0x7f || b.Clean && c < ' ' && c != '\t' && c != '\n' && c != '\r' {
			break
		}
		changes = changes || c < ' ' || 'A' <= c && c <= 'Z'
	}
	if !changes {
		return s[:n], n
	}
	return strings.Map(func(r rune) rune {
		switch {
		case b.Clean && (r == '\t' || r == '\n' || r == '\r'):
			return ' '
		case b.Lower && 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		}
		return r
	}, s[:n]), n
}

// spaceChinese puts spaces around Chinese characters.
func spaceChinese(t aligned.Text) aligned.Text {
	if !has(t.S, isChinese) {
		return t
	}
	edits := make([]aligned.Edit, 0, len(t.S))
	for r := range aligned.Runes(t.S) {
		if !isChinese(r) {
			edits = append(edits, aligned.Edit{Rune: r})
			continue
		}
		edits = append(edits, aligned.Edit{Rune: ' '}, aligned.Edit{Rune: r, Change: 1}, aligned.Edit{Rune: ' ', Change: 1})
	}
	return t.Rewrite(edits, 0)
}

// isControl reports whether BERT's cleaning removes r: controls, format
// characters and private use, but no tabs or line breaks.
func isControl(r rune) bool {
	switch r {
	case '\t', '\n', '\r':
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co)
}

// isChinese reports whether r is in one of the blocks that BERT calls Chinese.
func isChinese(r rune) bool {
	return r >= 0x4e00 && r <= 0x9fff || r >= 0x3400 && r <= 0x4dbf || r >= 0x20000 && r <= 0x2a6df ||
		r >= 0x2a700 && r <= 0x2b73f || r >= 0x2b740 && r <= 0x2b81f || r >= 0x2b920 && r <= 0x2ceaf ||
		r >= 0xf900 && r <= 0xfaff || r >= 0x2f800 && r <= 0x2fa1f
}
