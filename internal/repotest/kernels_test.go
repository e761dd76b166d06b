package repotest

import (
	"fmt"
	"go/format"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/compile"
	"github.com/gopherwarp/gopherwarp/internal/diag"
)

// The reference, and the pages on which it goes on.
const (
	reference = "docs/kernels.md"
	panels    = "docs/panels.md"
	blockwise = "docs/collectives.md"
	codes     = "docs/errors.md"
)

var (
	// example matches a block of Go in the reference, with the comments above it that say what
	// becomes of it.
	example = regexp.MustCompile("(?s)((?:<!-- [a-z]+:[^\n]* -->\n)+)```go\n(.*?)```\n")
	// remark matches one such comment.
	remark = regexp.MustCompile(`<!-- ([a-z]+):\s*(.*?)\s*-->`)
	// refusal matches the diagnostic that a line of an example must have.
	refusal = regexp.MustCompile(`// (GW\d{4}): (.*)$`)
)

// imports are the packages that examples name without importing them.
var imports = []string{"cmp", "iter", "math", "math/bits", "slices", "sync/atomic", module + "/dtype", module + "/gpu", module + "/gpu/collective", module + "/math32"}

// example kinds. Kernels of the first lie in one package; those that are refused have one each.
const (
	accepted = "ptx"     // compiles, to PTX that has these texts, or not
	faults   = "fault"   // compiles, and may fault or print so
	refused  = "refused" // does not compile: the lines say why
)

// TestKernelReference compiles every example of docs/kernels.md and compares what the page says of it:
// the PTX, the faults, the diagnostics.
func TestKernelReference(t *testing.T) {
	text := ""
	for _, page := range []string{reference, panels, blockwise, codes} {
		text += string(load(t).files[page])
	}
	found := example.FindAllStringSubmatch(text, -1)
	if n := strings.Count(text, "```go\n"); n != len(found) || n == 0 {
		t.Errorf("%s has %d blocks of Go, %d of them say what becomes of them in a comment above (ptx:, fault:, refused:)", reference, n, len(found))
	}
	u := newUser(t)
	u.write("go.mod", "module example.com/user\n\ngo 1.26.0\n\nrequire "+module+" v0.0.0\n\nreplace "+module+" => "+filepath.ToSlash(u.root)+"\n")
	for i, m := range found {
		if tidy, err := format.Source([]byte(m[2])); err != nil || string(tidy) != m[2] {
			t.Errorf("example %d is not as gofmt has it (%v):\n%s", i, err, tidy)
		}
		u.writeExample(exampleName(i, m[1]), m[2])
	}
	result, err := compile.Build(t.Context(), compile.Options{Dir: u.dir, Patterns: []string{"./..."}, Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range found {
		name := filepath.Join(u.dir, exampleName(i, m[1]))
		compareDiagnostics(t, name, m[2], result.Diagnostics)
		for _, r := range remark.FindAllStringSubmatch(m[1], -1) {
			compareCode(t, r, kernelsOf(result, name))
		}
	}
}

// exampleName returns the file that an example is written to.
func exampleName(i int, remarks string) string {
	if strings.Contains(remarks, refused+":") {
		return fmt.Sprintf("refused%d/k.go", i)
	}
	return fmt.Sprintf("accepted/k%d.go", i)
}

func (u *user) writeExample(name, text string) {
	u.t.Helper()
	head := "package k\n\nimport (\n"
	for _, path := range imports {
		if base := filepath.Base(path); regexp.MustCompile(`\b` + base + `\.`).MatchString(text) {
			head += fmt.Sprintf("\t%q\n", path)
		}
	}
	if err := os.MkdirAll(filepath.Join(u.dir, filepath.Dir(name)), 0o700); err != nil {
		u.t.Fatal(err)
	}
	u.write(name, head+")\n\n"+text)
}

// kernelsOf returns the kernels that a file declares.
func kernelsOf(r *compile.Result, file string) []*compile.Kernel {
	var found []*compile.Kernel
	for _, p := range r.Packages {
		for _, k := range p.Kernels {
			if k.File == file {
				found = append(found, k)
			}
		}
	}
	return found
}

// compareDiagnostics demands that the lines of an example have the diagnostics that they name, and no
// others.
func compareDiagnostics(t *testing.T, file, text string, all diag.List) {
	t.Helper()
	got := map[string]string{}
	for _, d := range all {
		if d.Pos.Filename == file {
			got[sourceLine(t, file, d.Pos.Line)] += d.String() + "\n"
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		m := refusal.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if !strings.Contains(got[line], m[1]) || !strings.Contains(got[line], m[2]) {
			t.Errorf("%q has the diagnostics %q", line, got[line])
		}
		delete(got, line)
	}
	for _, line := range slices.Sorted(maps.Keys(got)) {
		t.Errorf("%q has the diagnostics %q, which the example does not name", line, got[line])
	}
}

func sourceLine(t *testing.T, file string, n int) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(strings.Split(string(text), "\n")[n-1])
}

// compareCode compares one remark with the code of the kernels. The texts of a ptx remark are set apart by
// commas; those after "not" are absent.
func compareCode(t *testing.T, r []string, kernels []*compile.Kernel) {
	t.Helper()
	var code, sites strings.Builder
	for _, k := range kernels {
		for _, v := range k.Variants {
			code.WriteString(v.PTX.String())
		}
		for _, s := range k.Sites {
			sites.WriteString(s.Format + "\n")
		}
	}
	switch {
	case r[1] == refused:
	case len(kernels) == 0:
		t.Errorf("no kernel was made of the example with %q", r[0])
	case r[1] == faults:
		if !strings.Contains(sites.String(), r[2]) {
			t.Errorf("the example with %q has none like that, but\n%s", r[0], sites.String())
		}
	case r[1] == accepted:
		for _, want := range strings.Split(r[2], ", ") {
			text, absent := strings.CutPrefix(want, "not ")
			if strings.Contains(code.String(), text) == absent {
				t.Errorf("the example with %q is wrong about %q; the PTX is\n%s", r[0], want, code.String())
			}
		}
	default:
		t.Errorf("the remark %q is none that the test knows", r[0])
	}
}

// TestKernelReferenceIsComplete demands that the reference explains every code that a user can meet.
func TestKernelReferenceIsComplete(t *testing.T) {
	text := string(load(t).files[reference])
	all := string(load(t).files[codes]) + string(load(t).files[panels])
	for _, code := range diag.All() {
		if !strings.Contains(all, code.String()) {
			t.Errorf("%s does not mention %v: %s", codes, code, code.Summary())
		}
	}
	if n := strings.Count(text, "\n"); n > 1000 {
		t.Errorf("%s has %d lines, at most 1000 are readable", reference, n)
	}
}
