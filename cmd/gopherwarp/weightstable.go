package main

import (
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/gopherwarp/gopherwarp/cmd/internal/console"
	"github.com/gopherwarp/gopherwarp/weights"
)

const (
	// columnGap is the number of spaces between columns, and indent that before what continues a line.
	columnGap = 2
	indent    = 4
	// longestValue is the greatest number of columns of a metadata value where the width does not limit it.
	longestValue = 200
	// leastValue is the least number of columns beside the keys in which metadata values are worth printing.
	leastValue = 24
)

// weightsTable writes a File as text of at most width columns, unless that is 0.
type weightsTable struct {
	f     *weights.File
	width int
	w     io.Writer
	b     strings.Builder
}

func newWeightsTable(w io.Writer, f *weights.File) *weightsTable {
	return &weightsTable{f: f, width: console.Width(w), w: w}
}

func (t *weightsTable) print() error {
	t.metadata()
	t.tensors()
	t.totals()
	_, err := io.WriteString(t.w, t.b.String())
	return err
}

// metadata writes each entry in a line. If keys leave no room for values, longer entries have two lines.
func (t *weightsTable) metadata() {
	keys := 0
	for _, e := range t.f.Metadata {
		keys = max(keys, ansi.StringWidth(printable(e.Key)))
	}
	room := longestValue
	beside := t.width == 0 || t.width-keys-columnGap >= leastValue
	switch {
	case t.width > 0 && beside:
		room = t.width - keys - columnGap
	case t.width > 0:
		room = t.width - indent
	}
	for _, e := range t.f.Metadata {
		key, value := printable(e.Key), clipped(metadataValue(e.Value), room)
		switch {
		case beside:
			t.line(padded(key, keys+columnGap) + value)
		case ansi.StringWidth(key)+columnGap+ansi.StringWidth(value) <= t.width:
			t.line(padded(key, ansi.StringWidth(key)+columnGap) + value)
		default:
			t.name(key)
			t.line(strings.Repeat(" ", indent) + value)
		}
	}
	if len(t.f.Metadata) > 0 {
		t.line("")
	}
}

// tensors writes each tensor in a line, or in two if the terminal is narrow.
func (t *weightsTable) tensors() {
	rows := [][]string{{"tensor", "type", "shape", "size"}}
	for _, x := range t.f.Tensors {
		rows = append(rows, []string{printable(x.Name()), x.Type().String(), shapeText(x.Shape()), sizeText(int64(x.Size()))})
	}
	if len(rows) > 1 {
		t.rows(rows)
		t.line("")
	}
}

// totals writes a line for each type, and one for all if there are several types.
func (t *weightsTable) totals() {
	rows := [][]string{{t.f.Format, "tensors", "elements", "size"}}
	all := weightTotal{Type: "all"}
	totals := weightTotals(t.f)
	if len(totals) != 1 {
		for _, n := range totals {
			all.Tensors, all.Elements, all.Bytes = all.Tensors+n.Tensors, all.Elements+n.Elements, all.Bytes+n.Bytes
		}
		totals = append(totals, all)
	}
	for _, n := range totals {
		rows = append(rows, []string{n.Type, strconv.Itoa(n.Tensors), strconv.FormatUint(n.Elements, 10), sizeText(n.Bytes)})
	}
	t.rows(rows)
}

// rows writes rows whose columns but the first are aligned at the right. If they are too wide, the first cell of each row, except the
// heading, has a line of its own.
func (t *weightsTable) rows(rows [][]string) {
	widths := make([]int, len(rows[0]))
	total := -columnGap
	for i := range widths {
		for _, r := range rows {
			widths[i] = max(widths[i], ansi.StringWidth(r[i]))
		}
		total += widths[i] + columnGap
	}
	if t.width == 0 || total <= t.width {
		for _, r := range rows {
			t.row(r, widths)
		}
		return
	}
	for _, r := range rows[1:] {
		t.name(r[0])
		t.line(strings.Repeat(" ", indent) + strings.Join(r[1:], "  "))
	}
}

func (t *weightsTable) row(cells []string, widths []int) {
	line := padded(cells[0], widths[0])
	for i, c := range cells[1:] {
		line += strings.Repeat(" ", columnGap+widths[i+1]-ansi.StringWidth(c)) + c
	}
	t.line(line)
}

// name writes a name in a line. If it is too long, it breaks the name after dots.
func (t *weightsTable) name(name string) {
	line := ""
	for part := range strings.SplitAfterSeq(name, ".") {
		if line != "" && ansi.StringWidth(line)+ansi.StringWidth(part) > t.width {
			t.line(line)
			line = "  "
		}
		line += part
	}
	t.line(line)
}

func (t *weightsTable) line(text string) {
	t.b.WriteString(strings.TrimRight(text, " ") + "\n")
}

// metadataValue returns a value as text: a number, a quoted string, or the length of a slice and its first elements.
func metadataValue(v any) string {
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.String:
		return strconv.Quote(shortened(r.String()))
	case reflect.Slice:
		var first []string
		for i := range min(r.Len(), longestValue/columnGap) {
			first = append(first, metadataValue(r.Index(i).Interface()))
		}
		kind := strings.TrimPrefix(fmt.Sprintf("%T", v), "[]")
		return fmt.Sprintf("%d x %s: %s", r.Len(), strings.ReplaceAll(kind, "interface {}", "array"), strings.Join(first, " "))
	}
	return fmt.Sprint(v)
}

// shortened returns the beginning of a string, more of which no terminal shows.
func shortened(s string) string { return s[:min(len(s), 16*longestValue)] }

// printable returns a name as it is, or quoted if it has characters that a terminal may act on.
func printable(name string) string {
	if quoted := strconv.Quote(name); quoted != `"`+name+`"` || name == "" {
		return quoted
	}
	return name
}

// clipped returns text, or its beginning with an ellipsis if it has more than width columns.
func clipped(text string, width int) string {
	if len(text) <= width {
		return text
	}
	columns := 0
	end := 0 // of what fits beside the ellipsis
	for i, r := range text {
		if columns < width {
			end = i
		}
		if columns += ansi.StringWidth(string(r)); columns > width {
			return text[:end] + "…"
		}
	}
	return text
}

// padded returns text with spaces up to width columns.
func padded(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-ansi.StringWidth(text)))
}

func shapeText(shape []int) string {
	if len(shape) == 0 {
		return "scalar"
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(shape), " ", " x "), "[]")
}

// sizeText returns a number of bytes: "207.4 KiB".
func sizeText(n int64) string {
	for _, unit := range []struct {
		name string
		size int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n >= unit.size {
			return fmt.Sprintf("%.1f %s", float64(n)/float64(unit.size), unit.name)
		}
	}
	return fmt.Sprintf("%d B", n)
}
