package mutation

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A Mutation is one change of one file of the compiler.
type Mutation struct {
	File   string // relative to the repository, with slashes
	Line   int    // of the first changed byte
	Func   string // "f" or "T.f" or, outside of functions, the variable's name
	Rule   string // the name of a rule
	Before string // the changed lines, with single spaces between their tokens
	After  string // what they become

	edits []edit
}

// An edit replaces the bytes from from to to by text.
type edit struct {
	from, to int
	text     string
}

// Key identifies the mutation in equivalent.txt. It has no line number, so that it outlives changes
// elsewhere in the file; equal lines of a function share a key.
func (m *Mutation) Key() string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %s: %s => %s", m.File, m.Func, m.Rule, m.Before, m.After))
}

// Apply returns the text of the mutated file of the repository at root.
func (m *Mutation) Apply(root string) ([]byte, error) {
	source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(m.File)))
	if err != nil {
		return nil, err
	}
	return []byte(apply(string(source), m.edits)), nil
}

// apply makes the edits, which are in ascending order and do not overlap.
func apply(source string, edits []edit) string {
	var out strings.Builder
	at := 0
	for _, e := range edits {
		out.WriteString(source[at:e.from] + e.text)
		at = e.to
	}
	return out.String() + source[at:]
}

// describe returns the lines that the edits change, before and after, with white space collapsed.
func describe(source string, edits []edit) (before, after string) {
	from, to := edits[0].from, edits[len(edits)-1].to
	from = strings.LastIndexByte(source[:from], '\n') + 1
	if i := strings.IndexByte(source[to:], '\n'); i >= 0 {
		to += i
	} else {
		to = len(source)
	}
	changed := apply(source, edits)
	return collapse(source[from:to]), collapse(changed[from : to+len(changed)-len(source)])
}

func collapse(text string) string { return strings.Join(strings.Fields(text), " ") }
