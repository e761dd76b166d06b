package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gopherwarp/gopherwarp/bench/report"
)

// TestDocuments checks that each document has the figures of the report that it names.
func TestDocuments(t *testing.T) {
	for _, d := range documents() {
		text, err := os.ReadFile(filepath.Join("../..", d.name))
		if err != nil {
			t.Fatal(err)
		}
		got, ok := section(string(text))
		if !ok {
			t.Fatalf("%s has no section between %s and %s", d.name, begin, end)
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(got, begin), " -->")
		want, err := d.section(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s does not have the figures of %s; run go run ./bench/readme %s (-want +got):\n%s", d.name, name, name, diff)
		}
	}
}

func TestRewrite(t *testing.T) {
	dir := t.TempDir()
	readme, name := filepath.Join(dir, "README.md"), filepath.Join(dir, "a.json")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(readme, "before\n<!-- figures of bench/results/old.json -->\nold\n<!-- end of figures -->\nafter\n")
	write(name, `{"device": "NVIDIA H200 (cuda:0)", "results": [
		{"name": "triad32", "bytes": 3e9, "measurements": [{"by": "gopherwarp", "seconds": 0.001}, {"by": "tuned", "seconds": 0.0001}, {"by": "literal", "seconds": 0.002}]},
		{"name": "launch-1", "measurements": [{"by": "gopherwarp", "seconds": 0.000004}, {"by": "C++", "seconds": 0.0000036}]},
		{"name": "prim-sort", "measurements": [{"by": "CUB", "seconds": 0.000004}]}
	]}`)
	if err := documents()[0].rewrite(dir, name); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	const want = `before
<!-- figures of bench/results/a.json -->
Measured on one H200. [The report](bench/results/a.json) names the driver, the commit, and the versions of all programs compared.

| | Gopherwarp | compared with |
|---|---|---|
| triad of 2^28 float32, one element per thread, index checks on | 3,000 GB/s | the same kernel in CUDA C++ 1,500 |
| launch of a kernel | 4.00 us | C++ 3.60 |
<!-- end of figures -->
after
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("the README (-want +got):\n%s", diff)
	}
	write(readme, "nothing")
	if err := documents()[0].rewrite(dir, name); err == nil || !strings.Contains(err.Error(), "has no section between") {
		t.Errorf("rewrite of a README without figures returns %v", err)
	}
}

func TestPrimitives(t *testing.T) {
	r := &report.Report{Results: []report.Result{
		{Name: "prim-sort", Size: 1 << 26, Measurements: []report.Measurement{{By: report.Ours, Seconds: 0.0016}, {By: "CUB", Seconds: 0.0014}}},
		{Name: "prim-sum", Size: 1 << 28, Measurements: []report.Measurement{{By: report.Ours, Seconds: 0.0016}}},
	}}
	const want = `| | elements | ms | CUB, ms | speed divided by CUB's |
|---|---|---|---|---|
| sort of uint32 | 1<<26 | 1.600 | 1.400 | 0.88 |
`
	if diff := cmp.Diff(want, primitives(r)); diff != "" {
		t.Errorf("the table (-want +got):\n%s", diff)
	}
}
