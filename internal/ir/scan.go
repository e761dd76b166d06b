package ir

import (
	"fmt"
	"strconv"
	"strings"
)

// scanner cuts a line of the text form into tokens: names and numbers, quoted strings,
// single punctuation marks, and "->" and "<-".
type scanner struct {
	rest string
	tok  string // the token that comes next; empty at the end
}

func newScanner(line string) *scanner {
	s := &scanner{rest: line}
	s.next()
	return s
}

// next returns the coming token and moves past it.
func (s *scanner) next() string {
	tok := s.tok
	s.rest = strings.TrimLeft(s.rest, " \t")
	n := 0
	switch {
	case s.rest == "":
	case strings.HasPrefix(s.rest, "->") || strings.HasPrefix(s.rest, "<-"):
		n = 2
	case s.rest[0] == '"':
		if q, err := strconv.QuotedPrefix(s.rest); err == nil {
			n = len(q)
		} else {
			n = len(s.rest)
		}
	default:
		for n < len(s.rest) && isWord(s.rest[n]) {
			n++
		}
		n = max(n, 1)
	}
	s.tok, s.rest = s.rest[:n], s.rest[n:]
	return tok
}

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80 ||
		c == '_' || c == '.' || c == '-' || c == '+'
}

// accept moves past tok and reports whether it came next.
func (s *scanner) accept(tok string) bool {
	if s.tok != tok {
		return false
	}
	s.next()
	return true
}

// expect moves past tok, which must come next.
func (s *scanner) expect(tok string) {
	if !s.accept(tok) {
		s.fail("want %q", tok)
	}
}

// integer moves past a number.
func (s *scanner) integer() int64 {
	n, err := strconv.ParseInt(s.tok, 0, 64)
	if err != nil {
		s.fail("want a number")
	}
	s.next()
	return n
}

// quoted moves past a quoted string.
func (s *scanner) quoted() string {
	q, err := strconv.Unquote(s.tok)
	if err != nil {
		s.fail("want a quoted string")
	}
	s.next()
	return q
}

// syntaxError is what the parser panics with; Parse recovers it.
type syntaxError string

func (s *scanner) fail(format string, args ...any) {
	panic(syntaxError(fmt.Sprintf("%s, found %q", fmt.Sprintf(format, args...), s.tok)))
}

// typ moves past a type.
func (s *scanner) typ() *Type {
	switch {
	case s.accept("{"):
		t := StructOf()
		for !s.accept("}") {
			t.Fields = append(t.Fields, s.typ())
			if s.tok != "}" {
				s.expect(",")
			}
		}
		return t
	case s.accept("["):
		n := s.integer()
		if n < 0 {
			s.fail("want a length")
		}
		s.expect("]")
		return ArrayOf(n, s.typ())
	}
	if t, ok := scalarType(s.tok); ok {
		s.next()
		return t
	}
	s.fail("want a type")
	return nil
}

func scalarType(name string) (*Type, bool) {
	for _, t := range []*Type{Void, I1, I8, I16, I32, I64, F32, F64, Ptr} {
		if t.String() == name {
			return t, true
		}
	}
	if space, ok := strings.CutPrefix(name, "ptr."); ok {
		if i := spaceNamed(space); i > Generic {
			return PtrTo(i), true
		}
	}
	return nil, false
}

// spaceNamed returns the space with the given name, or Generic.
func spaceNamed(name string) Space {
	for i, n := range spaceNames {
		if n == name {
			return Space(i)
		}
	}
	return Generic
}
