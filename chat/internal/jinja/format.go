package jinja

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// spec says how to write a value.
type spec struct {
	fill             string
	align            byte // < > ^, or = for a fill between the sign and the digits
	sign             byte // + or a space for numbers that are not negative
	width, precision int  // precision is -1 for the default
	kind             byte // d, f, s and so on
	comma            bool // between thousands
}

// directive is a directive of Python's % operator.
var directive = regexp.MustCompile(`%(?:\(([^)]*)\))?([-+ #0]*)(\d*)(?:\.(\d+))?([a-zA-Z%])`)

// percent is Python's % operator of strings.
func (r *run) percent(format string, x Value) string {
	args := []Value{x}
	if l, ok := x.(*List); ok && l.tuple {
		args = l.items
	}
	d, isDict := x.(*Dict)
	b := builder{w: &r.work}
	used := 0
	r.read(len(format))
	for m := directive.FindStringSubmatchIndex(format); m != nil; m = directive.FindStringSubmatchIndex(format) {
		r.spend(1)
		part := func(i int) string { return format[max(m[2*i], 0):max(m[2*i+1], 0)] }
		b.write(format[:m[0]])
		var v Value
		switch {
		case part(5) == "%":
			b.write("%")
			format = format[m[1]:]
			continue
		case m[2] >= 0 && isDict:
			v = d.find(part(1), nil)
		case used < len(args):
			v = args[used]
			used++
		default:
			r.fail("there are not enough values for the format")
		}
		b.formatted(percentSpec(part(2), part(3), part(4), part(5)[0]), v)
		format = format[m[1]:]
	}
	b.write(format)
	if !isDict && used < len(args) {
		r.fail("the format does not use all values")
	}
	return b.String()
}

// percentSpec returns what a directive says.
func percentSpec(flags, width, precision string, kind byte) spec {
	s := spec{fill: " ", align: '>', width: size(width, 0), precision: size(precision, -1), kind: kind}
	switch {
	case strings.Contains(flags, "-"):
		s.align = '<'
	case strings.Contains(flags, "0") && kind != 's' && kind != 'r':
		s.fill, s.align = "0", '='
	}
	if i := strings.IndexAny(flags, "+ "); i >= 0 {
		s.sign = flags[i]
	}
	return s
}

// size returns a width or a precision, or a number above all limits.
func size(digits string, otherwise int) int {
	if digits == "" {
		return otherwise
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n > mostAllocated {
		return mostAllocated + 1
	}
	return n
}

// braces is Python's method format of strings.
func (r *run) braces(format string, a arguments) Value {
	b := builder{w: &r.work}
	r.read(len(format))
	next := 0
	for {
		i := strings.IndexAny(format, "{}")
		if i < 0 {
			b.write(format)
			return b.String()
		}
		r.spend(1)
		b.write(format[:i])
		if i+1 < len(format) && format[i+1] == format[i] {
			b.write(format[i : i+1])
			format = format[i+2:]
			continue
		}
		n := strings.IndexByte(format[i:], '}')
		if format[i] == '}' || n < 0 {
			r.fail("a single brace in a format")
		}
		field, layout, _ := strings.Cut(format[i+1:i+n], ":")
		field, conversion, _ := strings.Cut(field, "!")
		if field == "" || strings.IndexAny(field, ".[") == 0 {
			field = strconv.Itoa(next) + field
			next++
		}
		v := r.field(field, a)
		switch conversion {
		case "r":
			v = r.repr(v)
		case "s":
			v = r.str(v)
		}
		b.formatted(r.braceSpec(layout, v), v)
		format = format[i+n+1:]
	}
}

// field returns the argument that a field of a format names, such as 0, name, name.attribute or name[0].
func (r *run) field(name string, a arguments) Value {
	i := strings.IndexAny(name, ".[")
	if i < 0 {
		i = len(name)
	}
	first, rest := name[:i], strings.NewReplacer("[", ".", "]", "").Replace(name[i:])
	v, ok := a.named[first]
	if n, err := strconv.Atoi(first); err == nil {
		if ok = n < len(a.list); ok {
			v = a.list[n]
		}
	}
	if !ok {
		r.fail("the format has no value for %q", first)
	}
	if rest == "" {
		return v
	}
	return r.path(v, rest[1:])
}

// layout is the part of a field of Python's formats that follows the colon.
var layout = regexp.MustCompile(`^(?:(.)?([<>=^]))?([-+ ])?#?(0)?(\d*)(,)?(?:\.(\d+))?([a-zA-Z%])?$`)

// braceSpec returns what the layout of a field says.
func (r *run) braceSpec(text string, v Value) spec {
	m := layout.FindStringSubmatch(text)
	if m == nil {
		r.fail("unknown format %.60q", text)
	}
	s := spec{fill: " ", align: '<', width: size(m[5], 0), precision: size(m[7], -1), comma: m[6] != ""}
	if _, isNumber := toFloat(v); isNumber {
		s.align = '>'
	}
	if m[1] != "" {
		s.fill = m[1]
	}
	switch {
	case m[2] != "":
		s.align = m[2][0]
	case m[4] != "":
		s.fill, s.align = "0", '='
	}
	if m[3] != "" && m[3] != "-" {
		s.sign = m[3][0]
	}
	if m[8] != "" {
		s.kind = m[8][0]
	}
	return s
}

// formatted appends a value.
func (b *builder) formatted(s spec, v Value) {
	text := b.w.converted(s, v)
	if s.sign != 0 && s.kind != 's' && s.kind != 'r' && !strings.HasPrefix(text, "-") {
		text = string(s.sign) + text
	}
	b.w.bytes(s.width, 0)
	missing := max(0, s.width-utf8.RuneCountInString(text))
	left := 0
	switch s.align {
	case '>', '=':
		left = missing
	case '^':
		left = missing / 2
	}
	if s.align == '=' && text != "" && strings.IndexByte("+- ", text[0]) >= 0 {
		b.write(text[:1])
		text = text[1:]
	}
	b.repeat(s.fill, left)
	b.write(text)
	b.repeat(s.fill, missing-left)
}

// converted returns the text of a value, before it is padded.
func (w *work) converted(s spec, v Value) string {
	g, isNumber := toFloat(v)
	n, isInt := numeric(v).(int64)
	switch s.kind {
	case 0:
		if isNumber && (s.precision >= 0 || s.comma) {
			s.kind = map[bool]byte{true: 'd', false: 'g'}[isInt]
			return w.digits(s, g, n)
		}
		fallthrough
	case 's':
		text := w.str(v)
		if s.precision >= 0 && s.precision < len(text) {
			w.bytes(times(len(text), 4), 0)
			text = string([]rune(text)[:min(s.precision, utf8.RuneCountInString(text))])
		}
		return text
	case 'r':
		return w.repr(v)
	case 'd', 'i', 'u', 'x', 'X', 'o', 'b', 'c':
		if !isInt && isNumber && strings.IndexByte("diu", s.kind) >= 0 {
			n, isInt = int64(g), true
		}
		if isInt {
			return w.digits(s, g, n)
		}
	case 'e', 'E', 'f', 'F', 'g', 'G', '%':
		if isNumber {
			return w.digits(s, g, n)
		}
	default:
		w.fail("unknown format %q", s.kind)
	}
	w.fail("the format %c of a value of type %s", s.kind, kindOf(v))
	return ""
}

// digits returns the digits of a number: of g for the formats of floating-point numbers, and otherwise of n.
func (w *work) digits(s spec, g float64, n int64) string {
	text := ""
	if s.precision < 0 {
		s.precision = 6
	}
	s.precision = min(s.precision, 1000)
	switch s.kind {
	case 'd', 'i', 'u':
		text = strconv.FormatInt(n, 10)
	case 'x':
		text = strconv.FormatInt(n, 16)
	case 'X':
		text = strings.ToUpper(strconv.FormatInt(n, 16))
	case 'o':
		text = strconv.FormatInt(n, 8)
	case 'b':
		text = strconv.FormatInt(n, 2)
	case 'c':
		return string(rune(n))
	case '%':
		text = strconv.FormatFloat(100*g, 'f', s.precision, 64) + "%"
	case 'g', 'G':
		text = general(g, max(s.precision, 1), s.kind)
	default:
		text = strconv.FormatFloat(g, s.kind|0x20, s.precision, 64)
	}
	if s.comma {
		text = thousands(text)
	}
	return text
}

// general returns a number in the format %g of C.
func general(g float64, precision int, kind byte) string {
	text := strconv.FormatFloat(g, 'e', precision-1, 64)
	i := strings.IndexByte(text, 'e')
	exponent, err := strconv.Atoi(text[i+1:])
	if i < 0 || err != nil {
		return text // not a number, or infinite
	}
	mantissa, tail := text[:i], text[i:]
	if exponent >= -4 && exponent < precision {
		mantissa, tail = strconv.FormatFloat(g, 'f', precision-1-exponent, 64), ""
	}
	if strings.Contains(mantissa, ".") {
		mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
	}
	if kind == 'G' {
		return strings.ToUpper(mantissa + tail)
	}
	return mantissa + tail
}

// thousands puts commas between the thousands of a number.
func thousands(text string) string {
	n := strings.IndexFunc(text, func(r rune) bool { return r != '-' && (r < '0' || r > '9') })
	if n < 0 {
		n = len(text)
	}
	for i := n - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
