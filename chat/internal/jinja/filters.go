package jinja

import (
	"html"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// apply applies a filter to a value.
func (r *run) apply(name string, x Value, a arguments) Value {
	switch name {
	case "tojson":
		return dump(r, x, a)
	case "default", "d":
		if _, undefined := x.(Undefined); undefined || truthy(a.get(1, "boolean", false)) && !truthy(x) {
			return a.get(0, "default_value", "")
		}
		return x
	case "safe", "string":
		return r.str(x)
	case "length", "count":
		return r.length(x)
	case "trim":
		return r.strip("strip", r.str(x), a.get(0, "chars", nil))
	case "upper", "lower", "capitalize":
		return r.caseOf(name, r.str(x))
	case "title":
		return r.caseOf("title filter", r.str(x))
	case "replace":
		return replace(r, r.str(x), a)
	case "indent":
		return r.indent(r.str(x), a)
	case "center":
		return r.pad(name, r.str(x), a)
	case "truncate":
		return r.truncate(r.str(x), a)
	case "format":
		return r.percent(r.str(x), &List{items: a.list, tuple: true})
	case "escape", "e", "forceescape":
		s := r.str(x)
		r.bytes(times(len(s), 5), 0)
		return html.EscapeString(s)
	case "wordcount":
		return int64(len(r.split(r.str(x), arguments{}, false).(*List).items))
	case "int", "float", "abs", "round":
		return r.number(name, x, a)
	}
	return r.applyToList(name, x, a)
}

// length returns the number of elements or characters.
func (r *run) length(x Value) Value {
	switch x := x.(type) {
	case string:
		r.read(len(x))
		return int64(utf8.RuneCountInString(x))
	case *List:
		return int64(len(x.items))
	case *Dict:
		return int64(len(x.keys))
	case Undefined:
		return int64(0)
	}
	r.fail("a value of type %s has no length", kindOf(x))
	return nil
}

// indent indents the lines of a string, usually except the first one and empty ones.
func (r *run) indent(s string, a arguments) string {
	b := builder{w: &r.work}
	by, isText := a.get(0, "width", int64(4)).(string)
	n := 1
	if !isText {
		by, n = " ", count(r.integer(a.get(0, "width", int64(4)), "the width"))
	}
	first, blank := truthy(a.get(1, "first", false)), truthy(a.get(2, "blank", false))
	for i, line := range r.lines(s + "\n") {
		if i > 0 {
			b.write("\n")
		}
		if i == 0 && first || i > 0 && (blank || line != "") {
			b.repeat(by, n)
		}
		b.write(line)
	}
	return b.String()
}

func (r *run) truncate(s string, a arguments) string {
	length := r.integer(a.get(0, "length", int64(255)), "the length")
	end := r.str(a.get(2, "end", "..."))
	leeway := r.integer(a.get(3, "leeway", int64(5)), "the leeway")
	runes := r.runes(s)
	keep := length - int64(utf8.RuneCountInString(end))
	if keep < 0 || leeway < 0 {
		r.fail("truncate needs a length of at least that of the end")
	}
	if int64(len(runes)) <= min(length, mostAllocated)+min(leeway, mostAllocated) {
		return s
	}
	r.bytes(len(s)+len(end), 0)
	cut := string(runes[:keep])
	if !truthy(a.get(1, "killwords", false)) {
		if i := strings.LastIndexByte(cut, ' '); i >= 0 {
			cut = cut[:i]
		}
	}
	return cut + end
}

// number applies a filter that returns a number.
func (r *run) number(name string, x Value, a arguments) Value {
	switch name {
	case "int":
		return r.toInteger(x, a)
	case "float":
		if s, ok := x.(string); ok {
			if f, err := strconv.ParseFloat(strings.TrimSpace(s), 64); err == nil {
				return f
			}
		} else if f, ok := toFloat(x); ok {
			return f
		}
		return a.get(0, "default", 0.0)
	}
	switch v := numeric(x).(type) {
	case int64:
		if name == "abs" {
			return max(v, -v)
		}
		if r.integer(a.get(0, "precision", int64(0)), "the precision") >= 0 {
			return v
		}
		return int64(round(r, float64(v), a))
	case float64:
		if name == "abs" {
			return math.Abs(v)
		}
		return round(r, v, a)
	}
	r.fail("%s of a value of type %s", name, kindOf(x))
	return nil
}

// toInteger is the filter int.
func (r *run) toInteger(x Value, a arguments) Value {
	switch v := numeric(x).(type) {
	case int64:
		return v
	case float64:
		if math.Abs(v) < 1<<63 {
			return int64(v)
		}
	case string:
		s := strings.ReplaceAll(strings.TrimSpace(v), "_", "")
		base := r.integer(a.get(1, "base", int64(10)), "the base")
		if base < 2 || base > 36 {
			r.fail("the base %d", base)
		}
		digits := s
		if prefix := map[int64]string{16: "0x", 8: "0o", 2: "0b"}[base]; prefix != "" {
			digits = strings.TrimPrefix(strings.ToLower(s), prefix)
		}
		if n, err := strconv.ParseInt(digits, int(base), 64); err == nil {
			return n
		}
		if f, err := strconv.ParseFloat(s, 64); err == nil && math.Abs(f) < 1<<63 {
			return int64(f)
		}
	}
	return a.get(0, "default", int64(0))
}

// round rounds a floating-point number to a number of digits after the point, halves to even.
func round(r *run, f float64, a arguments) float64 {
	digits := int(max(min(r.integer(a.get(0, "precision", int64(0)), "the precision"), 400), -400))
	scale := math.Pow10(digits)
	switch method := a.get(1, "method", "common"); method {
	case "ceil":
		return math.Ceil(f*scale) / scale
	case "floor":
		return math.Floor(f*scale) / scale
	case "common":
	default:
		r.fail("the method of round must be common, ceil or floor")
	}
	if digits < 0 {
		return math.RoundToEven(f*scale) / scale
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return f
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(f, 'f', digits, 64), 64) // rounds the exact value
	if err != nil {
		return f
	}
	return rounded
}

// applyToList applies a filter to a sequence.
func (r *run) applyToList(name string, x Value, a arguments) Value {
	switch name {
	case "items":
		if d, ok := x.(*Dict); ok {
			return r.pairs(d)
		}
		return &List{items: r.iterate(x)}
	case "list":
		return &List{items: r.copied(x)}
	case "join":
		return r.join(r.attributes(r.iterate(x), a.get(1, "attribute", nil)), r.str(a.get(0, "d", "")))
	case "first":
		return element(r.iterate(x), 0)
	case "last":
		list := r.iterate(x)
		return element(list, len(list)-1)
	case "reverse":
		return r.reverse(x)
	case "map", "select", "reject", "selectattr", "rejectattr":
		if !truthy(x) { // also None, unlike in other filters
			return &List{}
		}
		if name == "map" {
			return r.mapped(r.iterate(x), a)
		}
		return r.chosen(name, r.iterate(x), a)
	case "sort", "dictsort", "unique", "min", "max", "groupby":
		return r.ordered(name, x, a)
	case "sum":
		return r.sum(r.iterate(x), a)
	case "batch", "slice":
		return r.parts(name, r.iterate(x), a)
	case "attr":
		return r.attribute(x, r.str(a.get(0, "name", nil)))
	}
	r.fail("there is no filter %q", name)
	return nil
}

// end1 returns an element, if there is one.
func element(list []Value, i int) Value {
	if i < 0 || i >= len(list) {
		return Undefined{"the element of an empty sequence"}
	}
	return list[i]
}

// copied returns the elements of a value in a new slice.
func (r *run) copied(x Value) []Value {
	list := r.iterate(x)
	r.elements(len(list), 0)
	return slices.Clone(list)
}

func (r *run) reverse(x Value) Value {
	s, ok := x.(string)
	if !ok {
		list := r.copied(x)
		slices.Reverse(list)
		return &List{items: list}
	}
	runes := r.runes(s)
	r.bytes(len(s), 0)
	slices.Reverse(runes)
	return string(runes)
}
