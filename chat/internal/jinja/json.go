package jinja

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// dump is the filter tojson as transformers defines it: Python's json.dumps with ensure_ascii=False, in which a template may set
// ensure_ascii, indent, separators and sort_keys.
func dump(r *run, x Value, a arguments) Value {
	e := encoder{builder: builder{w: &r.work}, item: ", ", key: ": ", indent: -1}
	e.ascii = truthy(a.get(0, "ensure_ascii", false))
	if n, ok := a.get(1, "indent", nil).(int64); ok {
		e.indent = int(min(max(n, 0), 16))
		e.item = ","
	}
	if l, ok := a.get(2, "separators", nil).(*List); ok && len(l.items) == 2 {
		e.item, e.key = r.str(l.items[0]), r.str(l.items[1])
	}
	e.sort = truthy(a.get(3, "sort_keys", false))
	e.encode(x, 0)
	return e.String()
}

// encoder writes JSON as Python does.
type encoder struct {
	builder
	ascii     bool
	indent    int // number of spaces for each level; -1 puts all on one line
	item, key string
	sort      bool
}

// encode appends a value at a depth of nesting.
func (e *encoder) encode(v Value, depth int) {
	e.w.enter()
	defer e.w.leave()
	switch v := v.(type) {
	case nil:
		e.write("null")
	case bool:
		e.write(strconv.FormatBool(v))
	case int64:
		e.write(strconv.FormatInt(v, 10))
	case float64:
		e.write(jsonFloat(v))
	case string:
		e.string(v)
	case *List:
		e.sequence("[]", len(v.items), depth, func(i int) { e.encode(v.items[i], depth+1) })
	case *Dict:
		e.object(v, depth)
	default:
		e.w.fail("tojson of a value of type %s", kindOf(v))
	}
}

// jsonFloat returns a floating-point number as Python's package json does.
func jsonFloat(f float64) string {
	s := pythonFloat(f)
	if name, ok := map[string]string{"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[s]; ok {
		return name
	}
	return s
}

func (e *encoder) object(d *Dict, depth int) {
	keys := d.keys
	if e.sort {
		e.w.elements(len(keys), 0)
		keys = slices.Clone(keys)
		slices.SortStableFunc(keys, func(x, y Value) int {
			s, ok := x.(string)
			t, also := y.(string)
			if !ok || !also {
				e.w.fail("tojson sorts only keys that are strings")
			}
			return strings.Compare(s, t)
		})
	}
	e.sequence("{}", len(keys), depth, func(i int) {
		switch key := keys[i].(type) {
		case string:
			e.string(key)
		default:
			e.write(`"`)
			e.encode(key, depth)
			e.write(`"`)
		}
		e.write(e.key)
		v, _ := d.get(keys[i])
		e.encode(v, depth+1)
	})
}

// sequence appends the n items of a list or an object.
func (e *encoder) sequence(brackets string, n, depth int, item func(i int)) {
	e.write(brackets[:1])
	for i := range n {
		if i > 0 {
			e.write(e.item)
		}
		e.newLine(depth + 1)
		item(i)
	}
	if n > 0 {
		e.newLine(depth)
	}
	e.write(brackets[1:])
}

// newLine starts a line if values are indented.
func (e *encoder) newLine(depth int) {
	if e.indent >= 0 {
		e.write("\n")
		e.repeat(" ", e.indent*depth)
	}
}

// string appends a string literal.
func (e *encoder) string(s string) {
	e.write(`"`)
	plain := 0 // where the characters begin that stand for themselves
	for i, r := range s {
		escaped := ""
		switch {
		case r >= ' ' && r < 0x7f && r != '"' && r != '\\':
			continue
		case r == '"' || r == '\\':
			escaped = `\` + string(r)
		case strings.ContainsRune("\n\r\t\b\f", r):
			escaped = map[rune]string{'\n': `\n`, '\r': `\r`, '\t': `\t`, '\b': `\b`, '\f': `\f`}[r]
		case r < ' ' || e.ascii && r >= 0x7f && r < 0x10000:
			escaped = fmt.Sprintf(`\u%04x`, r)
		case e.ascii && r >= utf8.RuneSelf:
			r -= 0x10000
			escaped = fmt.Sprintf(`\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			continue
		}
		e.write(s[plain:i])
		e.write(escaped)
		_, n := utf8.DecodeRuneInString(s[i:])
		plain = i + n
	}
	e.write(s[plain:])
	e.write(`"`)
}
