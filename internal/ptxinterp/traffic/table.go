package traffic

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
)

// Line is a line of a kernel's source.
type Line struct {
	Kernel, File string
	Line         int
}

// Table holds the counts of lines. The zero Table is empty.
type Table struct{ lines map[Line]Counts }

// Add adds counts to a line.
func (t *Table) Add(l Line, c Counts) {
	if t.lines == nil {
		t.lines = map[Line]Counts{}
	}
	sum := t.lines[l]
	sum.Add(c)
	t.lines[l] = sum
}

// AddTable adds all counts of another table.
func (t *Table) AddTable(o *Table) {
	for l, c := range o.lines {
		t.Add(l, c)
	}
}

// Counts returns the counts of a line.
func (t *Table) Counts(l Line) Counts { return t.lines[l] }

// Write writes the lines, sorted by kernel and position, with the ratios of the counts to their
// minimums.
func (t *Table) Write(w io.Writer) error {
	if _, err := fmt.Fprintln(w, "memory traffic of warps: sectors of 32 bytes in global memory, passes over the banks of shared memory"); err != nil {
		return err
	}
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "kernel\tline\tglobal\tsectors\tleast\tratio\tshared\tpasses\tleast\tratio\t")
	for _, l := range slices.SortedFunc(maps.Keys(t.lines), compare) {
		c := t.lines[l]
		fmt.Fprintf(tw, "%s\t%s:%d\t%s%s\n", l.Kernel, l.File, l.Line,
			group(c.Global, c.Sectors, c.SectorsLeast), group(c.Shared, c.Passes, c.PassesLeast))
	}
	return tw.Flush()
}

func compare(a, b Line) int {
	return cmp.Or(cmp.Compare(a.Kernel, b.Kernel), cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
}

// group returns the cells of requests, what they took and what they needed.
func group(requests, took, least int) string {
	if requests == 0 {
		return "-\t-\t-\t-\t"
	}
	return fmt.Sprintf("%d\t%d\t%d\t%.2f\t", requests, took, least, float64(took)/float64(least))
}
