package safetensors

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/gopherwarp/gopherwarp/weights"
)

// scanner reads a JSON text (RFC 8259) of objects, arrays, strings and integers. It is stricter than package json: it refuses duplicate keys,
// bytes that are not UTF-8, and numbers other than integers that are not negative. A header is read three times as fast as with the
// tokens of json.Decoder. It remembers its first error; reads after that return zero values.
type scanner struct {
	text []byte
	at   int
	err  error
}

// newScanner returns a scanner of a text. What names the text in errors.
func newScanner(what string, text []byte) *scanner {
	s := &scanner{text: text}
	if !utf8.Valid(text) {
		s.fail("%s is not UTF-8", what)
	}
	return s
}

// fail records an error that matches weights.ErrFormat.
func (s *scanner) fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf("%w: %s", weights.ErrFormat, fmt.Sprintf(format, args...))
	}
}

// next skips space and returns the next byte, or 0 at the end and after an error.
func (s *scanner) next() byte {
	for s.err == nil && s.at < len(s.text) {
		switch c := s.text[s.at]; c {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return c
		}
	}
	return 0
}

// take reads the byte c.
func (s *scanner) take(c byte, what string) {
	switch got := s.next(); {
	case s.err != nil:
	case got == c && s.at < len(s.text):
		s.at++
	default:
		s.fail("at offset %d of the JSON text, %s is expected", s.at, what)
	}
}

// each reads an object or array, which begins with the bracket open; element reads each element.
func (s *scanner) each(open byte, what string, element func()) {
	s.take(open, what)
	end := open + 2 // in ASCII, of both kinds of brackets
	if s.next() == end {
		s.at++
		return
	}
	for s.err == nil {
		element()
		if s.next() != ',' {
			break
		}
		s.at++
	}
	s.take(end, "a comma or the end")
}

// object reads an object and calls value to read the value of each key. Keys are unique.
func (s *scanner) object(what string, value func(key string)) {
	var seen keys
	s.each('{', "the object of "+what, func() {
		key := s.string()
		if !seen.add(key) {
			s.fail("key %q occurs twice", key)
		}
		s.take(':', "a colon")
		if s.err == nil {
			value(key)
		}
	})
}

// keys is a set of strings that needs no map while it is small.
type keys struct {
	few  []string
	many map[string]bool
}

// add adds a key and reports whether it is new.
func (k *keys) add(key string) bool {
	const limit = 8
	for _, known := range k.few {
		if known == key {
			return false
		}
	}
	if len(k.few) < limit {
		k.few = append(k.few, key)
		return true
	}
	if k.many == nil {
		k.many = map[string]bool{}
	}
	known := k.many[key]
	k.many[key] = true
	return !known
}

// string reads a string.
func (s *scanner) string() string {
	s.take('"', "a string")
	if s.err != nil {
		return ""
	}
	begin, plain := s.at, true
	for s.at < len(s.text) && s.text[s.at] != '"' {
		if c := s.text[s.at]; c < ' ' || c == '\\' {
			plain = false
			s.at++ // an escaped quote does not end the string
		}
		s.at++
	}
	if s.at >= len(s.text) {
		s.fail("invalid JSON: a string does not end")
		return ""
	}
	s.at++
	if plain {
		return string(s.text[begin : s.at-1])
	}
	var text string
	if err := json.Unmarshal(s.text[begin-1:s.at], &text); err != nil {
		s.fail("invalid JSON: %v", err)
	}
	return text
}

// numbers reads an array of integers that are not negative.
func (s *scanner) numbers(what string) []uint64 {
	list := []uint64{}
	s.each('[', "the array of "+what, func() {
		s.next()
		begin := s.at
		for s.at < len(s.text) && s.text[s.at] >= '0' && s.text[s.at] <= '9' {
			s.at++
		}
		digits := s.text[begin:s.at]
		n, err := strconv.ParseUint(string(digits), 10, 63)
		if err != nil || len(digits) > 1 && digits[0] == '0' {
			s.fail("%s has an element that is not an integer from 0 to 2^63-1", what)
		}
		list = append(list, n)
	})
	return list
}

// skip reads a value of any type.
func (s *scanner) skip() {
	s.next()
	if s.err != nil {
		return
	}
	d := json.NewDecoder(bytes.NewReader(s.text[s.at:]))
	var skipped json.RawMessage
	if err := d.Decode(&skipped); err != nil {
		s.fail("invalid JSON: %v", err)
	}
	s.at += int(d.InputOffset())
}

// end reports what follows, other than space.
func (s *scanner) end() {
	if s.next(); s.err == nil && s.at < len(s.text) {
		s.fail("the text goes on after its object, at offset %d", s.at)
	}
}
