package grammar

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// schemaCase is a schema with documents that satisfy it, and others.
type schemaCase struct {
	schema  string
	in, out []string
}

var schemaCases = []schemaCase{
	{`{}`, []string{`1`, `"a\u00e9\ud83d\ude00"`, `[1, {"a": null}]`, `-0.5e+3`, `{}`}, []string{``, `01`, `"\ud800"`, `[1,]`, `{"a"}`, ` 1`, `"` + "\n" + `"`, `.5`, `{"a":1,}`}},
	{`{"type": "object"}`, []string{`{}`, "{\n  \"a\": [],\n  \"b\": {\"c\": 1}\n}", `{"\u0061":1}`}, []string{`[]`, `{  }`, `{"a":1`, `1`}},
	{`{"type": ["integer", "null"]}`, []string{`0`, `-12`, `null`}, []string{`1.5`, `"1"`, `nul`, `1e3`}},
	{`{"type": "integer", "minimum": -3, "exclusiveMaximum": 205}`, []string{`-3`, `0`, `-0`, `9`, `99`, `199`, `204`}, []string{`-4`, `205`, `1000`, `-10`, `210`}},
	{`{"type": "number", "minimum": 0.25, "maximum": 10}`, []string{`0.25`, `0.3`, `9.99`, `10`, `10.00`, `1`, `0.250`}, []string{`0.24`, `0.249`, `10.01`, `11`, `0`, `-1`, `1e1`}},
	{`{"type": "number", "exclusiveMinimum": -1.5, "exclusiveMaximum": -0.5}`, []string{`-1`, `-1.49`, `-0.51`}, []string{`-1.5`, `-0.5`, `-1.50`, `1`, `0`, `-2`}},
	{`{"multipleOf": 0.05, "type": "number"}`, []string{`0`, `1`, `0.05`, `-1.15`, `2.500`}, []string{`0.01`, `0.051`, `1.12`}},
	{`{"type": "integer", "multipleOf": 7, "minimum": 10}`, []string{`14`, `70`, `7777`}, []string{`7`, `15`, `71`}},
	{`{"type": "string", "minLength": 2, "maxLength": 3}`, []string{`"ab"`, `"é😀"`, `"\n\"c"`}, []string{`"a"`, `"abcd"`, `""`}},
	{`{"type": "string", "pattern": "^a+$", "maxLength": 3}`, []string{`"a"`, `"aaa"`}, []string{`"aaaa"`, `"b"`, `""`}},
	{`{"type": "string", "format": "date"}`, []string{`"2024-02-29"`, `"1999-12-31"`}, []string{`"2023-02-29"`, `"1900-02-29"`, `"2024-13-01"`, `"0000-01-01"`}},
	{`{"type": "string", "format": "date-time"}`, []string{`"2024-02-29T23:59:59.5Z"`, `"2000-01-01T00:00:00+01:30"`}, []string{`"2024-02-29"`, `"2024-02-29T24:00:00Z"`}},
	{`{"type": "string", "format": "ipv6"}`, []string{`"::"`, `"::1"`, `"1:2:3:4:5:6:7:8"`, `"fe80::1:2"`, `"::ffff:1.2.3.4"`, `"1::"`}, []string{`"1:2:3"`, `":::"`, `"1::2::3"`, `"12345::"`}},
	{`{"type": "string", "format": "email"}`, []string{`"a.b@c.de"`}, []string{`"a"`, `"a@"`, `"a..b@c"`}},
	{`{"type": "string", "format": "uri"}`, []string{`"https://a.b/c?d=e#f"`, `"mailto:x@y"`, `"urn:a:b"`}, []string{`"a b"`, `"//a"`, `"http://a b"`}},
	{`{"type": "string", "format": "uuid"}`, []string{`"123e4567-e89b-12d3-a456-426614174000"`}, []string{`"123e4567"`}},
	{`{"type": "string", "format": "duration"}`, []string{`"P1D"`, `"PT1H30M"`, `"P2W"`, `"P1Y2M3DT4S"`}, []string{`"P"`, `"PT"`, `"1D"`, `"P1YT"`}},
	{`{"type": "string", "format": "hostname"}`, []string{`"a-b.c"`}, []string{`"-a"`, `"a..b"`}},
	{`{"type": "string", "format": "of our own"}`, []string{`"x"`}, []string{`1`}},
	{`{"enum": [1, "a\"b", null, [1, {"c": false}], {"d": 2.5}]}`, []string{`1`, `"a\"b"`, `null`, `[1, {"c": false}]`, `{"d":2.5}`}, []string{`2`, `"a"`, `[1]`, `{"d": 2}`, `{}`}},
	{`{"const": {"a": [1, 2]}}`, []string{`{"a": [1, 2]}`}, []string{`{"a": [1]}`, `{"a": [1, 2], "b": 1}`}},
	{`{"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}, "c": {}}, "required": ["b"], "additionalProperties": false}`,
		[]string{`{"b": "x"}`, `{"a": 1, "b": "x"}`, `{"a":1,"b":"x","c":[2]}`}, []string{`{}`, `{"a": 1}`, `{"b": 1}`, `{"b": "x", "d": 1}`, `{"b": "x", "b": "y"}`, `{, "b": "x"}`}},
	{`{"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": {"type": "string"}}`,
		[]string{`{"a": 1, "x": "y"}`, `{"aa": "y"}`, `{"": ""}`}, []string{`{"a": "y"}`, `{"x": 1}`, `{"\u0061": "y"}`}},
	{`{"type": "object", "patternProperties": {"^x": {"type": "integer"}, "y$": {"minimum": 5}}, "additionalProperties": false}`,
		[]string{`{"x": 1}`, `{"xy": 5}`, `{"y": 7}`, `{"y": "a"}`}, []string{`{"xy": 1}`, `{"z": 1}`, `{"x": "a"}`, `{"y": 1}`}},
	{`{"type": "object", "propertyNames": {"pattern": "^[a-c]+$"}, "maxProperties": 2}`, []string{`{}`, `{"a": 1, "bc": 2}`}, []string{`{"d": 1}`, `{"a": 1, "b": 2, "c": 3}`}},
	{`{"type": "object", "properties": {"a": {}, "b": {}, "c": {}}, "minProperties": 2, "additionalProperties": false}`, []string{`{"a": 1, "c": 2}`, `{"a": 1, "b": 1, "c": 1}`}, []string{`{}`, `{"b": 1}`}},
	{`{"type": "object", "minProperties": 1}`, []string{`{"a": 1}`}, []string{`{}`}},
	{`{"type": "object", "properties": {"a": {"type": "integer"}, "b": {}}, "dependentRequired": {"a": ["b"]}, "additionalProperties": false}`, []string{`{}`, `{"b": 1}`, `{"a": 1, "b": 1}`}, []string{`{"a": 1}`}},
	{`{"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": {"type": "null"}, "minItems": 1, "maxItems": 4}`,
		[]string{`[1]`, `[1, "a"]`, `[1,"a",null,null]`}, []string{`[]`, `["a"]`, `[1, 2]`, `[1,"a",null,null,null]`, `[1,"a",1]`}},
	{`{"type": "array", "items": [{"type": "integer"}], "additionalItems": false}`, []string{`[]`, `[1]`}, []string{`[1, 1]`, `["a"]`}},
	{`{"type": "array", "items": {"enum": ["a", "b", "c"]}, "uniqueItems": true, "minItems": 2}`, []string{`["a", "c"]`, `["c","b","a"]`}, []string{`["a"]`, `["a", "a"]`, `["a", "b", "a"]`, `[]`}},
	{`{"type": "array", "contains": {"type": "string"}, "items": {"type": ["string", "integer"]}, "minContains": 2, "maxContains": 3}`,
		[]string{`["a", "b"]`, `[1, "a", 2, "b", "c"]`}, []string{`["a"]`, `["a", "b", "c", "d"]`, `[1]`, `[]`}},
	{`{"anyOf": [{"type": "integer", "maximum": 5}, {"type": "string"}]}`, []string{`5`, `"x"`}, []string{`6`, `null`}},
	{`{"allOf": [{"properties": {"a": {"type": "integer"}}, "required": ["a"]}, {"properties": {"b": {"minimum": 3}}}], "type": "object"}`, []string{`{"a": 1}`, `{"a": 1, "b": 3}`, `{"a": 1, "b": "x"}`}, []string{`{}`, `{"a": "x"}`, `{"a": 1, "b": 2}`}},
	{`{"type": "object", "oneOf": [{"properties": {"k": {"const": "x"}, "v": {"type": "integer"}}, "required": ["k", "v"]}, {"properties": {"k": {"const": "y"}}, "required": ["k"]}]}`,
		[]string{`{"k": "x", "v": 1}`, `{"k": "y", "v": "z"}`}, []string{`{"k": "x"}`, `{"k": "z"}`, `{}`}},
	{`{"oneOf": [{"type": "number", "multipleOf": 3}, {"type": "number", "multipleOf": 5}]}`, []string{`3`, `5`, `9`}, []string{`15`, `30`, `1`, `0`}},
	{`{"type": "object", "properties": {"a": {}, "b": {}}, "oneOf": [{"required": ["a"]}, {"required": ["b"]}], "additionalProperties": false}`, []string{`{"a": 1}`, `{"b": 1}`}, []string{`{}`, `{"a": 1, "b": 1}`}},
	{`{"not": {"type": ["string", "object", "array", "null", "boolean"]}, "minimum": 1}`, []string{`1`, `2.5`}, []string{`"a"`, `0`, `[]`}},
	{`{"type": "string", "not": {"enum": ["a", "b"]}}`, []string{`"c"`, `"ab"`, `""`}, []string{`"a"`, `"b"`, `"\u0061"`}},
	{`{"type": "object", "properties": {"t": {"enum": ["i", "s"]}, "v": {}}, "required": ["t", "v"], "if": {"properties": {"t": {"const": "i"}}}, "then": {"properties": {"v": {"type": "integer"}}}, "else": {"properties": {"v": {"type": "string"}}}}`,
		[]string{`{"t": "i", "v": 1}`, `{"t": "s", "v": "a"}`}, []string{`{"t": "i", "v": "a"}`, `{"t": "s", "v": 1}`}},
	{`{"$ref": "#/$defs/node", "$defs": {"node": {"type": "object", "properties": {"v": {"type": "integer"}, "next": {"$ref": "#/$defs/node"}}, "required": ["v"], "additionalProperties": false}}}`,
		[]string{`{"v": 1}`, `{"v": 1, "next": {"v": 2, "next": {"v": 3}}}`}, []string{`{"next": {"v": 1}}`, `{"v": 1, "next": {}}`}},
	{`{"$id": "http://x.y/z", "type": "array", "items": {"$ref": "other#q"}, "$defs": {"o": {"$id": "other", "$defs": {"p": {"$anchor": "q", "type": "integer"}}}}}`, []string{`[1]`}, []string{`["a"]`}},
	{`{"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer", "minimum": 3, "exclusiveMinimum": true}`, []string{`4`}, []string{`3`}},
	{`{"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/a", "type": "string", "definitions": {"a": {"type": "integer"}}}`, []string{`1`}, []string{`"a"`}},
	{`{"type": "object", "properties": {"a": {"type": "string"}}, "unevaluatedProperties": false}`, []string{`{"a": "b"}`, `{}`}, []string{`{"b": 1}`}},
	{`{"type": "string", "nullable": true, "x-unknown": 5}`, []string{`"a"`}, []string{`null`}},
}

func TestSchema(t *testing.T) {
	for _, c := range schemaCases {
		g, err := Schema([]byte(c.schema))
		if err != nil {
			t.Errorf("%s: %v", c.schema, err)
			continue
		}
		for _, text := range c.in {
			if !g.Match(text) {
				t.Errorf("%s refuses %s", c.schema, text)
			}
		}
		for _, text := range c.out {
			if g.Match(text) {
				t.Errorf("%s accepts %s", c.schema, text)
			}
		}
	}
}

func TestSchemaErrors(t *testing.T) {
	for schema, want := range map[string]struct {
		err  error
		text string
	}{
		`{`:                 {ErrSyntax, "not a JSON Schema"},
		`5`:                 {ErrSyntax, "at #:"},
		`{} {}`:             {ErrSyntax, "after"},
		`{"type": "text"}`:  {ErrSyntax, "at #/type"},
		`{"minLength": -1}`: {ErrSyntax, "at #/minLength"},
		`{"anyOf": []}`:     {ErrSyntax, "at #/anyOf"},
		`{"properties": {"a/b": {"pattern": "(?<=a)b"}}}`: {ErrUnsupported, "at #/properties/a~1b/pattern"},
		`{"$ref": "http://x.y/z"}`:                        {ErrUnsupported, "at #/$ref"},
		`{"$dynamicRef": "#a"}`:                           {ErrUnsupported, "at #/$dynamicRef"},
		`{"type": "array", "uniqueItems": true}`:          {ErrUnsupported, "at #/uniqueItems"},
		`{"type": "object", "minProperties": 2}`:          {ErrUnsupported, "at #/minProperties"},
		`{"format": "regex"}`:                             {ErrUnsupported, "at #/format"},
		`{"not": {"format": "date"}}`:                     {ErrUnsupported, "at #/not/format"},
		`{"$ref": "#"}`:                                   {ErrUnsupported, "refers to itself"},
		`{"anyOf": [{"$ref": "#"}, {"type": "null"}]}`:    {ErrUnsupported, "refers to itself"},
		`false`: {ErrEmpty, "no document"},
		`{"type": "integer", "minimum": 5, "maximum": 4}`:                           {ErrEmpty, "no document"},
		`{"type": "string", "pattern": "^a$", "minLength": 2}`:                      {ErrEmpty, "no document"},
		`{"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}}`: {ErrEmpty, "no document"},
		`{"minimum": 1e999999999}`:                                                  {ErrUnsupported, "at #/minimum"},
		strings.Repeat(`{"not":`, 300) + `{}` + strings.Repeat(`}`, 300):            {ErrLimit, "too large"},
		`{"type": "array", "minItems": 3000000}`:                                    {ErrLimit, "too large"},
	} {
		began := time.Now()
		if _, err := Schema([]byte(schema)); !errors.Is(err, want.err) || !strings.Contains(err.Error(), want.text) {
			t.Errorf("%.100s: %v, want %v with %q", schema, err, want.err, want.text)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%.100s: %v", schema, took)
		}
	}
}

func TestPattern(t *testing.T) {
	g, err := Pattern(`(?i)yes|no+`)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{"YES": true, "nooo": true, "n": false, "yes ": false, "": false} {
		if got := g.Match(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if g, err := Pattern(`a*`); err != nil || !g.Match("") || !g.Match("aa") {
		t.Errorf("a*: %v", err)
	}
	if _, err := Pattern(`a\b`); !errors.Is(err, ErrUnsupported) {
		t.Error(err)
	}
	if _, err := Pattern(`a[^\x00-\x{10FFFF}]`); !errors.Is(err, ErrEmpty) {
		t.Error(err)
	}
	if g := Object(); !g.Match(`{"a": 1}`) || g.Match(`1`) {
		t.Error("Object")
	}
}

// TestMatcher follows a text of tokens.
func TestMatcher(t *testing.T) {
	g, err := Pattern(`ab|abc`)
	if err != nil {
		t.Fatal(err)
	}
	v := newVocabulary([]string{"a", "ab", "b", "c", "bc", "", "x"}, []int32{5})
	m := g.NewMatcher(v)
	for _, step := range []struct {
		mask uint32
		next int32
	}{{0b0000011, 0}, {0b0010100, 2}, {0b0101000, 3}, {0b0100000, 5}} {
		mask := []uint32{1 << 31}
		if err := m.Mask(mask); err != nil || mask[0] != step.mask {
			t.Fatalf("before token %d: mask %b, %v, want %b", step.next, mask[0], err, step.mask)
		}
		if err := m.Accept(6); !errors.Is(err, ErrToken) {
			t.Fatalf("a token that is not allowed: %v", err)
		}
		if err := m.Accept(step.next); err != nil {
			t.Fatal(err)
		}
	}
	if !m.Ended() || !m.Complete() || m.Mask(make([]uint32, 1)) == nil || m.Accept(5) == nil {
		t.Error("after the end")
	}
	stuck := g.NewMatcher(newVocabulary([]string{"x"}, nil))
	if err := stuck.Mask(make([]uint32, 1)); !errors.Is(err, ErrStuck) {
		t.Error(err)
	}
}

func TestCache(t *testing.T) {
	var c Cache
	first, err := c.Schema([]byte(`{"maxLength": 0}`))
	if err != nil {
		t.Fatal(err)
	}
	for i := range maxGrammars {
		if again, _ := c.Schema([]byte(`{"maxLength": 0}`)); again != first {
			t.Fatalf("after %d others, the grammar is another one", i)
		}
		if _, err := c.Schema([]byte(`{"minLength": ` + strings.Repeat("1", 1+i%5) + `}` + strings.Repeat(" ", i))); err != nil {
			t.Fatal(err)
		}
	}
	for i := range maxGrammars {
		if _, err := c.Schema([]byte(`{}` + strings.Repeat(" ", i))); err != nil {
			t.Fatal(err)
		}
	}
	if again, _ := c.Schema([]byte(`{"maxLength": 0}`)); again == first || c.entries.Len() != maxGrammars || len(c.known) != maxGrammars {
		t.Errorf("the cache has %d grammars", c.entries.Len())
	}
	if _, err := c.Schema([]byte(`{`)); !errors.Is(err, ErrSyntax) {
		t.Error(err)
	}
}

// TestCacheOfLongTexts keeps long schemas, which have large grammars, as long as they are not too long together.
func TestCacheOfLongTexts(t *testing.T) {
	var c Cache
	schema := func(i int) []byte {
		return []byte(strings.Repeat(" ", maxTexts/4-20) + `{"maxLength": ` + strings.Repeat("1", i) + `}`)
	}
	first, err := c.Schema(schema(1))
	if err != nil || first.Size() != len(schema(1)) {
		t.Fatal(first.Size(), err)
	}
	for i := range 3 {
		if _, err := c.Schema(schema(2 + i)); err != nil {
			t.Fatal(err)
		}
	}
	if again, _ := c.Schema(schema(1)); again != first || len(c.known) != 4 {
		t.Errorf("after 3 others, the cache has %d grammars", len(c.known))
	}
	if _, err := c.Schema(schema(5)); err != nil {
		t.Fatal(err)
	}
	if again, _ := c.Schema(schema(2)); again == first || len(c.known) != 4 || c.entries.Len() != 4 || c.size > maxTexts {
		t.Errorf("afterwards, the cache has %d grammars of %d bytes", len(c.known), c.size)
	}
	if _, err := c.Schema([]byte(`{}` + strings.Repeat(" ", maxTexts))); err != nil || len(c.known) != 4 {
		t.Errorf("with a text that is too long, the cache has %d grammars; %v", len(c.known), err)
	}
}

// FuzzSchema compiles texts, and follows documents of what is a schema.
func FuzzSchema(f *testing.F) {
	for _, c := range schemaCases {
		f.Add(c.schema, strings.Join(append(c.in, c.out...), " "))
	}
	f.Fuzz(func(t *testing.T, schema, text string) {
		g, err := Schema([]byte(schema))
		if err != nil {
			return
		}
		m := g.NewMatcher(newVocabulary([]string{"{", "\"", "a", "1", "}", "true", "\": ", ""}, []int32{7}))
		if err := m.Mask(make([]uint32, 1)); err != nil && !errors.Is(err, ErrStuck) {
			t.Error(err)
		}
		g.Match(text)
	})
}
