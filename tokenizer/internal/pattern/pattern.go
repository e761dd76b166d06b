package pattern

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"

	"github.com/gopherwarp/gopherwarp/tokenizer/internal/aligned"
)

// ErrSyntax is wrapped by the error for a pattern that cannot be compiled.
var ErrSyntax = errors.New("invalid pattern")

// Pattern finds matches in a string.
type Pattern interface {
	// Find returns the matches in s, in order and without overlap. A match may
	// be empty.
	Find(s string) iter.Seq[aligned.Span]
}

// Parse returns the pattern of a JSON object {"String": ...} or {"Regex": ...}.
func Parse(raw json.RawMessage) (Pattern, error) {
	var p struct{ String, Regex *string }
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSyntax, err)
	}
	switch {
	case p.String != nil && p.Regex == nil:
		return Literal(*p.String), nil
	case p.Regex != nil && p.String == nil:
		return Regex(*p.Regex)
	}
	return nil, fmt.Errorf("%w: %.80q is neither a string nor a regular expression", ErrSyntax, raw)
}

// Literal matches a string. The empty string matches nothing.
type Literal string

// Find implements Pattern.
func (l Literal) Find(s string) iter.Seq[aligned.Span] {
	return func(yield func(aligned.Span) bool) {
		for i := 0; l != ""; {
			k := strings.Index(s[i:], string(l))
			if k < 0 || !yield(aligned.Span{Start: i + k, End: i + k + len(l)}) {
				return
			}
			i += k + len(l)
		}
	}
}

// Runes matches each character that the function accepts. It sees an invalid
// byte as utf8.RuneError.
type Runes func(rune) bool

// Find implements Pattern.
func (f Runes) Find(s string) iter.Seq[aligned.Span] {
	return func(yield func(aligned.Span) bool) {
		for i := 0; i < len(s); {
			r, n := utf8.DecodeRuneInString(s[i:])
			if f(r) && !yield(aligned.Span{Start: i, End: i + n}) {
				return
			}
			i += n
		}
	}
}

// Regex returns the pattern of a regular expression.
func Regex(expr string) (Pattern, error) {
	if m := known(expr); m != nil {
		return m, nil
	}
	re, err := regexp2.Compile(translate(expr))
	if err != nil {
		return nil, fmt.Errorf("%w %q: %w", ErrSyntax, expr, err)
	}
	return &backtracker{re: re}, nil
}

// backtracker runs an expression in regexp2.
type backtracker struct{ re *regexp2.Regexp }

// Find implements Pattern. The engine works on characters; the offsets are
// converted to bytes.
func (p *backtracker) Find(s string) iter.Seq[aligned.Span] {
	return func(yield func(aligned.Span) bool) {
		at, offset := 0, 0 // a character's index and its byte
		advance := func(to int) int {
			for ; at < to; at++ {
				_, n := utf8.DecodeRuneInString(s[offset:])
				offset += n
			}
			return offset
		}
		// The only errors are those of limits, and the expression has none.
		_ = p.re.FindRunesMatches([]rune(s), -1, func(m regexp2.MatchView) bool {
			start, n, _ := m.GroupRange(0)
			return yield(aligned.Span{Start: advance(start), End: advance(start + n)})
		})
	}
}

// word lists the members of Oniguruma's class \w that regexp2's lacks, as the
// inside of a class: other marks, letter numbers and circled letters.
const word = `\w\p{M}\p{Nl}\u24B6-\u24E9`

// translate rewrites the escape sequences that have a different meaning in
// regexp2.
func translate(expr string) string {
	var b strings.Builder
	class := 0 // depth of brackets
	for i := 0; i < len(expr); i++ {
		c := expr[i]
		switch {
		case c == '\\' && i+1 < len(expr):
			i++
			b.WriteString(escape(expr[i], class > 0))
			continue
		case c == '[':
			class++
		case c == ']' && class > 0:
			class--
		}
		b.WriteByte(c)
	}
	return b.String()
}

// escape returns the escape sequence of c in regexp2's syntax.
func escape(c byte, inClass bool) string {
	switch {
	case c == 'w' && inClass:
		return word
	case c == 'w':
		return "[" + word + "]"
	case c == 'W' && !inClass:
		return "[^" + word + "]"
	case c == 'h' && inClass:
		return "0-9a-fA-F"
	case c == 'h':
		return "[0-9a-fA-F]"
	}
	return `\` + string(rune(c))
}
