package ptx

import "strings"

// kind is the kind of a token.
type kind uint8

const (
	end    kind = iota
	word        // names, directives and opcodes with their dots: "ld.global.u32", ".reg", "%tid.x"
	number      // as written
	text        // a string, without its quotes
	punct       // one or two characters
)

type token struct {
	kind kind
	text string
	line int
}

// lexer splits PTX text into tokens (section 4.1 to 4.5). Comments are white space.
type lexer struct {
	src  string
	at   int
	line int
	bad  string // what is wrong, once something is
}

func (l *lexer) next() token {
	l.skip()
	t := token{line: l.line}
	if l.at >= len(l.src) || l.bad != "" {
		return t
	}
	start := l.at
	switch c := l.src[l.at]; {
	case isDigit(c) || c == '.' && l.at+1 < len(l.src) && isDigit(l.src[l.at+1]):
		t.kind = number
		l.number()
	case isLetter(c) || c == '.':
		t.kind = word
		l.word()
	case c == '"':
		t.kind = text
		l.string()
		start++
		t.text = l.src[start:max(start, l.at-1)]
		return t
	default:
		t.kind = punct
		l.punct()
	}
	t.text = l.src[start:l.at]
	return t
}

// skip moves past white space and comments.
func (l *lexer) skip() {
	for l.at < len(l.src) {
		rest := l.src[l.at:]
		switch {
		case rest[0] == '\n':
			l.line++
			l.at++
		case rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\r' || rest[0] == '\f' || rest[0] == '\v':
			l.at++
		case strings.HasPrefix(rest, "//"):
			l.at += lineLength(rest)
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest[2:], "*/")
			if n < 0 {
				l.bad = "comment without an end"
				return
			}
			l.line += strings.Count(rest[:n+4], "\n")
			l.at += n + 4
		default:
			return
		}
	}
}

func lineLength(s string) int {
	if n := strings.IndexByte(s, '\n'); n >= 0 {
		return n
	}
	return len(s)
}

// number takes digits, letters (hexadecimal digits, 0f, U, exponents) and a decimal point.
func (l *lexer) number() {
	for l.at < len(l.src) {
		c := l.src[l.at]
		exponent := (c == '+' || c == '-') && (l.src[l.at-1] == 'e' || l.src[l.at-1] == 'E') && decimal(l.src, l.at-1)
		if !isDigit(c) && !isLetter(c) && c != '.' && !exponent {
			return
		}
		l.at++
	}
}

// decimal reports whether the number that ends before at is written in decimal, so that an e
// at that place starts an exponent.
func decimal(src string, at int) bool {
	for i := at - 1; i >= 0; i-- {
		if c := src[i]; !isDigit(c) && c != '.' {
			return !isLetter(c)
		}
	}
	return true
}

// word takes a name with everything that dots and double colons join to it.
func (l *lexer) word() {
	for l.at < len(l.src) {
		c := l.src[l.at]
		switch {
		case isLetter(c) || isDigit(c) || c == '.':
			l.at++
		case strings.HasPrefix(l.src[l.at:], "::"):
			l.at += 2
		default:
			return
		}
	}
}

func (l *lexer) string() {
	for l.at++; l.at < len(l.src) && l.src[l.at] != '\n'; l.at++ {
		if l.src[l.at] == '"' {
			l.at++
			return
		}
	}
	l.bad = "string without an end"
}

func (l *lexer) punct() {
	rest := l.src[l.at:]
	switch rest[0] {
	case ',', ';', '[', ']', '{', '}', '(', ')': // most of them
		l.at++
		return
	}
	for _, two := range [...]string{"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"} {
		if strings.HasPrefix(rest, two) {
			l.at += 2
			return
		}
	}
	if strings.IndexByte("+-*/%&|^~!?:;,.()[]{}<>=@", rest[0]) < 0 {
		l.bad = "unexpected character " + quoteByte(rest[0])
	}
	l.at++
}

func quoteByte(c byte) string {
	if c < ' ' || c > '~' {
		return "outside ASCII"
	}
	return "'" + string(rune(c)) + "'"
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isLetter reports whether c may start a name; '%' does, and never is an operator in what
// this package reads except between blanks.
func isLetter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$' || c == '%'
}
