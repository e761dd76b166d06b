package safetensors

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/gopherwarp/gopherwarp/weights"
)

// metadataKey is the key of the header that names no tensor.
const metadataKey = "__metadata__"

// header is the JSON object that precedes the tensors' data.
type header struct {
	metadata weights.Metadata
	tensors  []tensorInfo
}

// tensorInfo describes a tensor. The offsets are relative to the begin of all tensors' data.
type tensorInfo struct {
	spec     weights.Spec
	from, to uint64
}

// scanner reads the tokens of a JSON text. It remembers its first error; reads after that return zero values.
type scanner struct {
	d   *json.Decoder
	err error
}

// parseHeader reads the header. The JSON decoder of the standard library replaces bytes that are not UTF-8, and accepts an object with
// duplicate keys, so both are checked here.
func parseHeader(text []byte) (*header, error) {
	if len(text) == 0 || text[0] != '{' {
		return nil, fmt.Errorf("%w: its header is not a JSON object", weights.ErrFormat)
	}
	if !utf8.Valid(text) {
		return nil, fmt.Errorf("%w: its header is not UTF-8", weights.ErrFormat)
	}
	s := &scanner{d: json.NewDecoder(bytes.NewReader(text))}
	s.d.UseNumber()
	h := &header{}
	s.object("the header", func(key string) {
		if key == metadataKey {
			s.object(metadataKey, func(key string) {
				h.metadata = append(h.metadata, weights.Entry{Key: key, Value: s.string()})
			})
			return
		}
		h.tensors = append(h.tensors, s.tensor(key))
	})
	s.end()
	return h, s.err
}

// fail records an error that matches weights.ErrFormat.
func (s *scanner) fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf("%w: %s", weights.ErrFormat, fmt.Sprintf(format, args...))
	}
}

// token returns the next token.
func (s *scanner) token() json.Token {
	if s.err != nil {
		return nil
	}
	t, err := s.d.Token()
	if err != nil {
		s.fail("its header is invalid JSON: %v", err)
	}
	return t
}

// object reads an object and calls value to read the value of each key. Keys are unique.
func (s *scanner) object(what string, value func(key string)) {
	if t := s.token(); s.err == nil && t != json.Delim('{') {
		s.fail("%s is not a JSON object", what)
	}
	seen := map[string]bool{}
	for s.err == nil && s.d.More() {
		key := s.string()
		if seen[key] {
			s.fail("key %q occurs twice", key)
		}
		seen[key] = true
		if s.err == nil {
			value(key)
		}
	}
	s.token() // the closing brace
}

// string reads a string.
func (s *scanner) string() string {
	t := s.token()
	v, ok := t.(string)
	if !ok {
		s.fail("the header has %v where a string belongs", t)
	}
	return v
}

// numbers reads an array of integers that are not negative.
func (s *scanner) numbers(what string) []uint64 {
	if t := s.token(); s.err == nil && t != json.Delim('[') {
		s.fail("%s is not an array", what)
	}
	list := []uint64{}
	for s.err == nil && s.d.More() {
		t := s.token()
		text, ok := t.(json.Number)
		n, err := strconv.ParseUint(string(text), 10, 63)
		if !ok || err != nil {
			s.fail("%s has the element %v", what, t)
		}
		list = append(list, n)
	}
	s.token() // the closing bracket
	return list
}

// tensor reads the description of a tensor.
func (s *scanner) tensor(name string) tensorInfo {
	info := tensorInfo{spec: weights.Spec{Name: name}}
	fields := 0
	s.object("the description of tensor "+strconv.Quote(name), func(key string) {
		fields++
		switch key {
		case "dtype":
			info.spec.Type = s.dtype(name)
		case "shape":
			info.spec.Shape = s.shape(name)
		case "data_offsets":
			info.from, info.to = s.offsets(name)
		default:
			s.fail("the description of tensor %q has the unknown key %q", name, key)
		}
	})
	if fields != 3 {
		s.fail("the description of tensor %q is incomplete", name)
	}
	return info
}

func (s *scanner) dtype(tensor string) weights.Type {
	name := s.string()
	t, ok := weights.ParseType(name)
	if !ok || !isType(t) {
		s.fail("dtype %q of tensor %q is unknown", name, tensor)
	}
	return t
}

// isType reports whether t is a type of safetensors files.
func isType(t weights.Type) bool { return t > weights.Invalid && t <= weights.C64 }

func (s *scanner) shape(tensor string) []int {
	list := s.numbers("the shape of tensor " + strconv.Quote(tensor))
	shape := make([]int, len(list))
	for i, n := range list {
		if shape[i] = int(n); shape[i] < 0 || uint64(shape[i]) != n {
			s.fail("dimension %d of tensor %q is %d", i, tensor, n)
		}
	}
	return shape
}

func (s *scanner) offsets(tensor string) (from, to uint64) {
	list := s.numbers("data_offsets of tensor " + strconv.Quote(tensor))
	if len(list) != 2 || list[0] > list[1] {
		s.fail("data_offsets of tensor %q are %v", tensor, list)
		return 0, 0
	}
	return list[0], list[1]
}

// end reports what follows the object, other than space.
func (s *scanner) end() {
	if s.err != nil {
		return
	}
	if t, err := s.d.Token(); !errors.Is(err, io.EOF) {
		s.fail("the header goes on after its object: %v %v", t, err)
	}
}
