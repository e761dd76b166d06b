package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Limits of a schema.
const (
	maxBytes = 4 << 20
	maxDepth = 200
)

// value is a JSON value. The members of objects have an order.
type value struct {
	id     int    // in the order of the text
	path   string // JSON pointer
	base   string // URI that references are relative to
	kind   byte   // one of n f t 0 " [ {
	text   string // a string, or a number as it is written
	list   []*value
	names  []string
	fields map[string]*value
}

// field returns a member of an object, or nil.
func (v *value) field(name string) *value { return v.fields[name] }

// reader reads values.
type reader struct {
	*json.Decoder
	made int
}

// parse reads a text that is one value.
func parse(data []byte) (*value, error) {
	if len(data) > maxBytes {
		return nil, fmt.Errorf("%w: %d bytes", ErrLimit, len(data))
	}
	r := reader{Decoder: json.NewDecoder(bytes.NewReader(data))}
	r.UseNumber()
	v, err := r.value("", 0)
	if err != nil {
		return nil, err
	}
	if _, err := r.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: text after the schema", ErrSyntax)
	}
	return v, nil
}

// value reads a value.
func (r *reader) value(path string, depth int) (*value, error) {
	token, err := r.Token()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSyntax, err)
	}
	if depth > maxDepth {
		return nil, fmt.Errorf("%w: values are nested more than %d deep", ErrLimit, maxDepth)
	}
	r.made++
	v := &value{id: r.made, path: path}
	switch x := token.(type) {
	case nil:
		v.kind = 'n'
	case bool:
		v.kind = 'f'
		if x {
			v.kind = 't'
		}
	case json.Number:
		v.kind, v.text = '0', x.String()
	case string:
		v.kind, v.text = '"', x
	case json.Delim:
		v.kind = byte(x)
		if x == '[' {
			return v, r.elements(v, depth)
		}
		return v, r.members(v, depth)
	}
	return v, nil
}

// elements reads the rest of an array.
func (r *reader) elements(v *value, depth int) error {
	for r.More() {
		x, err := r.value(v.path+"/"+strconv.Itoa(len(v.list)), depth+1)
		if err != nil {
			return err
		}
		v.list = append(v.list, x)
	}
	return r.close()
}

// members reads the rest of an object.
func (r *reader) members(v *value, depth int) error {
	v.fields = map[string]*value{}
	for r.More() {
		token, err := r.Token()
		if err != nil {
			return fmt.Errorf("%w: %w", ErrSyntax, err)
		}
		name := token.(string)
		x, err := r.value(v.path+"/"+escapePointer.Replace(name), depth+1)
		if err != nil {
			return err
		}
		if v.fields[name] == nil {
			v.names = append(v.names, name)
		}
		v.fields[name] = x
	}
	return r.close()
}

// close reads a closing bracket.
func (r *reader) close() error {
	if _, err := r.Token(); err != nil {
		return fmt.Errorf("%w: %w", ErrSyntax, err)
	}
	return nil
}

// escapePointer and unescapePointer convert names for JSON pointers.
var (
	escapePointer   = strings.NewReplacer("~", "~0", "/", "~1")
	unescapePointer = strings.NewReplacer("~1", "/", "~0", "~")
)
