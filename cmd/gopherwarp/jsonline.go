package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// field is a field of a JSON object.
type field struct {
	name  string
	value json.RawMessage
}

// object is a JSON object. It keeps the order of the fields and the text of their values: numbers have any size.
type object []field

// UnmarshalJSON implements json.Unmarshaler. Of fields with the same name, the last one counts.
func (o *object) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	first, err := d.Token()
	if err != nil {
		return err
	}
	if first != json.Delim('{') {
		return errors.New("want an object")
	}
	for *o = nil; d.More(); {
		name, err := d.Token()
		if err != nil {
			return err
		}
		f := field{name: name.(string)}
		if err := d.Decode(&f.value); err != nil {
			return err
		}
		*o = append(o.without(f.name), f)
	}
	return nil
}

// without returns the fields that do not have a name. It reuses the memory of o.
func (o object) without(name string) object {
	return slices.DeleteFunc(o, func(f field) bool { return f.name == name })
}

// get returns the value of a field, or nil.
func (o object) get(name string) json.RawMessage {
	for _, f := range o {
		if f.name == name {
			return f.value
		}
	}
	return nil
}

// result is a field of an answer.
type result struct {
	name  string
	value any
}

// line returns a line with the fields of a text, and with results, which replace fields with the same names.
func (x inputText) line(results ...result) ([]byte, error) {
	o := slices.Clone(x.fields)
	if o == nil {
		results = slices.Insert(results, 0, result{"text", x.text})
	}
	for _, r := range results {
		value, err := unescaped(r.value)
		if err != nil {
			return nil, err
		}
		o = append(o.without(r.name), field{r.name, value})
	}
	line := []byte{'{'}
	for i, f := range o {
		name, err := unescaped(f.name)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			line = append(line, ',')
		}
		line = append(append(append(line, name...), ':'), f.value...)
	}
	return append(line, '}', '\n'), nil
}

// unescaped returns a value in JSON, in which <, > and & stand for themselves.
func unescaped(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), err
}

// parseText returns the text of a line of JSON.
func parseText(line []byte) (x inputText, err error) {
	var text *string
	if json.Unmarshal(line, &text) == nil && text != nil {
		return inputText{text: *text}, nil
	}
	if err := json.Unmarshal(line, &x.fields); err != nil {
		return x, fmt.Errorf("neither a text nor an object in JSON: %w", err)
	}
	if json.Unmarshal(x.fields.get("text"), &text) != nil || text == nil {
		return x, errors.New("the object has no text in its field text")
	}
	x.text = *text
	return x, nil
}
