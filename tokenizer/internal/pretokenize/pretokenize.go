package pretokenize

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"unicode"
	"unicode/utf8"

	"github.com/gopherwarp/gopherwarp/tokenizer/internal/aligned"
	"github.com/gopherwarp/gopherwarp/tokenizer/internal/pattern"
)

// Errors that the errors of Parse wrap.
var (
	ErrUnknown = errors.New("unknown pre-tokenizer")
	ErrFormat  = errors.New("invalid pre-tokenizer")
)

// PreTokenizer cuts text into pieces.
type PreTokenizer interface {
	// Split returns the pieces of t. A piece may be empty.
	Split(t aligned.Text) iter.Seq[aligned.Text]
}

// object is the union of the fields of all pre-tokenizers.
type object struct {
	Type          string            `json:"type"`
	Pretokenizers []json.RawMessage `json:"pretokenizers"`

	AddPrefixSpace *bool `json:"add_prefix_space"`
	UseRegex       *bool `json:"use_regex"`

	Pattern  json.RawMessage `json:"pattern"`
	Behavior string          `json:"behavior"`
	Invert   bool            `json:"invert"`

	Delimiter        string `json:"delimiter"`
	IndividualDigits bool   `json:"individual_digits"`

	Replacement   string `json:"replacement"`
	PrependScheme string `json:"prepend_scheme"`
	Split         *bool  `json:"split"`

	Length int `json:"length"`
}

// Parse returns the pre-tokenizer of a JSON object.
func Parse(raw json.RawMessage) (PreTokenizer, error) {
	o := object{Length: 5}
	if err := json.Unmarshal(raw, &o); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	switch o.Type {
	case "Sequence":
		return parseSequence(o.Pretokenizers)
	case "ByteLevel":
		return ByteLevel{AddPrefixSpace: or(o.AddPrefixSpace, true), UseRegex: or(o.UseRegex, true)}, nil
	case "Split":
		return parseSplit(o)
	case "Metaspace":
		return parseMetaspace(o)
	case "Punctuation":
		return parsePunctuation(o)
	case "Digits":
		return Digits{Individual: o.IndividualDigits}, nil
	case "BertPreTokenizer":
		return Bert{}, nil
	case "Whitespace":
		return Words{}, nil
	case "WhitespaceSplit":
		return Split{Pattern: pattern.Runes(unicode.IsSpace), Behavior: Removed}, nil
	case "CharDelimiterSplit":
		return parseDelimiter(o)
	case "FixedLength":
		return parseFixedLength(o)
	}
	return nil, fmt.Errorf("%w %q", ErrUnknown, o.Type)
}

// or returns *p, or otherwise if p is nil.
func or[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

// Sequence applies pre-tokenizers one after the other, each to the pieces of
// the one before.
type Sequence []PreTokenizer

// Split implements PreTokenizer.
func (s Sequence) Split(t aligned.Text) iter.Seq[aligned.Text] {
	return func(yield func(aligned.Text) bool) { s.walk(t, yield) }
}

// walk calls yield with the pieces of t until it returns false, and reports
// whether it never did.
func (s Sequence) walk(t aligned.Text, yield func(aligned.Text) bool) bool {
	switch len(s) {
	case 0:
		return yield(t)
	case 1:
		for piece := range s[0].Split(t) {
			if !yield(piece) {
				return false
			}
		}
		return true
	}
	for piece := range s[0].Split(t) {
		if piece.S != "" && !s[1:].walk(piece, yield) {
			return false
		}
	}
	return true
}

func parseSequence(parts []json.RawMessage) (PreTokenizer, error) {
	var s Sequence
	for _, raw := range parts {
		p, err := Parse(raw)
		if err != nil {
			return nil, err
		}
		s = append(s, p)
	}
	return s, nil
}

// Bert splits at white space, which it removes, and around punctuation.
type Bert struct{}

// Split implements PreTokenizer.
func (Bert) Split(t aligned.Text) iter.Seq[aligned.Text] {
	return func(yield func(aligned.Text) bool) {
		start := 0
		for i := 0; i < len(t.S); {
			r, n := utf8.DecodeRuneInString(t.S[i:])
			cut, keep := unicode.IsSpace(r), isPunctuation(r)
			if (cut || keep) && start < i && !yield(t.Slice(start, i)) {
				return
			}
			if keep && !yield(t.Slice(i, i+n)) {
				return
			}
			i += n
			if cut || keep {
				start = i
			}
		}
		if start < len(t.S) {
			yield(t.Slice(start, len(t.S)))
		}
	}
}

// Words keeps runs of word characters and runs of other characters that are
// not white space.
type Words struct{}

// Split implements PreTokenizer.
func (Words) Split(t aligned.Text) iter.Seq[aligned.Text] {
	const none, word, symbol = 0, 1, 2
	return func(yield func(aligned.Text) bool) {
		start, last := 0, none
		for i := 0; i < len(t.S); {
			r, n := utf8.DecodeRuneInString(t.S[i:])
			kind := symbol
			switch {
			case isWord(r):
				kind = word
			case unicode.IsSpace(r):
				kind = none
			}
			if kind != last {
				if last != none && !yield(t.Slice(start, i)) {
					return
				}
				start, last = i, kind
			}
			i += n
		}
		if last != none {
			yield(t.Slice(start, len(t.S)))
		}
	}
}

// Digits separates numbers, in the sense of Unicode, from the rest.
type Digits struct{ Individual bool }

// Split implements PreTokenizer.
func (d Digits) Split(t aligned.Text) iter.Seq[aligned.Text] {
	s := Split{Pattern: pattern.Runes(unicode.IsNumber), Behavior: Contiguous}
	if d.Individual {
		s.Behavior = Isolated
	}
	return s.Split(t)
}

// fixedLength cuts pieces of the given number of characters.
type fixedLength int

// Split implements PreTokenizer.
func (l fixedLength) Split(t aligned.Text) iter.Seq[aligned.Text] {
	return func(yield func(aligned.Text) bool) {
		start, n := 0, 0
		for i := range t.S {
			if n == int(l) {
				if !yield(t.Slice(start, i)) {
					return
				}
				start, n = i, 0
			}
			n++
		}
		yield(t.Slice(start, len(t.S)))
	}
}

func parseFixedLength(o object) (PreTokenizer, error) {
	if o.Length < 1 {
		return nil, fmt.Errorf("%w: FixedLength has length %d", ErrFormat, o.Length)
	}
	return fixedLength(o.Length), nil
}

// isPunctuation reports whether r is punctuation, or an ASCII symbol.
func isPunctuation(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= '!' && r <= '/' || r >= ':' && r <= '@' || r >= '[' && r <= '`' || r >= '{' && r <= '~'
	}
	return unicode.IsPunct(r)
}

// isWord reports whether r is in the class \w of Rust's regular expressions.
func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	return unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Nl, unicode.Pc, unicode.Other_Alphabetic, unicode.Join_Control)
}
