package cpu

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// line is a line of Go and the place in the kernel's source that it is made of, or none.
type line struct {
	text string
	pos  ir.Pos
}

// writer collects lines. Scopes are the bodies of statements: each captured text is one.
type writer struct {
	lines []line
	pos   ir.Pos
	scope *scope
	gotos int
}

// scope is a Go block.
type scope struct{ outer *scope }

// within reports whether what is declared in s can be seen in t.
func (s *scope) within(t *scope) bool {
	for ; t != nil; t = t.outer {
		if t == s {
			return true
		}
	}
	return false
}

// at sets the position of the lines that follow, unless p is unknown.
func (w *writer) at(p ir.Pos) {
	if p.Known() {
		w.pos = p
	}
}

func (w *writer) line(format string, args ...any) {
	w.lines = append(w.lines, line{fmt.Sprintf(format, args...), w.pos})
}

func (w *writer) label(name string) { w.lines = append(w.lines, line{text: name + ":"}) }

func (w *writer) append(lines []line) { w.lines = append(w.lines, lines...) }

// capture returns the lines that f writes, in a scope of their own.
func (w *writer) capture(f func()) []line {
	outer, pos := w.lines, w.pos
	w.lines, w.scope = nil, &scope{w.scope}
	f()
	inner := w.lines
	w.lines, w.pos, w.scope = outer, pos, w.scope.outer
	return inner
}

// write writes lines with //line directives, so that compilers, debuggers and profiles speak of
// the kernel's source. Lines that only close something have none. It adds to index, for each line
// that it writes, which of lines that belongs to.
func write(b *strings.Builder, lines []line, index []int) []int {
	var now ir.Pos
	for i, l := range lines {
		if p := l.pos; p.Known() && (p.File != now.File || p.Line != now.Line) && !closes(l.text) {
			b.WriteString("//line ")
			b.WriteString(p.File)
			b.WriteByte(':')
			b.WriteString(strconv.Itoa(p.Line))
			b.WriteByte('\n')
			now, index = p, append(index, i)
		}
		b.WriteString(l.text)
		b.WriteByte('\n')
		now.Line++
		index = append(index, i)
	}
	return index
}

func closes(text string) bool { return text == "}" || text == "} else {" }
