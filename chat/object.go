package chat

import "encoding/json"

// object reads the object of a call byte by byte, to find its arguments before it ends. It follows strings and brackets, and does not
// check the rest of the syntax.
type object struct {
	name      string
	alone     bool // the object is the arguments
	streaming bool // the arguments have begun, and the call is certain
	done      bool
	text      []byte // unless streaming

	depth           int
	quoted, escaped bool
	value           bool // of a field of the object, rather than its key
	start           int  // of the field's key, or of its value
	key             string
	inside          bool // the arguments
}

// next reads a byte. It reports whether the byte belongs to arguments that are certain to be those of a call, as known decides by the
// name.
func (o *object) next(b byte, known func(name string) bool) bool {
	if !o.streaming {
		o.text = append(o.text, b)
	}
	if o.quoted {
		o.quote(b)
		return o.inside
	}
	switch b {
	case '"':
		o.quoted = true
	case '{', '[':
		o.open(b, known)
	case '}', ']':
		return o.close()
	case ':', ',':
		if o.depth == 1 && !o.alone {
			o.separate(b)
		}
	}
	return o.inside
}

// quote reads a byte of a string.
func (o *object) quote(b byte) {
	switch {
	case o.escaped:
		o.escaped = false
	case b == '\\':
		o.escaped = true
	case b == '"':
		o.quoted = false
	}
}

// open begins an object or a list. If it is the arguments, and the name is known, the call is certain.
func (o *object) open(b byte, known func(name string) bool) {
	o.depth++
	arguments := o.depth == 2 && o.value && (o.key == "arguments" || o.key == "parameters") || o.depth == 1 && o.alone
	if arguments && b == '{' && !o.streaming && known(o.name) {
		o.streaming, o.inside = true, true
		o.text = nil
	}
	if o.depth == 1 {
		o.start = len(o.text)
	}
}

// close ends an object or a list, and reports whether that is a part of the arguments.
func (o *object) close() bool {
	inside := o.inside
	o.depth--
	switch {
	case o.depth == 0:
		o.done, o.inside = true, false
	case o.depth == 1 && !o.alone:
		o.inside = false
	}
	return inside
}

// separate ends a key or a value of the object.
func (o *object) separate(b byte) {
	if !o.streaming {
		field := o.text[o.start : len(o.text)-1]
		switch {
		case b == ':' && !o.value:
			o.key = stringOf(field)
		case b == ',' && o.value && o.key == "name":
			o.name = stringOf(field)
		}
		o.start = len(o.text)
	}
	o.value = b == ':'
}

// stringOf returns the text of a string in JSON, or nothing.
func stringOf(field []byte) (s string) {
	if json.Unmarshal(field, &s) != nil {
		return ""
	}
	return s
}

// whole returns the call that a whole object is, and reports whether it is one.
func (o *object) whole() (name, arguments string, ok bool) {
	type call struct {
		Name                  string
		Arguments, Parameters json.RawMessage
	}
	var c struct {
		call
		Function *call
	}
	if json.Unmarshal(o.text, &c) != nil {
		return "", "", false
	}
	if c.Function != nil {
		c.call = *c.Function
	}
	raw := c.Arguments
	if raw == nil {
		raw = c.Parameters
	}
	if s := stringOf(raw); s != "" { // some models encode the arguments once more
		raw = json.RawMessage(s)
	}
	if raw == nil || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	var fields map[string]json.RawMessage
	return c.Name, string(raw), c.Name != "" && json.Unmarshal(raw, &fields) == nil
}
