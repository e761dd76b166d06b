package pretokenize

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gopherwarp/gopherwarp/tokenizer/internal/aligned"
	"github.com/gopherwarp/gopherwarp/tokenizer/internal/normalize"
	"github.com/gopherwarp/gopherwarp/tokenizer/internal/pattern"
)

// ByteLevel splits with GPT-2's expression and replaces each byte by the
// character that stands for it.
type ByteLevel struct {
	AddPrefixSpace bool // insert a space before a text that has none
	UseRegex       bool // split
	Raw            bool // leave the bytes as they are, for a model that takes bytes
}

// gpt2 is the expression of GPT-2, which always has a state machine.
var gpt2, _ = pattern.Regex(pattern.GPT2)

// Split implements PreTokenizer.
func (b ByteLevel) Split(t aligned.Text) iter.Seq[aligned.Text] {
	if b.AddPrefixSpace && !strings.HasPrefix(t.S, " ") {
		t = normalize.Prepend(" ").Normalize(t)
	}
	pieces := Sequence{}.Split(t)
	if b.UseRegex {
		pieces = Split{Pattern: gpt2, Behavior: Isolated}.Split(t)
	}
	if b.Raw {
		return pieces
	}
	return func(yield func(aligned.Text) bool) {
		for piece := range pieces {
			if !yield(normalize.ByteLevel{}.Normalize(piece)) {
				return
			}
		}
	}
}

// Metaspace replaces spaces by a visible character and splits before each.
type Metaspace struct {
	Replacement string
	Prepend     Prepend
	Cut         bool // split before each replacement
}

// Prepend says where Metaspace inserts its character.
type Prepend int

// The values of Prepend.
const (
	Always Prepend = iota // at the start of each text that has none
	First                 // only at the start of the original text
	Never
	Later // at the start of each text that has none, except at the start of the original text
)

// Split implements PreTokenizer.
func (m Metaspace) Split(t aligned.Text) iter.Seq[aligned.Text] {
	if strings.Contains(t.S, " ") {
		t = normalize.Replace{Pattern: pattern.Literal(" "), Content: m.Replacement}.Normalize(t)
	}
	if m.Prepend == Always || m.Prepend == First && t.Start() == 0 || m.Prepend == Later && t.Start() > 0 {
		if !strings.HasPrefix(t.S, m.Replacement) {
			t = normalize.Prepend(m.Replacement).Normalize(t)
		}
	}
	if !m.Cut || strings.LastIndex(t.S, m.Replacement) <= 0 { // as after WhitespaceSplit
		return Sequence{}.Split(t)
	}
	return Split{Pattern: pattern.Literal(m.Replacement), Behavior: MergedWithNext}.Split(t)
}

func parseMetaspace(o object) (PreTokenizer, error) {
	m := Metaspace{Replacement: o.Replacement, Cut: or(o.Split, true)}
	if utf8.RuneCountInString(o.Replacement) != 1 {
		return nil, fmt.Errorf("%w: the replacement %q is not one character", ErrFormat, o.Replacement)
	}
	var err error
	m.Prepend, err = ParsePrepend(o.PrependScheme, or(o.AddPrefixSpace, true))
	return m, err
}

// ParsePrepend returns the value with a name in a tokenizer file. In older
// files, which have no name, add false means Never.
func ParsePrepend(name string, add bool) (Prepend, error) {
	switch {
	case name == "never", name == "" && !add:
		return Never, nil
	case name == "always", name == "":
		return Always, nil
	case name == "first":
		return First, nil
	}
	return 0, fmt.Errorf("%w: unknown prepend_scheme %q", ErrFormat, name)
}

// Raw returns p without its last step if that replaces bytes by characters, for
// a model that takes the bytes. It reports false if p has no such step.
func Raw(p PreTokenizer) (PreTokenizer, bool) {
	switch p := p.(type) {
	case ByteLevel:
		p.Raw = true
		return p, true
	case Sequence:
		if len(p) == 0 {
			return p, false
		}
		last, ok := Raw(p[len(p)-1])
		if !ok {
			return p, false
		}
		if len(p) == 2 && p[0] == (Digits{Individual: true}) && last == (ByteLevel{UseRegex: true, Raw: true}) {
			return Split{Pattern: pattern.SmolLM(), Behavior: Isolated}, true
		}
		return append(p[:len(p)-1:len(p)-1], last), true
	}
	return p, false
}

// WithoutPrefix returns p, which may be nil, such that it inserts no space before a text.
func WithoutPrefix(p PreTokenizer) PreTokenizer {
	switch p := p.(type) {
	case ByteLevel:
		p.AddPrefixSpace = false
		return p
	case Metaspace:
		if p.Prepend == Always { // also for each word after WhitespaceSplit
			p.Prepend = Later
		} else {
			p.Prepend = Never
		}
		return p
	case Sequence:
		var rest Sequence
		for _, step := range p {
			rest = append(rest, WithoutPrefix(step))
		}
		return rest
	}
	return p
}

// NeedsStart reports whether p must know where a text starts in the original
// text.
func NeedsStart(p PreTokenizer) bool {
	switch p := p.(type) {
	case Metaspace:
		return p.Prepend == First
	case Sequence:
		return slices.ContainsFunc(p, NeedsStart)
	}
	return false
}
