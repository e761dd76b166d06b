package diag

import (
	"cmp"
	"fmt"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
)

// Diagnostic is one error in the user's program.
type Diagnostic struct {
	Pos     token.Position
	Code    Code
	Message string // one line in the terms of the user's program, without a period
	Help    string // what to write instead; may be empty
}

// New returns a diagnostic without help.
func New(pos token.Position, code Code, format string, args ...any) Diagnostic {
	return Diagnostic{Pos: pos, Code: code, Message: fmt.Sprintf(format, args...)}
}

// WithHelp returns a copy of d with advice on what to write instead.
func (d Diagnostic) WithHelp(format string, args ...any) Diagnostic {
	d.Help = fmt.Sprintf(format, args...)
	return d
}

// String returns "file:line:col: message (GW0001)", followed by the help, if any, on a second,
// indented line.
func (d Diagnostic) String() string {
	s := d.Message + " (" + d.Code.String() + ")"
	if d.Pos.IsValid() || d.Pos.Filename != "" {
		s = d.Pos.String() + ": " + s
	}
	if d.Help != "" {
		s += "\n\t" + d.Help
	}
	return s
}

// List is all the diagnostics of a build.
type List []Diagnostic

// Add appends diagnostics to the list.
func (l *List) Add(d ...Diagnostic) { *l = append(*l, d...) }

// Sorted returns the diagnostics sorted by file, line, column and code, without duplicates.
func (l List) Sorted() List {
	sorted := slices.Clone(l)
	slices.SortStableFunc(sorted, func(a, b Diagnostic) int {
		return cmp.Or(
			cmp.Compare(a.Pos.Filename, b.Pos.Filename),
			cmp.Compare(a.Pos.Line, b.Pos.Line),
			cmp.Compare(a.Pos.Column, b.Pos.Column),
			cmp.Compare(a.Code, b.Code),
			cmp.Compare(a.Message, b.Message),
		)
	})
	return slices.Compact(sorted)
}

// Relative returns the diagnostics with file names relative to dir if that is shorter.
func (l List) Relative(dir string) List {
	moved := slices.Clone(l)
	for i := range moved {
		moved[i].Pos.Filename = Shorten(moved[i].Pos.Filename, dir)
	}
	return moved
}

// Shorten returns the file name relative to dir if that is shorter.
func Shorten(file, dir string) string {
	if rel, err := filepath.Rel(dir, file); err == nil && len(rel) < len(file) {
		return rel
	}
	return file
}

// Error returns one or two lines for each diagnostic, in the order of Sorted.
func (l List) Error() string {
	var lines []string
	for _, d := range l.Sorted() {
		lines = append(lines, d.String())
	}
	return strings.Join(lines, "\n")
}

// Err returns the list as an error, or nil if it is empty.
func (l List) Err() error {
	if len(l) == 0 {
		return nil
	}
	return l
}
