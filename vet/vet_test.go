package vet_test

import (
	"path/filepath"
	"runtime/debug"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
	"github.com/gopherwarp/gopherwarp/vet"
)

// TestAnalyzer runs the analyzer on the packages of testdata and, in sweeps, on the examples, which import far more. The
// comments in testdata list all diagnostics; the examples have none. Loading all packages at once saves time, because most
// of it is spent on their common imports.
func TestAnalyzer(t *testing.T) {
	folders, err := filepath.Glob("testdata/*")
	if err != nil || len(folders) == 0 {
		t.Fatalf("no packages (%v)", err)
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	var packages []string
	if sweep.Whole() {
		packages = []string{"./examples/..."}
	}
	for _, f := range folders {
		packages = append(packages, "./vet/"+filepath.ToSlash(f))
	}
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // the loaded packages stay in use until the end
	if results := analysistest.Run(t, root, vet.Analyzer, packages...); len(results) < len(folders) || sweep.Whole() && len(results) == len(folders) {
		t.Errorf("%d packages were analyzed, want those of %q and %q", len(results), folders, packages)
	}
}
