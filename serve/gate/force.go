package gate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/llm"
)

// Only returns a list that contains only the function of the given name. If list has no such function, the error is a Failure for the field that param
// names.
func Only(param string, list []Function, name string) ([]Function, error) {
	i := slices.IndexFunc(list, func(f Function) bool { return f.Name == name })
	if i < 0 {
		return nil, Invalid(param, "there is no function %q", name)
	}
	return list[i : i+1], nil
}

// Force sets r.Grammar, which restricts the answer to a call of one of the functions in list, with arguments that satisfy the function's parameters.
// The error is a Failure for the field that param names.
func (g *Gate) Force(r *llm.Request, param string, list []Function) error {
	if len(list) == 0 {
		return Invalid(param, "there are no functions to call")
	}
	text, err := schemaOfCalls(list)
	if err == nil {
		r.Grammar, err = g.grammars.Schema(text)
	}
	if err != nil {
		return Invalid(param, "the parameters of the functions cannot be enforced: %v", err)
	}
	return nil
}

// schemaOfCalls returns the JSON Schema of a call of one of some functions, in a form that a chat.Parser knows. The name comes first, so
// that the arguments can be streamed.
func schemaOfCalls(list []Function) ([]byte, error) {
	var definitions, calls []string
	for i, f := range list {
		parameters, err := rebase(f.Parameters, fmt.Sprintf("#/$defs/%d", i))
		if err != nil {
			return nil, fmt.Errorf("function %s: %w", f.Name, err)
		}
		definitions = append(definitions, fmt.Sprintf(`"%d": %s`, i, parameters))
		calls = append(calls, fmt.Sprintf(`{"type": "object", "properties": {"name": {"const": %q}, "arguments": {"$ref": "#/$defs/%d"}},
			"required": ["name", "arguments"], "additionalProperties": false}`, f.Name, i))
	}
	return fmt.Appendf(nil, `{"$defs": {%s}, "anyOf": [%s]}`, strings.Join(definitions, ", "), strings.Join(calls, ", ")), nil
}

// rebase returns the schema of an object for another place in a document: its references to itself begin with a prefix.
func rebase(schema json.RawMessage, prefix string) ([]byte, error) {
	var fields map[string]json.RawMessage
	if len(schema) > 0 {
		if err := json.Unmarshal(schema, &fields); err != nil {
			return nil, err
		}
	}
	if fields == nil { // no schema, or null
		fields = map[string]json.RawMessage{}
	}
	delete(fields, "$id") // it would change what references mean
	delete(fields, "$schema")
	if fields["type"] == nil {
		fields["type"] = json.RawMessage(`"object"`)
	}
	if string(fields["type"]) != `"object"` {
		return nil, fmt.Errorf("the parameters have the type %s, want \"object\"", fields["type"])
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	c := copier{from: d, prefix: prefix}
	err = c.value(false)
	return c.to.Bytes(), err
}

// copier copies JSON. The order of members stays the same.
type copier struct {
	from   *json.Decoder
	to     bytes.Buffer
	prefix string // of references
}

// value copies a value, which may be a reference.
func (c *copier) value(reference bool) error {
	token, err := c.from.Token()
	if err != nil {
		return err
	}
	switch t := token.(type) {
	case json.Delim:
		return c.members(t)
	case string:
		if rest, ok := strings.CutPrefix(t, "#"); ok && reference {
			token = c.prefix + rest
		}
	}
	text, err := json.Marshal(token)
	c.to.Write(text)
	return err
}

// members copies the rest of an object or a list.
func (c *copier) members(open json.Delim) error {
	c.to.WriteByte(byte(open))
	for first := true; c.from.More(); first = false {
		if !first {
			c.to.WriteByte(',')
		}
		reference := false
		if open == '{' {
			key, err := c.from.Token()
			if err != nil {
				return err
			}
			text, err := json.Marshal(key)
			if err != nil {
				return err
			}
			c.to.Write(append(text, ':'))
			reference = key == "$ref"
		}
		if err := c.value(reference); err != nil {
			return err
		}
	}
	_, err := c.from.Token()
	c.to.WriteByte(byte(open) + 2) // the closing brackets of ASCII
	return err
}
