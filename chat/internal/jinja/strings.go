package jinja

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// stringMethod returns a method of strings, or nil. Methods that only return a part of their string allocate nothing.
func stringMethod(name string) func(*run, string, arguments) Value {
	switch name {
	case "strip", "lstrip", "rstrip":
		return func(r *run, s string, a arguments) Value { return r.strip(name, s, a.get(0, "chars", nil)) }
	case "split", "rsplit":
		return func(r *run, s string, a arguments) Value { return r.split(s, a, name == "rsplit") }
	case "splitlines":
		return func(r *run, s string, _ arguments) Value { return r.stringList(r.lines(s)) }
	case "startswith", "endswith":
		return func(r *run, s string, a arguments) Value { return r.affix(name, s, a.get(0, "", nil)) }
	case "removeprefix":
		return func(r *run, s string, a arguments) Value { return strings.TrimPrefix(s, r.str(a.get(0, "", nil))) }
	case "removesuffix":
		return func(r *run, s string, a arguments) Value { return strings.TrimSuffix(s, r.str(a.get(0, "", nil))) }
	case "replace":
		return replace
	case "upper", "lower", "capitalize", "title", "swapcase":
		return func(r *run, s string, _ arguments) Value { return r.caseOf(name, s) }
	case "count":
		return func(r *run, s string, a arguments) Value {
			r.read(len(s))
			return int64(strings.Count(s, r.str(a.get(0, "", nil))))
		}
	case "find", "rfind", "index":
		return func(r *run, s string, a arguments) Value { return r.find(name, s, r.str(a.get(0, "", nil))) }
	case "join":
		return func(r *run, s string, a arguments) Value { return r.join(r.iterate(a.get(0, "", nil)), s) }
	case "format":
		return (*run).braces
	case "isdigit", "isalpha", "isalnum", "isspace", "isupper", "islower", "isnumeric", "isdecimal":
		return func(r *run, s string, _ arguments) Value { return r.consists(name, s) }
	case "ljust", "rjust", "center", "zfill":
		return func(r *run, s string, a arguments) Value { return r.pad(name, s, a) }
	case "partition", "rpartition":
		return func(r *run, s string, a arguments) Value { return r.partition(name, s, r.str(a.get(0, "", nil))) }
	}
	return nil
}

func (r *run) strip(name, s string, chars Value) string {
	r.read(len(s))
	in := isSpace
	if chars != nil {
		set := r.str(chars)
		if len(set) > 1000 {
			r.fail("%s of more than 1000 characters", name)
		}
		in = func(c rune) bool { return strings.ContainsRune(set, c) }
	}
	if name != "rstrip" {
		s = strings.TrimLeftFunc(s, in)
	}
	if name != "lstrip" {
		s = strings.TrimRightFunc(s, in)
	}
	return s
}

// stringList returns a list of strings.
func (r *run) stringList(parts []string) *List {
	r.elements(len(parts), 0)
	r.allocate(len(parts) * bytesPerElement)
	l := &List{items: make([]Value, len(parts))}
	for i, p := range parts {
		l.items[i] = p
	}
	return l
}

// split splits a string at a separator, or at whitespace.
func (r *run) split(s string, a arguments, fromEnd bool) Value {
	most := int64(-1)
	if v := a.get(1, "maxsplit", nil); v != nil {
		most = r.integer(v, "maxsplit")
	}
	separator, ok := a.get(0, "sep", nil).(string)
	if ok && separator == "" {
		r.fail("the separator is empty")
	}
	r.read(len(s))
	if fromEnd && most >= 0 {
		return r.splitFromEnd(s, separator, most)
	}
	n := int(min(most, int64(len(s)))) + 1
	if most < 0 {
		n = -1
	}
	if ok {
		r.elements(strings.Count(s, separator)+1, 0)
		return r.stringList(strings.SplitN(s, separator, n))
	}
	var parts []string
	for s = strings.TrimLeftFunc(s, isSpace); s != ""; s = strings.TrimLeftFunc(s, isSpace) {
		r.elements(1, len(parts)+1)
		end := strings.IndexFunc(s, isSpace)
		if end < 0 || len(parts)+1 == n {
			end = len(strings.TrimRightFunc(s, isSpace))
			if len(parts)+1 == n {
				end = len(s)
			}
		}
		parts, s = append(parts, s[:end]), s[end:]
	}
	return r.stringList(parts)
}

// splitFromEnd splits a string at no more than a number of separators, from its end.
func (r *run) splitFromEnd(s, separator string, most int64) Value {
	var parts []string
	for ; most > 0; most-- {
		r.elements(1, len(parts)+1)
		if separator == "" {
			s = strings.TrimRightFunc(s, isSpace)
		}
		i, n := strings.LastIndex(s, separator), len(separator)
		if separator == "" {
			i = strings.LastIndexFunc(s, isSpace)
			_, n = utf8.DecodeRuneInString(s[max(i, 0):])
		}
		if i < 0 {
			break
		}
		parts, s = append(parts, s[i+n:]), s[:i]
	}
	if separator == "" {
		s = strings.TrimRightFunc(s, isSpace)
	}
	if separator != "" || s != "" {
		parts = append(parts, s)
	}
	slices.Reverse(parts)
	return r.stringList(parts)
}

// lines splits a string at line breaks, also those of Unicode.
func (r *run) lines(s string) []string {
	var parts []string
	for s != "" {
		r.elements(1, len(parts)+1)
		i := strings.IndexAny(s, "\n\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029")
		if i < 0 {
			r.read(len(s))
			return append(parts, s)
		}
		r.read(i)
		_, n := utf8.DecodeRuneInString(s[i:])
		if strings.HasPrefix(s[i:], "\r\n") {
			n = 2
		}
		parts, s = append(parts, s[:i]), s[i+n:]
	}
	return parts
}

// affix is startswith and endswith, of a string or a tuple of strings.
func (r *run) affix(name, s string, v Value) Value {
	if l, ok := v.(*List); ok {
		for _, v := range l.items {
			if r.spend(1); r.affix(name, s, r.str(v)) == true {
				return true
			}
		}
		return false
	}
	part, ok := v.(string)
	if !ok {
		r.fail("%s of a value of type %s", name, kindOf(v))
	}
	r.read(len(part))
	if name == "startswith" {
		return strings.HasPrefix(s, part)
	}
	return strings.HasSuffix(s, part)
}

// replace is the method and the filter replace.
func replace(r *run, s string, a arguments) Value {
	from, to := r.str(a.get(0, "old", nil)), r.str(a.get(1, "new", nil))
	r.read(len(s))
	n := strings.Count(s, from)
	if v := a.get(2, "count", nil); v != nil {
		if most := r.integer(v, "count"); most >= 0 {
			n = int(min(int64(n), most))
		}
	}
	r.bytes(len(s)+times(len(to), n), 0)
	return strings.Replace(s, from, to, n)
}

// caseOf returns a string in other letters.
func (r *run) caseOf(name, s string) string {
	r.bytes(len(s), 0)
	switch name {
	case "upper":
		return strings.ToUpper(s)
	case "lower":
		return strings.ToLower(s)
	}
	within := false // a word
	return strings.Map(func(c rune) rune {
		upper := !within
		switch name {
		case "swapcase":
			upper = unicode.IsLower(c)
			within = true
		case "capitalize":
			within = true
		case "title": // the method
			within = unicode.IsLetter(c)
		default: // the filter title, for which words end only at some characters
			within = !isSpace(c) && !strings.ContainsRune("-({[<", c)
		}
		if upper {
			return unicode.ToUpper(c)
		}
		return unicode.ToLower(c)
	}, s)
}

// find returns the index of a part among the characters of a string.
func (r *run) find(name, s, part string) Value {
	r.read(len(s))
	i := strings.Index(s, part)
	if name == "rfind" {
		i = strings.LastIndex(s, part)
	}
	switch {
	case i >= 0:
		return int64(utf8.RuneCountInString(s[:i]))
	case name == "index":
		r.fail("the string does not contain the part")
	}
	return int64(-1)
}

// join joins the texts of values.
func (r *run) join(list []Value, separator string) string {
	b := builder{w: &r.work}
	for i, v := range list {
		r.spend(1)
		if i > 0 {
			b.write(separator)
		}
		b.write(r.str(v))
	}
	return b.String()
}

// consists reports whether all characters of a string are of one kind, and whether there are any.
func (r *run) consists(name, s string) Value {
	r.read(len(s))
	cased := false
	for _, c := range s {
		ok := true
		switch name {
		case "isalpha":
			ok = unicode.IsLetter(c)
		case "isalnum":
			ok = unicode.IsLetter(c) || unicode.IsNumber(c)
		case "isspace":
			ok = isSpace(c)
		case "isupper":
			ok = !unicode.IsLower(c)
			cased = cased || unicode.IsUpper(c)
		case "islower":
			ok = !unicode.IsUpper(c)
			cased = cased || unicode.IsLower(c)
		default:
			ok = unicode.IsDigit(c)
		}
		if !ok {
			return false
		}
	}
	if name == "isupper" || name == "islower" {
		return cased
	}
	return s != ""
}

// pad fills a string up to a width.
func (r *run) pad(name, s string, a arguments) Value {
	n := int(min(r.integer(a.get(0, "width", int64(80)), "the width"), mostAllocated)) - utf8.RuneCountInString(s)
	fill := r.str(a.get(1, "fillchar", " "))
	if n <= 0 {
		return s
	}
	b := builder{w: &r.work}
	left, right := 0, 0
	switch name {
	case "ljust":
		right = n
	case "rjust":
		left = n
	case "center":
		left = n / 2
		right = n - left
	default: // zfill
		if strings.HasPrefix(s, "-") || strings.HasPrefix(s, "+") {
			b.write(s[:1])
			s = s[1:]
		}
		left, fill = n, "0"
	}
	b.repeat(fill, left)
	b.write(s)
	b.repeat(fill, right)
	return b.String()
}

// partition returns what precedes a separator, the separator, and what follows it.
func (r *run) partition(name, s, separator string) Value {
	if separator == "" {
		r.fail("the separator is empty")
	}
	r.read(len(s))
	i := strings.Index(s, separator)
	if name == "rpartition" {
		i = strings.LastIndex(s, separator)
	}
	parts := []string{s, "", ""}
	switch {
	case i >= 0:
		parts = []string{s[:i], separator, s[i+len(separator):]}
	case name == "rpartition":
		parts = []string{"", "", s}
	}
	l := r.stringList(parts)
	l.tuple = true
	return l
}
