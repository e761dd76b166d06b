package chat

import "strings"

// prepare returns a template for the engine that means what source means to
// Jinja with trim_blocks and lstrip_blocks, as transformers sets them. The
// engine trims white space also across tags, and its filter tojson is not
// Python's. Therefore prepare applies the rules for white space itself, writes
// text as string literals, which the engine does not trim, drops comments, replaces
// the name of the filter, and prints values as Python does.
func prepare(source string) string {
	source = strings.ReplaceAll(source, "\r\n", "\n")
	l := lexer{rest: strings.TrimSuffix(source, "\n"), lineStart: true}
	for l.rest != "" {
		l.next()
	}
	return l.out.String()
}

// lexer splits a template into text, tags and comments.
type lexer struct {
	rest      string
	out       strings.Builder
	lineStart bool // rest starts a line, or a tag took the line break before it
}

// next handles the text before the next tag or comment, and that.
func (l *lexer) next() {
	i := 0
	for i < len(l.rest) && !opens(l.rest[i:]) {
		i++
	}
	text, rest := l.rest[:i], l.rest[i:]
	if rest == "" {
		l.text(text)
		l.rest = ""
		return
	}
	n := length(rest)
	tag := rest[:n]
	l.text(l.trimBefore(text, tag))
	l.rest = rest[n:]
	l.lineStart = false
	switch {
	case named(tag, "raw"):
		l.raw(tag)
		return
	case tag[1] != '#':
		l.tag(renameTag(bare(tag)))
	}
	l.trimAfter(tag)
}

// tag writes a tag, with the calls that limit what the template may do.
func (l *lexer) tag(tag string) {
	switch word(tag) {
	case "for":
		l.out.WriteString(tag + "{{ " + stepped + "() }}")
	case "macro":
		l.out.WriteString(tag + "{{ " + entered + "() }}")
	case "endmacro":
		l.out.WriteString("{{ " + left + "() }}" + tag)
	case "set":
		l.out.WriteString(limitTag(tag))
	default:
		l.out.WriteString(printTag(tag))
	}
}

// word returns the first word of a statement, or "" for a tag that prints.
func word(tag string) string {
	s, ok := strings.CutPrefix(tag, "{%")
	if s = strings.TrimLeft(s, spaces); !ok {
		return ""
	}
	n := 0
	for continuesName(s[n:]) {
		n++
	}
	return s[:n]
}

// limitTag returns a tag that sets a variable to a value of limited size.
func limitTag(tag string) string {
	names, value, ok := strings.Cut(tag, "=")
	value, ended := strings.CutSuffix(value, "%}")
	if !ok || !ended || strings.Contains(names, ",") || strings.TrimSpace(value) == "" {
		return tag
	}
	return names + "= " + limited + "(" + value + ") %}"
}

// raw writes what follows the tag raw as text, up to the tag endraw. The line
// break after raw is part of the text.
func (l *lexer) raw(begin string) {
	if strings.HasSuffix(begin, "-%}") {
		l.rest = strings.TrimLeft(l.rest, spaces)
	}
	for i := range len(l.rest) {
		if !strings.HasPrefix(l.rest[i:], "{%") {
			continue
		}
		n := length(l.rest[i:])
		if tag := l.rest[i : i+n]; named(tag, "endraw") {
			l.text(l.trimBefore(l.rest[:i], tag))
			l.rest = l.rest[i+n:]
			l.trimAfter(tag)
			return
		}
	}
	l.text(l.rest)
	l.rest = ""
}

// opens reports whether s starts with a tag or a comment.
func opens(s string) bool {
	return len(s) > 1 && s[0] == '{' && (s[1] == '{' || s[1] == '%' || s[1] == '#')
}

// length returns the length of the tag or comment at the start of s.
func length(s string) int {
	end := map[byte]string{'{': "}}", '%': "%}", '#': "#}"}[s[1]]
	for i := 2; i < len(s); i++ {
		if n := quoted(s[i:]); n > 0 && s[1] != '#' {
			i += n - 1
		} else if strings.HasPrefix(s[i:], end) {
			return i + 2
		}
	}
	return len(s)
}

// named reports whether a tag consists of one word, apart from the marks that
// control white space.
func named(tag, word string) bool {
	return tag[1] == '%' && strings.TrimSpace(strings.TrimRight(strings.TrimPrefix(bare(tag), "{%"), "%}")) == word
}

// bare returns the tag without the marks that control white space.
func bare(tag string) string {
	s := tag[2:]
	if s != "" && (s[0] == '-' || s[0] == '+') {
		s = " " + s[1:]
	}
	if n := len(s) - 3; n >= 0 && (s[n] == '-' || s[n] == '+') {
		s = s[:n] + " " + s[n+1:]
	}
	return tag[:2] + s
}

// trimBefore returns the text before a tag without the white space that the tag
// removes.
func (l *lexer) trimBefore(text, tag string) string {
	mark := byte(0)
	if len(tag) > 2 {
		mark = tag[2]
	}
	switch {
	case mark == '-':
		return strings.TrimRight(text, spaces)
	case mark == '+' || tag[1] == '{':
		return text
	}
	begin := strings.LastIndexByte(text, '\n') + 1 // of the tag's line
	if (begin > 0 || l.lineStart) && strings.Trim(text[begin:], spaces) == "" {
		return text[:begin]
	}
	return text
}

// spaces is ASCII white space, as far as it is in templates.
const spaces = " \t\n\r\v\f"

// trimAfter removes the white space after a tag that the tag removes.
func (l *lexer) trimAfter(tag string) {
	mark := byte(0)
	if len(tag) > 4 {
		mark = tag[len(tag)-3]
	}
	rest := l.rest
	switch {
	case mark == '-':
		rest = strings.TrimLeft(rest, spaces)
	case mark != '+' && tag[1] != '{':
		rest = strings.TrimPrefix(rest, "\n")
	}
	if removed := len(l.rest) - len(rest); removed > 0 {
		l.lineStart = l.rest[removed-1] == '\n'
	}
	l.rest = rest
}

// literal escapes what cannot stand in a string literal.
var literal = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// text writes text as a tag with a string literal.
func (l *lexer) text(s string) {
	if s != "" {
		l.out.WriteString("{{ " + printed + `("` + literal.Replace(s) + `") }}`)
	}
}

// quoted returns the length of the string literal at the start of s, or 0.
func quoted(s string) int {
	if s[0] != '\'' && s[0] != '"' {
		return 0
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return i + 1
		}
	}
	return len(s)
}

// printTag returns a tag that prints a value as Python does. Tags of statements stay as they are.
func printTag(tag string) string {
	value, ok := strings.CutPrefix(tag, "{{")
	if value, ended := strings.CutSuffix(value, "}}"); ok && ended && strings.TrimSpace(value) != "" {
		return "{{ " + printed + "(" + value + ") }}"
	}
	return tag
}

// renamed are the names of the filters that replace those of the engine.
var renamed = map[string]string{"tojson": toJSON, "string": printed}

// renameTag replaces the names of filters in a tag.
func renameTag(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		if n := quoted(s[i:]); n > 0 {
			b.WriteString(s[i : i+n])
			i += n
			continue
		}
		b.WriteByte(s[i])
		i++
		if s[i-1] != '|' {
			continue
		}
		for i < len(s) && strings.IndexByte(spaces, s[i]) >= 0 {
			b.WriteByte(s[i])
			i++
		}
		n := 0
		for continuesName(s[i+n:]) {
			n++
		}
		if name, ok := renamed[s[i:i+n]]; ok {
			b.WriteString(name)
			i += n
		}
	}
	return b.String()
}

// continuesName reports whether s starts with a character of an identifier.
func continuesName(s string) bool {
	if s == "" {
		return false
	}
	c := s[0]
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
