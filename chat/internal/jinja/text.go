package jinja

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// str returns a value as Python's function str does.
func (w *work) str(v Value) string {
	switch v := v.(type) {
	case string:
		return v
	case Undefined:
		return ""
	}
	return w.repr(v)
}

// repr returns a value as Python's function repr does.
func (w *work) repr(v Value) string {
	b := builder{w: w}
	b.represent(v)
	return b.String()
}

// represent appends a value as Python's function repr does.
func (b *builder) represent(v Value) {
	b.w.enter()
	defer b.w.leave()
	switch v := v.(type) {
	case nil:
		b.write("None")
	case bool:
		b.write(map[bool]string{true: "True", false: "False"}[v])
	case int64:
		b.write(strconv.FormatInt(v, 10))
	case float64:
		b.write(pythonFloat(v))
	case string:
		b.quote(v)
	case *List:
		b.list(v)
	case *Dict:
		b.dict(v)
	case *namespace:
		b.write("<Namespace ")
		b.dict(v.Dict)
		b.write(">")
	case Undefined:
		b.write("Undefined")
	default:
		b.write("<function>")
	}
}

func (b *builder) list(l *List) {
	brackets := "[]"
	if l.tuple {
		brackets = "()"
	}
	b.write(brackets[:1])
	for i, v := range l.items {
		b.separate(i)
		b.represent(v)
	}
	if l.tuple && len(l.items) == 1 {
		b.write(",")
	}
	b.write(brackets[1:])
}

func (b *builder) dict(d *Dict) {
	b.write("{")
	for i, key := range d.keys {
		b.separate(i)
		b.represent(key)
		b.write(": ")
		v, _ := d.get(key)
		b.represent(v)
	}
	b.write("}")
}

// separate precedes all elements but the first.
func (b *builder) separate(i int) {
	if i > 0 {
		b.write(", ")
	}
}

// quote appends a string literal of Python.
func (b *builder) quote(s string) {
	mark := "'"
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		mark = `"`
	}
	b.write(mark)
	plain := 0 // where the characters begin that stand for themselves
	for i, r := range s {
		escaped := ""
		switch {
		case r >= ' ' && r < 0x7f && r != '\\' && byte(r) != mark[0]:
			continue
		case r == '\\' || string(r) == mark:
			escaped = `\` + string(r)
		case r == '\n', r == '\r', r == '\t':
			escaped = strings.Trim(strconv.QuoteRune(r), "'")
		case r < 0x100 && !unicode.IsPrint(r):
			escaped = fmt.Sprintf(`\x%02x`, r)
		case unicode.IsPrint(r):
			continue
		case r < 0x10000:
			escaped = fmt.Sprintf(`\u%04x`, r)
		default:
			escaped = fmt.Sprintf(`\U%08x`, r)
		}
		b.write(s[plain:i])
		b.write(escaped)
		_, n := utf8.DecodeRuneInString(s[i:])
		plain = i + n
	}
	b.write(s[plain:])
	b.write(mark)
}

// pythonFloat returns a floating-point number as Python's function repr does.
func pythonFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
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
