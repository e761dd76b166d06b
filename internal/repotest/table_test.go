package repotest

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// tableBegins is the line before the table of floors in ARCHITECTURE.md.
const tableBegins = "<!-- floors -->\n"

// quoted matches a package's name in a row of the table.
var quoted = regexp.MustCompile("`([^`]+)`")

// floorTable returns the row of each package name in the table of ARCHITECTURE.md. The root package is "".
func floorTable(t *testing.T) map[string]int {
	t.Helper()
	_, rest, ok := strings.Cut(string(load(t).files["ARCHITECTURE.md"]), tableBegins)
	if !ok {
		t.Fatalf("ARCHITECTURE.md has no line %q; put it before the table of floors", strings.TrimSpace(tableBegins))
	}
	table, _, _ := strings.Cut(rest, "\n\n")
	rows := map[string]int{}
	for row, line := range lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 {
			t.Fatalf("ARCHITECTURE.md: %q is not a row of the table of floors", line)
		}
		for _, m := range quoted.FindAllStringSubmatch(cells[2], -1) {
			name := strings.TrimPrefix(m[1], "gopherwarp")
			if _, twice := rows[name]; twice {
				t.Errorf("ARCHITECTURE.md lists %s twice in the table of floors; remove one", m[1])
			}
			rows[name] = row
		}
	}
	return rows
}

// TestFloorTable compares the table of floors in ARCHITECTURE.md with the literal floors: both have the same
// names, and no row may import from a row below it.
func TestFloorTable(t *testing.T) {
	rows := floorTable(t)
	for name := range rows {
		if _, ok := floors[name]; !ok {
			t.Errorf("ARCHITECTURE.md lists %s, which has no floor; remove it from the table", name)
		}
	}
	for name, imports := range floors {
		row, ok := rows[name]
		if !ok {
			t.Errorf("the table of floors in ARCHITECTURE.md lacks %q; add it to a row below all that it imports: %s", name, imports)
			continue
		}
		for _, word := range strings.Fields(imports) {
			if below, ok := rowOf(rows, word); ok && below > row {
				t.Errorf("ARCHITECTURE.md: %q is in row %d of the table of floors but may import %s of row %d; move one of them", name, row-1, word, below-1)
			}
		}
	}
}

// TestFloorTableIsComplete demands that the table of floors in ARCHITECTURE.md covers every package of the module.
func TestFloorTableIsComplete(t *testing.T) {
	rows := floorTable(t)
	for dir := range load(t).packages {
		if _, ok := rowOf(rows, dir); !ok {
			t.Errorf("the table of floors in ARCHITECTURE.md lacks the package %s", dir)
		}
	}
}

// rowOf returns the row of a package or pattern: of its own name, or else of the longest pattern that includes it.
// Third-party modules have no row.
func rowOf(rows map[string]int, word string) (int, bool) {
	if slices.Contains(slices.Collect(maps.Values(modules)), word) {
		return 0, false
	}
	if row, ok := rows[strings.TrimPrefix(word, ".")]; ok {
		return row, true
	}
	longest, found := "", false
	for name := range rows {
		if matches(strings.TrimSuffix(word, "/..."), name) && len(name) > len(longest) {
			longest, found = name, true
		}
	}
	return rows[longest], found
}
