package compile_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/gopherwarp/gopherwarp/compile"
	"github.com/gopherwarp/gopherwarp/internal/diag"
)

// want matches `// want "regexp"` at the end of a line.
var want = regexp.MustCompile(`// want "(.*)"$`)

// language is the first code of the language that kernels are written in; package frontend
// has the examples from there on.
const language diag.Code = 100

// TestExamplesOfDiagnostics compiles the example of every code of the catalogue, all in
// one build, and compares the diagnostics with what is written where they must stand.
func TestExamplesOfDiagnostics(t *testing.T) {
	examples := archives(t, "testdata/diag")
	for _, code := range diag.All() {
		if code < language && examples[code.String()] == nil {
			t.Errorf("%v has no example; write testdata/diag/%v.txtar", code, code)
		}
	}
	dir := module(t, examples)
	result, err := compile.Build(t.Context(), compile.Options{Dir: dir, Patterns: []string{"./..."}, Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]diag.List{} // by "GW0001/k.go:7"
	codes := map[string]bool{}    // that stand in the example of that name
	for _, d := range result.Diagnostics {
		rel, err := filepath.Rel(dir, d.Pos.Filename)
		if err != nil || d.Pos.Column == 0 {
			t.Errorf("no position in the module: %v", d)
		}
		if d.Help == "" && d.Code != diag.GoError {
			t.Errorf("without advice: %v", d)
		}
		at := fmt.Sprintf("%s:%d", filepath.ToSlash(rel), d.Pos.Line)
		got[at] = append(got[at], d)
		if example, _, _ := strings.Cut(at, "/"); example == d.Code.String() {
			codes[example] = true
		}
	}
	for name, a := range examples {
		if !codes[name] {
			t.Errorf("the example of %s does not cause it", name)
		}
		compare(t, name, a, got)
	}
	for at, l := range got {
		t.Errorf("%s: unexpected: %v", at, l)
	}
}

// compare removes from got what an example wants and reports what is missing.
func compare(t *testing.T, name string, a *txtar.Archive, got map[string]diag.List) {
	for _, f := range a.Files {
		for i, line := range strings.Split(string(f.Data), "\n") {
			m := want.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			at := fmt.Sprintf("%s/%s:%d", name, f.Name, i+1)
			if !regexp.MustCompile(m[1]).MatchString(got[at].Error()) {
				t.Errorf("%s: got %q, want a match for %q", at, got[at].Error(), m[1])
			}
			delete(got, at)
		}
	}
}
