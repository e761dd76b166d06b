package console

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// minimum is the narrowest width that Wrap wraps to: below it, lines of one word each would be no easier to read.
const minimum = 20

// Wrap returns text with its lines broken between words so that each has at most width columns, if its words allow that.
// The rest of a broken line is indented by hang columns, or as its first part is if that is more. A width of 0 breaks nothing.
func Wrap(text string, width, hang int) string {
	if width <= 0 {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		body := strings.TrimRight(line, "\n")
		b.WriteString(wrapLine(body, max(width, minimum), hang))
		b.WriteString(line[len(body):])
	}
	return b.String()
}

// Page returns text for pages of width columns. In text, an empty line separates paragraphs, whose lines Page breaks anew. Lines
// that are indented, and those that end with a colon, stay lines.
func Page(text string, width int) string {
	var joined []string
	open := false // the last line goes on with the next
	for _, line := range strings.Split(text, "\n") {
		plain := line != "" && !strings.HasPrefix(line, " ")
		if open && plain {
			joined[len(joined)-1] += " " + line
		} else {
			joined = append(joined, line)
		}
		open = plain && !strings.HasSuffix(line, ":")
	}
	text = strings.Join(joined, "\n")
	var b strings.Builder
	for line := range strings.Lines(text) {
		hang := 0
		if strings.HasPrefix(line, " ") {
			hang = 6
		}
		b.WriteString(Wrap(line, width, hang))
	}
	return b.String()
}

// wrapLine wraps one line. In a line that is too long, tabs become four spaces.
func wrapLine(line string, width, hang int) string {
	expanded := strings.ReplaceAll(line, "\t", "    ")
	if utf8.RuneCountInString(expanded) <= width {
		return line
	}
	body := strings.TrimLeft(expanded, " ")
	indent := strings.Repeat(" ", len(expanded)-len(body))
	next := strings.Repeat(" ", max(len(indent), hang))
	var b strings.Builder
	b.WriteString(indent)
	column, empty := len(indent), true
	for body != "" {
		gap := len(body) - len(strings.TrimLeft(body, " "))
		word, rest, _ := strings.Cut(body[gap:], " ")
		n := utf8.RuneCountInString(word)
		switch {
		case !empty && column+gap+n > width:
			b.WriteString("\n" + next)
			column = len(next)
		default:
			b.WriteString(body[:gap])
			column += gap
		}
		b.WriteString(word)
		column, empty = column+n, false
		if body = rest; body != "" {
			body = " " + body
		}
	}
	return b.String()
}

// Print writes text to w, wrapped to its width, and a line feed if there is none.
func Print(w io.Writer, text string, hang int) {
	fmt.Fprintln(w, Wrap(strings.TrimSuffix(text, "\n"), Width(w), hang))
}

// lines is the writer that Lines returns.
type lines struct {
	w    io.Writer
	hang int
}

// Lines returns a writer that wraps what it writes to w. Each call of Write must have whole lines, as those of fmt.Fprintln are.
func Lines(w io.Writer, hang int) io.Writer { return lines{w, hang} }

// Write implements io.Writer.
func (l lines) Write(text []byte) (int, error) {
	if _, err := io.WriteString(l.w, Wrap(string(text), Width(l.w), l.hang)); err != nil {
		return 0, err
	}
	return len(text), nil
}
