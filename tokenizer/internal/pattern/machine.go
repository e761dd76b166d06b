package pattern

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gopherwarp/gopherwarp/tokenizer/internal/aligned"
)

// The expressions that run as state machines.
const (
	// GPT2 is the expression of GPT-2.
	GPT2 = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
	// Llama3 is the expression of Llama 3 and GPT-4: numbers are cut into groups of three digits.
	Llama3 = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	// Qwen2 is Llama3 with one digit at a time.
	Qwen2 = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	// Number is one number.
	Number = `\p{N}`
)

// known returns the state machine of an expression, or nil.
func known(expr string) Pattern {
	switch expr {
	case GPT2:
		return gpt2{}
	case Llama3:
		return gpt4{digits: 3}
	case Qwen2:
		return gpt4{digits: 1}
	case Number:
		return Runes(unicode.IsNumber)
	}
	return nil
}

// class is the kind of a character as the expressions distinguish it.
type class uint8

const (
	other class = iota
	letter
	number
	space
)

// classify returns the class of the character at the start of s and its
// length, which is 0 at the end of s.
func classify(s string) (class, int) {
	if s == "" {
		return other, 0
	}
	if c := s[0]; c < utf8.RuneSelf {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
			return letter, 1
		case '0' <= c && c <= '9':
			return number, 1
		case c == ' ', '\t' <= c && c <= '\r':
			return space, 1
		}
		return other, 1
	}
	r, n := utf8.DecodeRuneInString(s)
	switch {
	case unicode.IsLetter(r):
		return letter, n
	case unicode.IsNumber(r):
		return number, n
	case unicode.IsSpace(r):
		return space, n
	}
	return other, n
}

// run returns the length of the characters of class c at the start of s.
func run(s string, c class) int {
	i := 0
	for {
		k, n := classify(s[i:])
		if n == 0 || k != c {
			return i
		}
		i += n
	}
}

// contraction returns the length of the English contraction at the start of s,
// such as 'll, or 0. With fold, case does not matter.
func contraction(s string, fold bool) int {
	if len(s) < 2 || s[0] != '\'' {
		return 0
	}
	if fold && strings.HasPrefix(s[1:], "ſ") { // U+017F folds to s
		return 1 + len("ſ")
	}
	a, b := s[1], byte(0)
	if len(s) > 2 {
		b = s[2]
	}
	if fold {
		a, b = lower(a), lower(b)
	}
	switch {
	case a == 's' || a == 't' || a == 'm' || a == 'd':
		return 2
	case a == 'r' && b == 'e', a == 'v' && b == 'e', a == 'l' && b == 'l':
		return 3
	}
	return 0
}

// lower returns the lower case of an ASCII letter.
func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// blanks returns the length of what \s+(?!\S)|\s+ matches at the start of s,
// where s starts with white space: the whole run at the end of s, else the run
// without its last character, but at least one.
func blanks(s string) int {
	i, last := 0, 0 // the length of the run, and its last character
	for {
		k, n := classify(s[i:])
		if n == 0 {
			return i
		}
		if k != space {
			break
		}
		last = n
		i += n
	}
	if i > last {
		return i - last
	}
	return i
}

// cover returns the matches of an expression that matches at every offset. next
// returns the length of the match at the start of a string.
func cover(s string, next func(string) int) iter.Seq[aligned.Span] {
	return func(yield func(aligned.Span) bool) {
		for i := 0; i < len(s); {
			n := next(s[i:])
			if !yield(aligned.Span{Start: i, End: i + n}) {
				return
			}
			i += n
		}
	}
}

// gpt2 matches GPT2.
type gpt2 struct{}

// Find implements Pattern.
func (g gpt2) Find(s string) iter.Seq[aligned.Span] { return cover(s, g.next) }

// next returns the length of the match at the start of s, which is not empty.
func (gpt2) next(s string) int {
	if n := contraction(s, false); n > 0 {
		return n
	}
	i := 0
	if s[0] == ' ' {
		i = 1
	}
	if k, n := classify(s[i:]); n > 0 && k != space {
		return i + n + run(s[i+n:], k)
	}
	return blanks(s)
}

// SmolLM returns the pattern that matches each number, and GPT2 in the text
// between numbers.
func SmolLM() Pattern { return smollm{} }

// smollm is the pattern of SmolLM and StarCoder.
type smollm struct{}

// Find implements Pattern.
func (smollm) Find(s string) iter.Seq[aligned.Span] {
	return func(yield func(aligned.Span) bool) {
		for i := 0; i < len(s); {
			end := i
			k, n := classify(s[end:])
			for n > 0 && k != number {
				end += n
				k, n = classify(s[end:])
			}
			for i < end {
				m := gpt2{}.next(s[i:end])
				if !yield(aligned.Span{Start: i, End: i + m}) {
					return
				}
				i += m
			}
			if n > 0 && !yield(aligned.Span{Start: i, End: i + n}) {
				return
			}
			i += n
		}
	}
}

// gpt4 matches Llama3 and Qwen2.
type gpt4 struct{ digits int }

// Find implements Pattern.
func (g gpt4) Find(s string) iter.Seq[aligned.Span] { return cover(s, g.next) }

// next returns the length of the match at the start of s, which is not empty.
func (g gpt4) next(s string) int {
	if n := contraction(s, true); n > 0 {
		return n
	}
	k, n := classify(s)
	switch {
	case k == letter:
		return n + run(s[n:], letter)
	case k == number:
		return g.numbers(s)
	case s[0] != '\r' && s[0] != '\n':
		if m := run(s[n:], letter); m > 0 {
			return n + m
		}
	}
	if m := symbols(s); m > 0 {
		return m
	}
	if m := lines(s); m > 0 {
		return m
	}
	return blanks(s)
}

// numbers returns the length of at most g.digits numbers at the start of s.
func (g gpt4) numbers(s string) int {
	i := 0
	for range g.digits {
		k, n := classify(s[i:])
		if n == 0 || k != number {
			break
		}
		i += n
	}
	return i
}

// symbols returns the length of what  ?[^\s\p{L}\p{N}]+[\r\n]* matches.
func symbols(s string) int {
	i := 0
	if s[0] == ' ' {
		i = 1
	}
	n := run(s[i:], other)
	if n == 0 {
		return 0
	}
	for i += n; i < len(s) && (s[i] == '\r' || s[i] == '\n'); i++ {
	}
	return i
}

// lines returns the length of what \s*[\r\n]+ matches: the run of white space
// to its last line break, or 0.
func lines(s string) int {
	return strings.LastIndexAny(s[:run(s, space)], "\r\n") + 1
}
