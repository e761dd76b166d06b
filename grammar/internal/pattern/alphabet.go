package pattern

import (
	"fmt"
	"unicode/utf8"

	"github.com/gopherwarp/gopherwarp/grammar/internal/regular"
)

// Spelling says how characters become bytes.
type Spelling int

// The spellings.
const (
	UTF8 Spelling = iota
	JSON          // between the quotes of a JSON string, with escape sequences only where they are necessary
)

// Alphabet makes terms of characters.
type Alphabet struct {
	*regular.Store
	spelling Spelling
	ranges   map[[2]rune]*regular.Term
	Any      *regular.Term // one character
	Text     *regular.Term // any number of characters
}

// NewAlphabet returns the alphabet of all characters.
func NewAlphabet(s *regular.Store, how Spelling) *Alphabet {
	a := &Alphabet{Store: s, spelling: how, ranges: map[[2]rune]*regular.Term{}}
	a.Any = a.Class([]rune{0, utf8.MaxRune})
	a.Text = s.Repeat(a.Any, 0, regular.Unbounded)
	s.SetText(a.Text)
	return a
}

// Class returns the language of one character from a list of ranges.
func (a *Alphabet) Class(ranges []rune) *regular.Term {
	var list []*regular.Term
	for i := 0; i+1 < len(ranges); i += 2 {
		list = append(list, a.between(ranges[i], ranges[i+1]))
	}
	return a.Alt(list...)
}

// Spell returns the spelling of a text.
func (a *Alphabet) Spell(text string) *regular.Term {
	t := a.Empty()
	for len(text) > 0 {
		r, size := utf8.DecodeLastRuneInString(text)
		t = a.Concat(a.between(r, r), t)
		text = text[:len(text)-size]
	}
	return t
}

// Bytes returns one spelling of a text, which Spell's language has.
func (a *Alphabet) Bytes(text string) string {
	var b []byte
	for _, r := range text {
		switch {
		case a.spelling == UTF8:
			b = utf8.AppendRune(b, r)
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r < ' ' && short[r] != 0:
			b = append(b, '\\', short[r])
		case r < ' ':
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return string(b)
}

// short are the letters of the escape sequences of control characters.
var short = [' ']byte{'\b': 'b', '\t': 't', '\n': 'n', '\f': 'f', '\r': 'r'}

// between returns the language of one character from lo to hi. There is none for surrogates.
func (a *Alphabet) between(lo, hi rune) *regular.Term {
	if t, ok := a.ranges[[2]rune{lo, hi}]; ok {
		return t
	}
	t := a.spelled(lo, hi)
	a.ranges[[2]rune{lo, hi}] = t
	return t
}

func (a *Alphabet) spelled(lo, hi rune) *regular.Term {
	if a.spelling == UTF8 {
		return a.utf8(lo, hi)
	}
	var list []*regular.Term
	for r := lo; r <= min(hi, ' '-1); r++ {
		list = append(list, a.control(r))
	}
	for lo = max(lo, ' '); lo <= hi; {
		next := hi + 1
		for _, r := range []rune{'"', '\\'} {
			if lo == r {
				list = append(list, a.Literal(`\`+string(r)))
				lo++
			}
			if lo < r && r <= hi {
				next = min(next, r)
			}
		}
		if lo < next {
			list = append(list, a.utf8(lo, next-1))
		}
		lo = max(lo, next)
	}
	return a.Alt(list...)
}

// control returns the spelling of a control character.
func (a *Alphabet) control(r rune) *regular.Term {
	if c := short[r]; c != 0 {
		return a.Literal(`\` + string(rune(c)))
	}
	low := "0123456789abcdef"[r&15]
	digits := string(rune(low))
	if low >= 'a' {
		digits += string(rune(low - 'a' + 'A'))
	}
	return a.Concat(a.Literal(fmt.Sprintf(`\u00%x`, r>>4)), a.Store.Bytes(digits))
}

// utf8 returns the encodings of the characters from lo to hi: ranges of bytes, one after another.
func (a *Alphabet) utf8(lo, hi rune) *regular.Term {
	if lo > hi {
		return a.None()
	}
	for _, edge := range []rune{0x7f, 0x7ff, 0xd7ff, 0xdfff, 0xffff} {
		if lo <= edge && edge < hi {
			return a.Alt(a.utf8(lo, edge), a.utf8(edge+1, hi))
		}
	}
	if 0xd800 <= lo && hi <= 0xdfff {
		return a.None()
	}
	for bits := 6; bits <= 18 && lo >= 0x80; bits += 6 {
		mask := rune(1)<<bits - 1
		if lo>>bits == hi>>bits {
			continue
		}
		if lo&mask != 0 {
			return a.Alt(a.utf8(lo, lo|mask), a.utf8((lo|mask)+1, hi))
		}
		if hi&mask != mask {
			return a.Alt(a.utf8(lo, hi&^mask-1), a.utf8(hi&^mask, hi))
		}
	}
	first, last := string(lo), string(hi)
	t := a.Empty()
	for i := len(first) - 1; i >= 0; i-- {
		t = a.Concat(a.Range(first[i], last[i]), t)
	}
	return t
}
