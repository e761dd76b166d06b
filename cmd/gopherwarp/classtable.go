package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/gopherwarp/gopherwarp/classify"
	"github.com/gopherwarp/gopherwarp/cmd/internal/console"
)

// leastName is the least number of columns for the names of classes on the lines that begin with names of pictures.
const leastName = 20

// classTable writes the classes of pictures in lines of at most width columns, unless that is 0. All columns but the last have a known width,
// so the table can be written picture by picture.
type classTable struct {
	w             io.Writer
	width         int
	picture       int // the width of the first column, or 0 if names of pictures have lines of their own
	chance, class int // the widths of the next columns: probabilities, and numbers of classes
	headed        bool
}

// newClassTable returns a table for pictures with the given names, and a model with the given number of classes.
func newClassTable(w io.Writer, pictures []string, classes int) *classTable {
	digits := len(strconv.Itoa(classes - 1))
	t := &classTable{w: w, width: console.Width(w), picture: len("picture"), chance: len("probability"), class: max(digits, len("class"))}
	for _, name := range pictures {
		t.picture = max(t.picture, ansi.StringWidth(printable(name)))
	}
	if t.width > 0 && t.width-t.before() < leastName {
		t.picture, t.chance, t.class, t.headed = 0, len("100.0 %"), digits, true
	}
	return t
}

// before returns the number of columns before the names of classes.
func (t *classTable) before() int {
	first := t.picture
	if first == 0 {
		first = indent - columnGap
	}
	return first + columnGap + t.chance + columnGap + t.class + columnGap
}

// print writes the classes of a picture.
func (t *classTable) print(picture string, list []classify.Class) error {
	var b strings.Builder
	if !t.headed {
		t.headed = true
		t.row(&b, "picture", "probability", "class", "name")
	}
	first := printable(picture)
	if t.picture == 0 {
		b.WriteString(first + "\n")
		first = ""
	}
	for _, c := range list {
		t.row(&b, first, fmt.Sprintf("%.1f %%", 100*c.Probability), strconv.Itoa(c.Index), printable(c.Name))
		first = ""
	}
	_, err := io.WriteString(t.w, b.String())
	return err
}

// row writes the cells of a row. If the name of the class is too long, it continues below its beginning.
func (t *classTable) row(b *strings.Builder, cells ...string) {
	before, chance, class, name := t.before(), cells[1], cells[2], cells[3]
	if t.width > 0 {
		name = ansi.Wrap(name, max(t.width-before, 1), "")
	}
	left := padded(cells[0], before-2*columnGap-t.class-len(chance)) + chance
	left = padded(left, before-columnGap-len(class)) + class
	for line := range strings.SplitSeq(name, "\n") {
		b.WriteString(padded(left, before) + strings.TrimRight(line, " ") + "\n")
		left = ""
	}
}
