package ptx_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/gopherwarp/gopherwarp/internal/backend/ptx"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// TestCounts emits the PTX of the kernels that the CPU back end counts, for all their targets, and counts instructions and
// bytes. A change that makes PTX longer or shorter changes testdata/counts/counts.txt.
func TestCounts(t *testing.T) {
	a, err := txtar.ParseFile("../cpu/testdata/counts/kernels.txtar")
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
		fmt.Fprintf(&report, "%s:", file.Name)
		for _, target := range ptx.Targets(f) {
			r, err := ptx.Emit(f, ptx.Options{Target: target})
			if err != nil {
				fmt.Fprintf(&report, " %v: %v", target, err)
				continue
			}
			fmt.Fprintf(&report, " %d instructions and %d bytes for %v", countInstructions(all, r.PTX), len(r.PTX), target)
		}
		report.WriteByte('\n')
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

// countInstructions adds the instructions of a module, by name and without predicates, and returns their number.
func countInstructions(all map[string]int, text string) int {
	n := 0
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) > 0 && strings.HasPrefix(words[0], "@") {
			words = words[1:]
		}
		if len(words) == 0 || !strings.HasSuffix(line, ";\n") || strings.HasPrefix(words[0], ".") {
			continue
		}
		all[strings.TrimSuffix(words[0], ";")]++
		n++
	}
	return n
}
