package cpu_test

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/gopherwarp/gopherwarp/internal/backend/cpu"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// TestCounts emits the twins of the kernels in testdata/counts/kernels.txtar and counts their lines and the instructions of their
// vector code. A change that makes twins or vector code longer or shorter, or that loses vector code, changes
// testdata/counts/counts.txt.
func TestCounts(t *testing.T) {
	a, err := txtar.ParseFile("testdata/counts/kernels.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var report strings.Builder
	all := map[string]int{}
	for _, file := range a.Files {
		m, err := ir.Parse(string(file.Data))
		if err != nil {
			t.Fatal(err)
		}
		f := m.Funcs[len(m.Funcs)-1]
		if err := ir.Verify(f); err != nil {
			t.Fatal(err)
		}
		o := options(f)
		declare := func(name string) string { return name }
		o.Vector = &cpu.VectorOptions{Path: "p/zvector", Declare: declare}
		twin, err := cpu.Emit(f, o)
		if err != nil {
			fmt.Fprintf(&report, "%s: no twin: %v\n", file.Name, err)
			continue
		}
		n := 0
		for _, v := range twin.Vectors {
			n += countInstructions(all, v.Text)
		}
		fmt.Fprintf(&report, "%s: %d lines of %d bytes, %d functions of vector code with %d instructions, %d pieces without\n",
			file.Name, twin.Lines, len(twin.Text), len(twin.Vectors), n, len(twin.Scalar))
	}
	for _, op := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&report, "%s: %d\n", op, all[op])
	}
	const counts = "testdata/counts/counts.txt"
	if *update {
		if err := os.WriteFile(counts, []byte(report.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(counts)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), report.String()); diff != "" {
		t.Errorf("%s (-want +got; -update accepts)\n%s", counts, diff)
	}
}

// instruction matches an instruction at the beginning of a line, or after a label or another one.
var instruction = regexp.MustCompile(`(?m)(?:^|[;:])\s*([A-Z][A-Z0-9]+)\b([^;\n]*)`)

// countInstructions adds the instructions of a function, by name and by whether they access memory, and returns their number.
func countInstructions(all map[string]int, text string) int {
	n := 0
	for _, m := range instruction.FindAllStringSubmatch(text, -1) {
		name := m[1]
		switch {
		case strings.Contains(m[2], "(SP)"):
			name += " of the frame"
		case strings.Contains(m[2], "("):
			name += " of memory"
		}
		all[name]++
		n++
	}
	return n
}
