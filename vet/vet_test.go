package vet_test

import (
	"path/filepath"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/gopherwarp/gopherwarp/vet"
)

// TestAnalyzer runs the analyzer on the packages of testdata, whose comments say what it must report at
// their lines; it must report nothing else.
func TestAnalyzer(t *testing.T) {
	packages, err := filepath.Glob("testdata/*")
	if err != nil || len(packages) == 0 {
		t.Fatalf("no packages (%v)", err)
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range packages {
		t.Run(filepath.Base(p), func(t *testing.T) {
			analysistest.Run(t, root, vet.Analyzer, "./vet/"+filepath.ToSlash(p))
		})
	}
}

// TestExamplesAreClean demands that nothing is reported in the examples.
func TestExamplesAreClean(t *testing.T) {
	analysistest.Run(t, "..", vet.Analyzer, "./examples/...")
}
