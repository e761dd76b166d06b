package jinja

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is the kind of a token.
type kind int

const (
	textToken kind = iota // between tags
	printBegin
	printEnd
	blockBegin
	blockEnd
	nameToken
	intToken
	floatToken
	stringToken // with its value
	operator
	end
)

type token struct {
	kind kind
	text string
	line int
}

// scanner splits a template into text and the tokens of tags. It removes the whitespace that trim_blocks, lstrip_blocks, and the signs - of
// tags remove.
type scanner struct {
	rest      string
	line      int
	lineStart bool // rest starts a line, or a tag took the line break before it
	tokens    []token
}

// scan returns the tokens of a template.
func scan(source string) []token {
	source = strings.ReplaceAll(strings.ReplaceAll(source, "\r\n", "\n"), "\r", "\n")
	s := scanner{rest: strings.TrimSuffix(source, "\n"), line: 1, lineStart: true}
	for s.rest != "" {
		s.next()
	}
	s.add(end, "end of the template")
	return s.tokens
}

func (s *scanner) add(k kind, text string) { s.tokens = append(s.tokens, token{k, text, s.line}) }

// skip removes the first n bytes of rest, and counts their lines.
func (s *scanner) skip(n int) {
	s.line += strings.Count(s.rest[:n], "\n")
	s.rest = s.rest[n:]
}

// text adds text.
func (s *scanner) text(text string) {
	if text != "" {
		s.add(textToken, text)
	}
}

// next handles the text before the next tag or comment, and the tag or comment.
func (s *scanner) next() {
	i := 0
	for i < len(s.rest) && !opens(s.rest[i:]) {
		i++
	}
	if i == len(s.rest) {
		s.text(s.rest)
		s.rest = ""
		return
	}
	s.text(s.before(s.rest[:i], s.rest[i:]))
	s.skip(i)
	s.lineStart = false
	begin := 2
	if len(s.rest) > 2 && (s.rest[2] == '-' || s.rest[2] == '+') {
		begin = 3
	}
	switch s.rest[1] {
	case '#':
		s.comment()
		return
	case '{':
		s.add(printBegin, "{{")
		s.skip(begin)
		s.tag("}}", printEnd)
		return
	}
	if n := only(s.rest[begin:], "raw", "-"); n > 0 {
		s.raw(begin + n)
		return
	}
	s.add(blockBegin, "{%")
	s.skip(begin)
	s.tag("%}", blockEnd)
}

// opens reports whether text starts with a tag or a comment.
func opens(text string) bool {
	return len(text) > 1 && text[0] == '{' && (text[1] == '{' || text[1] == '%' || text[1] == '#')
}

// only returns the length of the rest of a tag that consists of one word, or 0. signs are those that may precede the end.
func only(tag, word, signs string) int {
	rest, ok := strings.CutPrefix(strings.TrimLeftFunc(tag, isSpace), word)
	rest = strings.TrimLeftFunc(rest, isSpace)
	if ok && rest != "" && strings.IndexByte(signs, rest[0]) >= 0 {
		rest = rest[1:]
	}
	if rest, ends := strings.CutPrefix(rest, "%}"); ok && ends {
		return len(tag) - len(rest)
	}
	return 0
}

// isSpace reports whether Python takes r for whitespace.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

// before returns the text before a tag without the whitespace that the tag removes.
func (s *scanner) before(text, tag string) string {
	mark := byte(0)
	if len(tag) > 2 {
		mark = tag[2]
	}
	switch {
	case mark == '-':
		return strings.TrimRightFunc(text, isSpace)
	case mark == '+' || tag[1] == '{':
		return text
	}
	begin := strings.LastIndexByte(text, '\n') + 1 // of the tag's line
	if (begin > 0 || s.lineStart) && strings.TrimFunc(text[begin:], isSpace) == "" {
		return text[:begin]
	}
	return text
}

// after removes the whitespace after a tag with the given sign, or none, before its end.
func (s *scanner) after(mark byte, prints bool) {
	rest := s.rest
	switch {
	case mark == '-':
		rest = strings.TrimLeftFunc(rest, isSpace)
	case mark != '+' && !prints:
		rest = strings.TrimPrefix(rest, "\n")
	}
	if removed := len(s.rest) - len(rest); removed > 0 {
		s.lineStart = s.rest[removed-1] == '\n'
		s.skip(removed)
	}
}

// comment skips a comment.
func (s *scanner) comment() {
	n := strings.Index(s.rest[2:], "#}")
	if n < 0 {
		fail(s.line, "the comment does not end")
	}
	mark := byte(0)
	if n > 0 {
		mark = s.rest[n+1]
	}
	s.skip(n + 4)
	s.after(mark, false)
}

// raw adds what follows the tag raw, of n bytes, as text, up to the tag endraw. The line break after raw is part of the text.
func (s *scanner) raw(n int) {
	strip := s.rest[n-3] == '-'
	s.skip(n)
	if strip {
		s.skip(len(s.rest) - len(strings.TrimLeftFunc(s.rest, isSpace)))
	}
	for i := range len(s.rest) {
		tag, ok := strings.CutPrefix(s.rest[i:], "{%")
		if !ok {
			continue
		}
		if tag != "" && (tag[0] == '-' || tag[0] == '+') {
			tag = tag[1:]
		}
		if n := only(tag, "endraw", "-+"); n > 0 {
			s.text(s.before(s.rest[:i], s.rest[i:]))
			s.skip(len(s.rest) - len(tag) + n - 3)
			mark := s.rest[0]
			s.skip(3)
			s.after(mark, false)
			return
		}
	}
	fail(s.line, "the block raw has no endraw")
}

// operators are the operators, the longer ones first.
var operators = []string{
	"**", "//", "==", "!=", "<=", ">=", "+", "-", "*", "/", "%", "~", "[", "]", "(", ")", "{", "}", "<", ">", "=", ".", ",", ":", "|", ";",
}

// tag adds the tokens of a tag up to its end.
func (s *scanner) tag(ending string, k kind) {
	var open []byte // the brackets that must be closed
	for {
		s.skip(len(s.rest) - len(strings.TrimLeftFunc(s.rest, isSpace)))
		if s.rest == "" {
			fail(s.line, "the tag does not end with %s", ending)
		}
		if len(open) == 0 {
			mark := byte(0)
			rest := s.rest
			if rest[0] == '-' || rest[0] == '+' && ending == "%}" {
				mark, rest = rest[0], rest[1:]
			}
			if strings.HasPrefix(rest, ending) {
				s.add(k, ending)
				s.skip(len(s.rest) - len(rest) + len(ending))
				s.after(mark, k == printEnd)
				return
			}
		}
		if s.word() {
			continue
		}
		op := ""
		for _, o := range operators {
			if strings.HasPrefix(s.rest, o) {
				op = o
				break
			}
		}
		switch {
		case op == "":
			r, _ := utf8.DecodeRuneInString(s.rest)
			fail(s.line, "unexpected character %q", r)
		case strings.Contains("([{", op):
			open = append(open, op[0])
		case strings.Contains(")]}", op):
			if n := len(open); n == 0 || pair(open[n-1]) != op[0] {
				fail(s.line, "unexpected %q", op)
			}
			open = open[:len(open)-1]
		}
		s.add(operator, op)
		s.skip(len(op))
	}
}

// pair returns the bracket that closes b.
func pair(b byte) byte {
	if b == '(' {
		return ')'
	}
	return b + 2 // of ASCII
}

// word adds a name, a number or a string, and reports whether there is one.
func (s *scanner) word() bool {
	r, _ := utf8.DecodeRuneInString(s.rest)
	switch {
	case r == '"' || r == '\'':
		s.string(byte(r))
	case '0' <= r && r <= '9':
		s.number()
	case r == '_' || unicode.IsLetter(r):
		n := strings.IndexFunc(s.rest, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		if n < 0 {
			n = len(s.rest)
		}
		s.add(nameToken, s.rest[:n])
		s.skip(n)
	default:
		return false
	}
	return true
}

// number adds an integer, also in another base, or a floating-point number. After a dot, there are only integers.
func (s *scanner) number() {
	digits := func(i int) int {
		for i < len(s.rest) && ('0' <= s.rest[i] && s.rest[i] <= '9' || s.rest[i] == '_') {
			i++
		}
		return i
	}
	n, k := digits(0), intToken
	if last := s.tokens[len(s.tokens)-1]; last.kind == operator && last.text == "." {
		s.add(k, s.rest[:n])
		s.skip(n)
		return
	}
	if n == 1 && s.rest[0] == '0' && len(s.rest) > 1 && strings.IndexByte("xXoObB", s.rest[1]) >= 0 {
		for n++; n < len(s.rest) && (unicode.Is(unicode.Hex_Digit, rune(s.rest[n])) || s.rest[n] == '_'); n++ {
		}
	} else {
		if n+1 < len(s.rest) && s.rest[n] == '.' && digits(n+1) > n+1 {
			n, k = digits(n+1), floatToken
		}
		if n < len(s.rest) && (s.rest[n] == 'e' || s.rest[n] == 'E') {
			i := n + 1
			if i < len(s.rest) && (s.rest[i] == '+' || s.rest[i] == '-') {
				i++
			}
			if e := digits(i); e > i {
				n, k = e, floatToken
			}
		}
	}
	s.add(k, strings.ReplaceAll(s.rest[:n], "_", ""))
	s.skip(n)
}

// string adds the value of a string literal.
func (s *scanner) string(mark byte) {
	for i := 1; i < len(s.rest); i++ {
		switch s.rest[i] {
		case '\\':
			i++
		case mark:
			s.add(stringToken, unescape(s.rest[1:i]))
			s.skip(i + 1)
			return
		}
	}
	fail(s.line, "the string does not end")
}
