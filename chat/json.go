package chat

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ardanlabs/jinja"
)

// toJSON is the name under which templates find dump. The engine's own filter
// tojson cannot be replaced under its name; it sorts keys when it indents, and
// writes numbers in Go's format.
const toJSON = "tojson_as_python"

// dump is the filter tojson as transformers defines it: Python's json.dumps with
// ensure_ascii=False, in which a template may set ensure_ascii, indent and
// separators.
func dump(args []jinja.Value, named map[string]jinja.Value) (jinja.Value, error) {
	if len(args) == 0 {
		return jinja.Undefined(), fmt.Errorf("tojson without a value")
	}
	e := encoder{item: ", ", key: ": ", indent: -1}
	for i, name := range []string{"ensure_ascii", "indent", "separators", "sort_keys"} {
		v, ok := named[name]
		if !ok && i+1 < len(args) {
			v, ok = args[i+1], true
		}
		if ok {
			e.set(name, v)
		}
	}
	e.encode(args[0], 0)
	return jinja.NewString(e.b.String()), e.err
}

// encoder writes JSON as Python does.
type encoder struct {
	b         strings.Builder
	ascii     bool
	indent    int // number of spaces for each level; -1 puts all on one line
	item, key string
	err       error
}

// set sets a parameter of the filter.
func (e *encoder) set(name string, v jinja.Value) {
	switch {
	case name == "ensure_ascii":
		e.ascii = v.IsTruthy()
	case name == "indent" && v.IsInt():
		e.indent = int(min(max(v.AsInt(), 0), 16))
		if e.item == ", " {
			e.item = ","
		}
	case name == "separators" && v.IsList() && v.AsList().Len() == 2:
		item, key := v.AsList().Get(0), v.AsList().Get(1)
		if item.IsString() && key.IsString() {
			e.item, e.key = item.AsString(), key.AsString()
		}
	case name == "sort_keys" && v.IsTruthy():
		e.err = fmt.Errorf("tojson with sort_keys is not supported")
	}
}

// encode appends a value at a depth of nesting.
func (e *encoder) encode(v jinja.Value, depth int) {
	switch {
	case v.IsNone():
		e.b.WriteString("null")
	case v.IsBool():
		e.b.WriteString(strconv.FormatBool(v.AsBool()))
	case v.IsInt():
		e.b.WriteString(strconv.FormatInt(v.AsInt(), 10))
	case v.IsFloat():
		e.b.WriteString(number(v.AsFloat()))
	case v.IsString():
		e.string(v.AsString())
	case v.IsList():
		list := v.AsList()
		e.sequence("[]", list.Len(), depth, func(i int) { e.encode(list.Get(i), depth+1) })
	case v.IsDict():
		dict := v.AsDict()
		keys := dict.OrderedKeys()
		e.sequence("{}", len(keys), depth, func(i int) {
			e.string(keys[i])
			e.b.WriteString(e.key)
			value, _ := dict.Get(keys[i])
			e.encode(value, depth+1)
		})
	default:
		e.err = fmt.Errorf("tojson of %v, which JSON cannot express", v)
	}
}

// sequence appends the n items of a list or an object.
func (e *encoder) sequence(brackets string, n, depth int, item func(i int)) {
	e.b.WriteByte(brackets[0])
	for i := range n {
		if i > 0 {
			e.b.WriteString(e.item)
		}
		e.line(depth + 1)
		item(i)
	}
	if n > 0 {
		e.line(depth)
	}
	e.b.WriteByte(brackets[1])
}

// line starts a line if values are indented.
func (e *encoder) line(depth int) {
	if e.indent >= 0 {
		e.b.WriteByte('\n')
		e.b.WriteString(strings.Repeat(" ", e.indent*depth))
	}
}

// string appends a string literal.
func (e *encoder) string(s string) {
	e.b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			e.b.WriteByte('\\')
			e.b.WriteRune(r)
		case r == '\n':
			e.b.WriteString(`\n`)
		case r == '\r':
			e.b.WriteString(`\r`)
		case r == '\t':
			e.b.WriteString(`\t`)
		case r == '\b':
			e.b.WriteString(`\b`)
		case r == '\f':
			e.b.WriteString(`\f`)
		case r < ' ' || e.ascii && r >= 0x7f && r < 0x10000:
			fmt.Fprintf(&e.b, `\u%04x`, r)
		case e.ascii && r >= utf8.RuneSelf:
			r -= 0x10000
			fmt.Fprintf(&e.b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			e.b.WriteRune(r)
		}
	}
	e.b.WriteByte('"')
}

// number returns a float as Python writes it.
func number(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}
