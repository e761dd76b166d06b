package ptx_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/gopherwarp/gopherwarp/internal/backend/ptx"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// emit parses IR, emits its last function and asks ptxas to judge the text.
func emit(t *testing.T, text string) *ptx.Result {
	t.Helper()
	m, err := ir.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	f := m.Funcs[len(m.Funcs)-1]
	if err := ir.Verify(f); err != nil {
		t.Fatal(err)
	}
	before := f.String()
	r, err := ptx.Emit(f, ptx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if f.String() != before {
		t.Error("Emit changed the function")
	}
	return r
}

// TestGolden compares the PTX of testdata/*.txtar, from file "ir" to file "ptx".
func TestGolden(t *testing.T) {
	names, _ := filepath.Glob("testdata/*.txtar")
	if len(names) == 0 {
		t.Fatal("no test data")
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			want := txtar.Format(archive)
			r := emit(t, string(archive.Files[0].Data))
			archive.Files = append(archive.Files[:1], txtar.File{Name: "ptx", Data: []byte(summary(r) + r.PTX)})
			for _, better := range higher(t, archive.Files[0].Data) {
				archive.Files = append(archive.Files, txtar.File{Name: "ptx of " + better.Target.String(), Data: []byte(better.PTX)})
			}
			if got := txtar.Format(archive); *update {
				if err := os.WriteFile(name, got, 0o644); err != nil {
					t.Fatal(err)
				}
			} else if !bytes.Equal(got, want) {
				t.Errorf("the PTX is now (rewrite by -update):\n%s", got)
			}
			for _, f := range archive.Files[1:] {
				assemble(t, string(f.Data))
			}
		})
	}
}

// higher emits the last function for all its targets but the lowest.
func higher(t *testing.T, text []byte) []*ptx.Result {
	t.Helper()
	m, err := ir.Parse(string(text))
	if err != nil {
		t.Fatal(err)
	}
	f := m.Funcs[len(m.Funcs)-1]
	var all []*ptx.Result
	targets := ptx.Targets(f)
	for _, target := range targets[1:] {
		r, err := ptx.Emit(f, ptx.Options{Target: target})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return all
}

// summary prints the rest of the result as comments.
func summary(r *ptx.Result) string {
	var b strings.Builder
	for i, s := range r.Sites {
		fmt.Fprintf(&b, "// site %d: %s:%d %q %v\n", i, s.File, s.Line, s.Format, s.Args)
	}
	if r.SharedBytes > 0 || r.Barriers {
		fmt.Fprintf(&b, "// shared %d, barriers %v\n", r.SharedBytes, r.Barriers)
	}
	return b.String()
}

// assemble lets ptxas translate the text for the oldest GPU that it still knows and for a
// newer one. It skips the test where there is no ptxas.
func assemble(t *testing.T, text string) {
	t.Helper()
	if !assembleIfPossible(t, text) {
		t.Skip("no ptxas in PATH to judge the PTX")
	}
}

// assembleIfPossible does the same and reports whether there is a ptxas.
func assembleIfPossible(t *testing.T, text string) bool {
	t.Helper()
	ptxas, err := exec.LookPath("ptxas")
	if err != nil {
		return false
	}
	file := filepath.Join(t.TempDir(), "kernel.ptx")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	oldest := "sm_75"
	if _, target, _ := strings.Cut(text, ".target "); target[:5] > oldest {
		oldest = target[:5]
	}
	for _, arch := range []string{oldest, "sm_90"} {
		out, err := exec.Command(ptxas, "-lineinfo", "-arch="+arch, "-o", os.DevNull, file).CombinedOutput()
		if err != nil || len(out) > 0 {
			t.Errorf("ptxas -arch=%s: %v\n%s\n%s", arch, err, out, text)
		}
	}
	return true
}
