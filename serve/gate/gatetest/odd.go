package gatetest

import (
	"encoding/json"
	"maps"
	"slices"
)

// Odd returns variants of the JSON body of a request. In each variant, one value is replaced by an unusual value, removed or repeated.
// If the body is not JSON, Odd returns none.
func Odd(body string) (list []string) {
	var v any
	if json.Unmarshal([]byte(body), &v) != nil {
		return nil
	}
	for _, x := range forms(v) {
		text, err := json.Marshal(x)
		if err != nil {
			panic("BUG: " + err.Error()) // all forms are made of decoded values
		}
		list = append(list, string(text))
	}
	return list
}

// forms returns the odd forms of a value.
func forms(v any) []any {
	list := []any{
		nil, true, -1.0, 0.5, 1e300, "", "x", "{{ 1 / 0 }}\x00", []any{}, []any{nil}, map[string]any{}, map[string]any{"$ref": "#"}, map[string]any{"type": nil},
	}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			with := func(x any) any {
				c := maps.Clone(v)
				c[key] = x
				return c
			}
			for _, x := range forms(v[key]) {
				list = append(list, with(x))
			}
			without := maps.Clone(v)
			delete(without, key)
			list = append(list, without)
		}
	case []any:
		for i := range v {
			for _, x := range forms(v[i]) {
				c := slices.Clone(v)
				c[i] = x
				list = append(list, c)
			}
		}
		list = append(list, slices.Repeat(v, 200))
	}
	return list
}
