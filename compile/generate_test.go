package compile_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/gopherwarp/gopherwarp/compile"
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
)

var update = flag.Bool("update", false, "rewrite the expected files in testdata")

const generated = "zkernels.go"

// TestGenerate compares generated files with those of the archives, and with those of the same sources in another place, and
// has the Go compiler look at them.
func TestGenerate(t *testing.T) {
	cases := archives(t, "testdata/generate")
	dir := module(t, cases)
	result := build(t, dir)
	for _, p := range result.Packages {
		name := filepath.Base(p.Dir)
		a := cases[name]
		for _, f := range p.Files {
			if f.Place == compile.BuiltOnly {
				continue
			}
			if err := f.Write(); err != nil {
				t.Fatal(err)
			}
			if filepath.Base(f.Name) == generated {
				golden(t, name, a, f.Contents)
			}
		}
	}
	if *update {
		return
	}
	verb := "test" // which vets with the results for dependencies that go test has in its cache
	if sweep.Whole() {
		verb = "vet"
	}
	vet := exec.CommandContext(t.Context(), "go", verb, "./...")
	vet.Dir = dir
	if out, err := vet.CombinedOutput(); err != nil {
		t.Errorf("go %s: %v\n%s", verb, err, out)
	}
	if again := build(t, dir); len(again.Stale()) > 0 {
		t.Errorf("a second build finds %s stale", again.Stale()[0].Name)
	}
	same(t, result, build(t, module(t, cases)))
	unpacked(t, result)
}

// text matches the variable of a variant: its name, that of its base, and its code.
var text = regexp.MustCompile("var (\\w+) = \\w+\\.Text{(?:Base: &(\\w+), )?Code: `([^`]*)`}")

// unpacked demands that the generated files contain the PTX that the compiler has emitted.
func unpacked(t *testing.T, result *compile.Result) {
	t.Helper()
	for _, p := range result.Packages {
		var emitted, found []string
		for _, k := range p.Kernels {
			for _, v := range k.Variants {
				emitted = append(emitted, v.PTX.Code)
			}
		}
		texts := map[string]*driver.Text{}
		for _, f := range p.Files {
			for _, m := range text.FindAllStringSubmatch(string(f.Contents), -1) {
				texts[m[1]] = &driver.Text{Base: texts[m[2]], Code: m[3]}
				plain, err := texts[m[1]].Plain()
				if err != nil {
					t.Errorf("%s: %s: %v", f.Name, m[1], err)
				}
				found = append(found, plain)
			}
		}
		slices.Sort(emitted)
		slices.Sort(found)
		if !slices.Equal(found, emitted) || len(found) == 0 && len(p.Kernels) > 0 {
			t.Errorf("%s: the generated files have other PTX than the %d variants of the kernels", p.Path, len(emitted))
		}
	}
}

// same demands of files that they do not depend on the machine.
func same(t *testing.T, first, second *compile.Result) {
	t.Helper()
	for i, p := range first.Packages {
		for j, f := range p.Files {
			other := second.Packages[i].Files[j]
			if filepath.Base(f.Name) != filepath.Base(other.Name) || string(f.Contents) != string(other.Contents) {
				t.Errorf("%s differs from %s", f.Name, other.Name)
			}
		}
	}
}

// build builds everything in dir, without diagnostics.
func build(t *testing.T, dir string) *compile.Result {
	t.Helper()
	result, err := compile.Build(t.Context(), compile.Options{Dir: dir, Patterns: []string{"./..."}, Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := result.Diagnostics.Err(); err != nil {
		t.Fatal(err)
	}
	return result
}

// golden compares got with the archive's generated file, or puts it there.
func golden(t *testing.T, name string, a *txtar.Archive, got []byte) {
	t.Helper()
	for i, f := range a.Files {
		if f.Name != generated {
			continue
		}
		if *update {
			a.Files[i].Data = got
			if err := os.WriteFile(filepath.Join("testdata/generate", name+".txtar"), txtar.Format(a), 0o666); err != nil {
				t.Fatal(err)
			}
		} else if d := cmp.Diff(string(f.Data), string(got)); d != "" {
			t.Errorf("%s: unexpected text (-want +got); run go test -update to accept it:\n%s", name, d)
		}
		return
	}
	t.Errorf("%s has no %s", name, generated)
}
