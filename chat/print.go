package chat

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/ardanlabs/jinja"
)

// printed is the name under which templates find work.print, instead of the filter string and in tags that print. The engine prints nothing
// for None, and floating-point numbers in Go's format.
const printed = "printed_as_python"

// display returns the text of a value, as Python's function str does.
func display(args []jinja.Value) (jinja.Value, error) {
	if len(args) != 1 {
		return jinja.Undefined(), fmt.Errorf("a tag that prints %d values", len(args))
	}
	if v := args[0]; v.IsNone() || v.IsBool() || v.IsInt() || v.IsFloat() || v.IsList() || v.IsDict() {
		var b strings.Builder
		represent(&b, v)
		return jinja.NewString(b.String()), nil
	}
	return args[0], nil
}

// represent appends a value as Python's function repr writes it.
func represent(b *strings.Builder, v jinja.Value) {
	switch {
	case v.IsFloat():
		b.WriteString(number(v.AsFloat()))
	case v.IsString():
		quote(b, v.AsString())
	case v.IsList():
		list := v.AsList()
		b.WriteByte('[')
		for i := range list.Len() {
			separate(b, i)
			represent(b, list.Get(i))
		}
		b.WriteByte(']')
	case v.IsDict():
		dict := v.AsDict()
		b.WriteByte('{')
		for i, key := range dict.OrderedKeys() {
			separate(b, i)
			quote(b, key)
			b.WriteString(": ")
			value, _ := dict.Get(key)
			represent(b, value)
		}
		b.WriteByte('}')
	default:
		b.WriteString(v.String())
	}
}

// separate precedes all elements but the first.
func separate(b *strings.Builder, i int) {
	if i > 0 {
		b.WriteString(", ")
	}
}

// quote appends a string literal of Python.
func quote(b *strings.Builder, s string) {
	mark := '\''
	if strings.ContainsRune(s, '\'') && !strings.ContainsRune(s, '"') {
		mark = '"'
	}
	b.WriteRune(mark)
	for _, r := range s {
		switch {
		case r == mark || r == '\\':
			b.WriteRune('\\')
			b.WriteRune(r)
		case r == '\n', r == '\r', r == '\t':
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		case r < 0x100 && !unicode.IsPrint(r):
			fmt.Fprintf(b, `\x%02x`, r)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(b, `\u%04x`, r)
		default:
			fmt.Fprintf(b, `\U%08x`, r)
		}
	}
	b.WriteRune(mark)
}
