package vet_test

import (
	"path/filepath"
	"runtime/debug"
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/gopherwarp/gopherwarp/vet"
)

// TestAnalyzer runs the analyzer on the packages of testdata, whose comments say what it must report at
// their lines, and on the examples, which have no such comments; it must report nothing else. All of them are loaded
// at once, because what they import takes most of the time.
func TestAnalyzer(t *testing.T) {
	folders, err := filepath.Glob("testdata/*")
	if err != nil || len(folders) == 0 {
		t.Fatalf("no packages (%v)", err)
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	packages := []string{"./examples/..."}
	for _, f := range folders {
		packages = append(packages, "./vet/"+filepath.ToSlash(f))
	}
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // all that is loaded stays until the end
	if results := analysistest.Run(t, root, vet.Analyzer, packages...); len(results) <= len(folders) {
		t.Errorf("%d packages were analyzed, want those of %q and the examples", len(results), folders)
	}
}
