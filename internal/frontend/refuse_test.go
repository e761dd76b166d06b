package frontend_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/diag"
	"github.com/gopherwarp/gopherwarp/internal/frontend"
)

// want matches `// want "regexp"` at the end of a line.
var want = regexp.MustCompile(`// want "(.*)"$`)

// language is the first code of the language that kernels are written in.
const language diag.Code = 100

// TestRefuse compares what is found in each testdata/refuse/*.go with the comments there. Every
// code of the language has a file of its name.
func TestRefuse(t *testing.T) {
	w := theWorld()
	files, err := filepath.Glob("testdata/refuse/*.go")
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]bool{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".go")
		t.Run(name, func(t *testing.T) { have[name] = refuse(t, w, file)[name] })
	}
	for _, code := range diag.All() {
		if code >= language && !have[code.String()] {
			t.Errorf("no line in testdata/refuse/%v.go causes %v", code, code)
		}
	}
}

// refuse checks one file and returns the codes that were found in it.
func refuse(t *testing.T, w *world, file string) map[string]bool {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	kernels, _, err := w.kernels(file, string(text))
	if err != nil {
		t.Fatal(err)
	}
	_, found := frontend.Build(kernels)
	got, codes := map[string]diag.List{}, map[string]bool{}
	for _, d := range found {
		at := fmt.Sprintf("%s:%d", d.Pos.Filename, d.Pos.Line)
		got[at] = append(got[at], d)
		codes[d.Code.String()] = true
		if d.Pos.Column == 0 || d.Help == "" {
			t.Errorf("no column or no help: %v", d)
		}
	}
	for i, line := range strings.Split(string(text), "\n") {
		if m := want.FindStringSubmatch(line); m != nil {
			at := fmt.Sprintf("%s:%d", file, i+1)
			if !regexp.MustCompile(m[1]).MatchString(got[at].Error()) {
				t.Errorf("%s: got %q, want a match for %q", at, got[at].Error(), m[1])
			}
			delete(got, at)
		}
	}
	for _, l := range got {
		t.Errorf("unexpected: %v", l)
	}
	return codes
}
