package compile_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/tools/txtar"

	"github.com/gopherwarp/gopherwarp/compile"
)

const reported = `package k

import "github.com/gopherwarp/gopherwarp/gpu"

//gpu:kernel
func add(t gpu.Thread, a, b, c []float32) {
	if i := t.GlobalX(); i < len(c) {
		c[i] = a[i] + b[i]
	}
}

//gpu:kernel
func gather(t gpu.Thread, index []int32, from, to []float32) {
	if i := t.GlobalX(); i < len(to) {
		to[i] = from[index[i]]
	}
}

//gpu:kernel
//gpu:block 64
func rows(t gpu.Thread, x []float32, out []float32) {
	tile := gpu.Shared[[64]float32](t)
	tile[t.ThreadX()] = x[t.GlobalX()]
	t.Sync()
	sum := float32(0)
	for i := range 4 {
		sum += tile[t.ThreadX()^i]
	}
	out[t.GlobalX()] = sum
}

//gpu:kernel
func flip(t gpu.Thread, x, y []float32, n int) {
	if i, j := t.GlobalX(), t.GlobalY(); i < n && j < n {
		y[i*n+j] = x[j*n+i]
	}
}

//gpu:kernel
func loop(t gpu.Thread, x []float32, n int) {
	for i := 1; i != n; i *= 3 {
		x[i] = 1
	}
}
`

// reports builds the kernels above.
func reports(t *testing.T) map[string]*compile.Report {
	t.Helper()
	dir := module(t, map[string]*txtar.Archive{"k": {Files: []txtar.File{{Name: "k.go", Data: []byte(reported)}}}})
	result, err := compile.Build(t.Context(), compile.Options{Dir: dir, Patterns: []string{"./k"}, Report: true, Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := result.Diagnostics.Err(); err != nil {
		t.Fatal(err)
	}
	found := map[string]*compile.Report{}
	for _, r := range result.Report() {
		found[r.Kernel] = r
	}
	return found
}

func TestReport(t *testing.T) {
	all := reports(t)
	t.Run("says what became of kernels", func(t *testing.T) { reportsSay(t, all) })
	t.Run("is written", func(t *testing.T) { reportsAreWritten(t, all) })
}

func reportsSay(t *testing.T, all map[string]*compile.Report) {
	if len(all["loop"].Best().Checks) == 0 {
		t.Error("loop has no checks; the kernel no longer tests how they are explained")
	}
	for _, c := range all["loop"].Best().Checks {
		if want := "the index comes from a loop counter and is not known to be within len(x)"; c.Why != want {
			t.Errorf("loop: %s: got %q, want %q", c.Place, c.Why, want)
		}
	}
	place := "the index comes from the thread's position and is not known to be within "
	message := "index out of range [%d] with length %d"
	for kernel, want := range map[string]compile.VariantReport{
		"add": {
			Name: "sm_70 narrow coarse", Coarse: 4, Loops: 1,
			Loads: compile.Access{Wide: 2, Single: 2}, Stores: compile.Access{Wide: 1, Single: 1},
			Checks: []compile.Left{
				{Place: "k.go:8:11", Message: message, Why: place + "len(a)"},
				{Place: "k.go:8:18", Message: message, Why: place + "len(b)"},
			},
		},
		"gather": {
			Name: "sm_70 narrow", Loads: compile.Access{Single: 2}, Stores: compile.Access{Single: 1},
			Checks: []compile.Left{
				{Place: "k.go:15:15", Message: message, Why: "the index comes from memory and is not known to be within len(from)"},
				{Place: "k.go:15:21", Message: message, Why: place + "len(index)"},
			},
		},
		"rows": {
			Name: "sm_70 narrow", Shared: 256, Loads: compile.Access{Single: 1}, Stores: compile.Access{Single: 1},
			Notes: []compile.Note{{Place: "k.go:27", What: "unrolled", Rounds: 4}},
			Checks: []compile.Left{
				{Place: "k.go:23:23", Message: message, Why: place + "len(x)"},
				{Place: "k.go:29:5", Message: message, Why: place + "len(out)"},
			},
		},
		"flip": {
			Name: "sm_70 narrow", Loads: compile.Access{Single: 2}, Stores: compile.Access{Single: 2},
			Notes: []compile.Note{{Place: "k.go:35", What: "bounded", Rounds: 2}},
			Checks: []compile.Left{
				{Place: "k.go:35:4", Message: message, Why: "the index comes from n, the thread's position and is not known to be within len(y)"},
				{Place: "k.go:35:15", Message: message, Why: "the index comes from n, the thread's position and is not known to be within len(x)"},
			},
		},
	} {
		got := all[kernel].Best()
		ignored := cmpopts.IgnoreFields(compile.VariantReport{}, "Instructions", "Registers")
		if d := cmp.Diff(want, got, ignored, cmpopts.IgnoreUnexported(compile.Left{})); d != "" {
			t.Errorf("%s (-want +got):\n%s", kernel, d)
		}
		if got.Instructions < 10 || got.Registers < 3 || got.Registers > 64 {
			t.Errorf("%s: %d instructions, %d registers", kernel, got.Instructions, got.Registers)
		}
	}
	if r := all["add"]; r.Written != 3 || len(r.Variants) != 3 || r.Variants[2].Name != "sm_70" {
		t.Errorf("add has %d checks written and variants %v", r.Written, r.Variants)
	}
}

func reportsAreWritten(t *testing.T, found map[string]*compile.Report) {
	var all []*compile.Report
	for _, name := range []string{"add", "gather", "rows"} {
		all = append(all, found[name])
	}
	var text bytes.Buffer
	if err := compile.WriteReports(&text, all, 50); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(text.String()) {
		if len(strings.TrimSuffix(line, "\n")) > 50 {
			t.Errorf("a line is longer than 50 characters: %q", line)
		}
	}
	for _, want := range []string{
		"example.com/user/k.add k.go:6\n", "  variants  sm_70 narrow coarse; sm_70 narrow;\n            sm_70\n",
		"  loads     2 of 16 bytes, 2 single\n", "  checks    2 of 3 remaining\n", "            k.go:27 fully unrolled, 4 iterations\n", "  CPU       twin",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, text.String())
		}
	}
	var data bytes.Buffer
	if err := compile.WriteReportsJSON(&data, all); err != nil {
		t.Fatal(err)
	}
	var read []*compile.Report
	if err := json.Unmarshal(data.Bytes(), &read); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(all, read, cmpopts.IgnoreUnexported(compile.Left{})); d != "" {
		t.Errorf("what is read is not what was written (-want +got):\n%s", d)
	}
}
