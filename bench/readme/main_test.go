package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestREADME demands that the README has the figures of the report that it names.
func TestREADME(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	got, ok := section(string(text))
	if !ok {
		t.Fatalf("the README has no section between %s and %s", begin, end)
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(got, begin), " -->")
	want, err := figures(filepath.Join("../..", name))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the README is not made of %s; run go run ./bench/readme %s (-want +got):\n%s", name, name, diff)
	}
}

func TestRun(t *testing.T) {
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
	if err := run(readme, name); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	const want = `before
<!-- figures of bench/results/a.json -->
On one H200, from [a report](bench/results/a.json) that names driver, commit and peers:

| | Gopherwarp | beside it |
|---|---|---|
| triad of 2^28 float32, one element per thread, checks on | 3,000 GB/s | the same in CUDA C++ 1,500 |
| launch of a kernel | 4.00 us | C++ 3.60 |
<!-- end of figures -->
after
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("the README (-want +got):\n%s", diff)
	}
	write(readme, "nothing")
	if err := run(readme, name); err == nil || !strings.Contains(err.Error(), "has no section between") {
		t.Errorf("run of a README without figures returns %v", err)
	}
}
