package chat

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/gopherwarp/gopherwarp/chat/internal/jinja"
)

// valueOf returns a Go value as templates see it.
func valueOf(v any) (jinja.Value, error) {
	switch v := v.(type) {
	case nil, bool, float64, string:
		return v, nil
	case int:
		return int64(v), nil
	case json.RawMessage:
		return parseJSON(v)
	case []any:
		return listOf(v)
	case map[string]any:
		return dictOf(v)
	}
	return nil, fmt.Errorf("a %T is no value of a template", v)
}

// listOf returns a list as templates see it.
func listOf(list []any) (jinja.Value, error) {
	items := make([]jinja.Value, len(list))
	for i, v := range list {
		var err error
		if items[i], err = valueOf(v); err != nil {
			return items[i], err
		}
	}
	return jinja.NewList(items...), nil
}

// dictOf returns an object as templates see it.
func dictOf(m map[string]any) (jinja.Value, error) {
	dict := jinja.NewDict()
	for _, key := range slices.Sorted(maps.Keys(m)) {
		v, err := valueOf(m[key])
		if err != nil {
			return v, err
		}
		dict.Set(key, v)
	}
	return dict, nil
}

// parseJSON returns a JSON value as templates see it. Objects keep the order of
// their keys, and integers are not floating-point numbers.
func parseJSON(raw json.RawMessage) (jinja.Value, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if !json.Valid(raw) { // Token accepts more than JSON allows
		return nil, fmt.Errorf("%.60q is not valid JSON", raw)
	}
	v, err := parseValue(d)
	if err != nil {
		return v, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return v, fmt.Errorf("%.60q is more than one JSON value", raw)
	}
	return v, nil
}

// parseValue reads a value. The standard library's check of the syntax limits
// the depth.
func parseValue(d *json.Decoder) (jinja.Value, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('['):
		var items []jinja.Value
		for d.More() {
			v, err := parseValue(d)
			if err != nil {
				return v, err
			}
			items = append(items, v)
		}
		_, err := d.Token()
		return jinja.NewList(items...), err
	case json.Delim('{'):
		dict := jinja.NewDict()
		for d.More() {
			key, err := d.Token()
			if err != nil {
				return dict, err
			}
			v, err := parseValue(d)
			if err != nil {
				return v, err
			}
			dict.Set(key.(string), v) // keys are strings in valid JSON
		}
		_, err := d.Token()
		return dict, err
	}
	if n, ok := token.(json.Number); ok {
		if i, err := n.Int64(); err == nil {
			return i, nil
		}
		return n.Float64()
	}
	return token, nil
}
