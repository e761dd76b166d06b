package normalize

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/text/unicode/norm"

	"github.com/gopherwarp/gopherwarp/tokenizer/internal/aligned"
	"github.com/gopherwarp/gopherwarp/tokenizer/internal/bytelevel"
	"github.com/gopherwarp/gopherwarp/tokenizer/internal/pattern"
)

// Errors that the errors of Parse wrap.
var (
	ErrUnknown = errors.New("unknown normalizer")
	ErrFormat  = errors.New("invalid normalizer")
)

// Normalizer rewrites text before it is cut into pieces.
type Normalizer interface {
	Normalize(t aligned.Text) aligned.Text
}

// object is the union of the fields of all normalizers.
type object struct {
	Type        string            `json:"type"`
	Normalizers []json.RawMessage `json:"normalizers"`

	CleanText          bool  `json:"clean_text"`
	HandleChineseChars bool  `json:"handle_chinese_chars"`
	StripAccents       *bool `json:"strip_accents"`
	Lowercase          bool  `json:"lowercase"`

	StripLeft  bool `json:"strip_left"`
	StripRight bool `json:"strip_right"`

	Prepend string          `json:"prepend"`
	Pattern json.RawMessage `json:"pattern"`
	Content string          `json:"content"`

	Charsmap string `json:"precompiled_charsmap"`
}

// Parse returns the normalizer of a JSON object.
func Parse(raw json.RawMessage) (Normalizer, error) {
	var o object
	if err := json.Unmarshal(raw, &o); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	switch o.Type {
	case "Sequence":
		return parseSequence(o.Normalizers)
	case "Replace":
		return parseReplace(o)
	case "Precompiled":
		return parsePrecompiled(o)
	case "BertNormalizer":
		accents := o.Lowercase
		if o.StripAccents != nil {
			accents = *o.StripAccents
		}
		return Bert{Clean: o.CleanText, Chinese: o.HandleChineseChars, StripAccents: accents, Lower: o.Lowercase}, nil
	case "Strip":
		return strip{left: o.StripLeft, right: o.StripRight}, nil
	case "Prepend":
		return Prepend(o.Prepend), nil
	}
	if n, ok := plain[o.Type]; ok {
		return n, nil
	}
	return nil, fmt.Errorf("%w %q", ErrUnknown, o.Type)
}

// plain holds the normalizers without parameters, by type.
var plain = map[string]Normalizer{
	"NFC":          NFC(),
	"NFKC":         compose(norm.NFKC),
	"NFD":          decompose{norm.NFD},
	"NFKD":         decompose{norm.NFKD},
	"Lowercase":    lowercase{},
	"StripAccents": filter(func(r rune) bool { return !isMark(r) }),
	"Nmt":          nmt{},
	"ByteLevel":    ByteLevel{},
}

// NFC returns the normalizer for the Unicode normalization form C.
func NFC() Normalizer { return compose(norm.NFC) }

// Sequence applies normalizers one after the other.
type Sequence []Normalizer

// Normalize implements Normalizer.
func (s Sequence) Normalize(t aligned.Text) aligned.Text {
	for _, n := range s {
		t = n.Normalize(t)
	}
	return t
}

// WithoutPrefix returns n, which may be nil, without the steps that insert a prefix.
func WithoutPrefix(n Normalizer) Normalizer {
	switch n := n.(type) {
	case Prepend:
		return Sequence{}
	case Sequence:
		var rest Sequence
		for _, step := range n {
			rest = append(rest, WithoutPrefix(step))
		}
		return rest
	}
	return n
}

func parseSequence(parts []json.RawMessage) (Normalizer, error) {
	var s Sequence
	for _, raw := range parts {
		n, err := Parse(raw)
		if err != nil {
			return nil, err
		}
		s = append(s, n)
	}
	return s, nil
}

// Prepend inserts a string before a text that is not empty.
type Prepend string

// Normalize implements Normalizer.
func (p Prepend) Normalize(t aligned.Text) aligned.Text {
	if t.S == "" || p == "" {
		return t
	}
	if !t.Tracked() {
		return t.Replace(string(p) + t.S)
	}
	var edits []aligned.Edit
	for r := range aligned.Runes(string(p)) {
		edits = append(edits, aligned.Edit{Rune: r, Change: min(1, len(edits))})
	}
	first := true
	for r := range aligned.Runes(t.S) {
		e := aligned.Edit{Rune: r}
		if first {
			e.Change, first = 1, false
		}
		edits = append(edits, e)
	}
	return t.Rewrite(edits, 0)
}

// Replace replaces all matches of a pattern.
type Replace struct {
	Pattern pattern.Pattern
	Content string
}

// Normalize implements Normalizer.
func (p Replace) Normalize(t aligned.Text) aligned.Text {
	matches := slices.Collect(p.Pattern.Find(t.S))
	if len(matches) == 0 {
		return t
	}
	return t.Splice(matches, p.Content)
}

func parseReplace(o object) (Normalizer, error) {
	p, err := pattern.Parse(o.Pattern)
	if err != nil {
		return nil, err
	}
	return Replace{p, o.Content}, nil
}

func parsePrecompiled(o object) (Normalizer, error) {
	blob, err := base64.StdEncoding.DecodeString(o.Charsmap)
	if err != nil {
		return nil, fmt.Errorf("%w: precompiled_charsmap: %w", ErrFormat, err)
	}
	return NewCharsmap(blob)
}

// ByteLevel replaces each byte by the character that stands for it.
type ByteLevel struct{}

// Normalize implements Normalizer.
func (ByteLevel) Normalize(t aligned.Text) aligned.Text {
	edits := make([]aligned.Edit, 0, len(t.S))
	for i := range t.S {
		edits = append(edits, aligned.Edit{Rune: bytelevel.Rune(t.S[i])})
		for k := i + 1; k < len(t.S) && continues(t.S, i, k); k++ {
			edits = append(edits, aligned.Edit{Rune: bytelevel.Rune(t.S[k]), Change: 1})
		}
	}
	return t.Rewrite(edits, 0)
}
