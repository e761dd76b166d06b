package ptxtext

import (
	"iter"
	"strconv"
	"strings"
)

// segment is a piece of a line in symbols. Digits follow its last symbol; in its other symbols no
// digits follow.
type segment struct {
	symbols []byte
	digits  []int
}

// scanner translates lines to symbols.
type scanner struct {
	name   string // of the header
	newest [len(classes)]int
	recent []string // directives, the latest first
	line   []byte   // the symbols of the segment
}

func newScanner(name string) *scanner {
	s := &scanner{name: name}
	s.newest[labels] = -1
	return s
}

// segments yields the segments of a line without its tab and semicolon. A segment is valid until the
// next one.
func (s *scanner) segments(content string, instruction bool) iter.Seq[segment] {
	return func(yield func(segment) bool) {
		if instruction && isDirective(content) {
			if i := s.use(content); i >= 0 {
				yield(segment{[]byte{symbolLine}, []int{i}})
				return
			}
		}
		s.line = s.line[:0]
		for i := 0; i < len(content); {
			n, more := s.symbol(content[i:], i == 0 && !instruction)
			i += n
			if more != nil {
				if !yield(segment{s.line, more}) {
					return
				}
				s.line = s.line[:0]
			}
		}
		yield(segment{s.line, nil})
	}
}

// use makes content the latest directive. It returns its number before, or -1.
func (s *scanner) use(content string) int {
	for i, line := range s.recent {
		if line == content {
			copy(s.recent[1:i+1], s.recent[:i])
			s.recent[0] = content
			return i
		}
	}
	if len(content) > maxCopy {
		return -1
	}
	if len(s.recent) < digits {
		s.recent = append(s.recent, "")
	}
	copy(s.recent[1:], s.recent)
	s.recent[0] = content
	return -1
}

// symbol appends the symbol at the start of text, and returns the number of bytes that it stands
// for and the digits that follow it.
func (s *scanner) symbol(text string, first bool) (size int, following []int) {
	if s.name != "" && strings.HasPrefix(text, s.name) {
		s.line = append(s.line, symbolName)
		return len(s.name), nil
	}
	c := text[0]
	if c == '%' || c == '$' {
		if size, following = s.number(text, first); size > 0 {
			return size, following
		}
	}
	if c != '\t' && (c < ' ' || c > '~') {
		s.line = append(s.line, symbolByte)
		return 1, []int{int(c) / digits, int(c) % digits}
	}
	s.line = append(s.line, c)
	return 1, nil
}

// number is symbol for a register or a label.
func (s *scanner) number(text string, defined bool) (size int, following []int) {
	class, n, size := parse(text)
	if size == 0 {
		return 0, nil
	}
	newest := &s.newest[class]
	kind := kindNear + *newest - n
	if class == labels {
		kind += ahead
	}
	far := *newest - n - nears
	switch {
	case n == *newest+1 && (defined || class != labels):
		*newest, kind = n, kindNext
	case kind >= kindNear && kind < kindNear+nears:
	case n < digits && (n < digits/4 || far >= digits || far < 0):
		kind, following = kindLow, []int{n}
	case far >= 0 && far < digits:
		kind, following = kindFar, []int{far}
	case far >= 0 && *newest-n < digits*digits:
		kind, following = kindBack, []int{(*newest - n) / digits, (*newest - n) % digits}
	default:
		return 0, nil
	}
	s.line = append(s.line, byte(firstSymbol+class*kinds+kind))
	return size, following
}

// isDirective reports whether the content of a line, after the tab, is one that is numbered in later
// lines and has no semicolon to leave out.
func isDirective[T string | []byte](content T) bool { return len(content) > 0 && content[0] == '.' }

// parse returns the class and the number of the register or label that text starts with, and its
// length, which is 0 if there is none.
func parse(text string) (class, n, size int) {
	end := 1
	for end < len(text) && (text[end] < '0' || text[end] > '9') && end < 4 {
		end++
	}
	for class, prefix := range classes {
		if text[:end] != prefix {
			continue
		}
		start := end
		for end < len(text) && text[end] >= '0' && text[end] <= '9' && end < start+8 {
			end++
		}
		n, err := strconv.Atoi(text[start:end])
		if err != nil || text[start] == '0' && end > start+1 {
			return 0, 0, 0
		}
		return class, n, end
	}
	return 0, 0, 0
}

// entryName returns the name of the first kernel of text, or an empty string if it cannot be in a header.
func entryName(text string) string {
	_, rest, _ := strings.Cut(text, ".entry ")
	name, _, ok := strings.Cut(rest, "(")
	if !ok || len(name) > maxCopy || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' || r == '`' }) {
		return ""
	}
	return name
}
