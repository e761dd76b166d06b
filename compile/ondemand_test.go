package compile_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/gopherwarp/gopherwarp/compile"
)

// TestOnDemand builds a package whose code is generated on demand: the launchers are for the source tree, and the PTX, the
// twins and their vector code are for programs alone.
func TestOnDemand(t *testing.T) {
	dir := module(t, map[string]*txtar.Archive{"ondemand": archives(t, "testdata/generate")["ondemand"]})
	result := build(t, dir)
	var stale []string // besides the launchers, which the archive has
	for _, f := range result.Stale() {
		stale = append(stale, filepath.Base(f.Name))
	}
	if want := []string{"zvector.go"}; !slices.Equal(stale, want) {
		t.Errorf("stale files are %v, want %v", stale, want)
	}
	for _, f := range result.Stale() {
		if err := f.Write(); err != nil {
			t.Fatal(err)
		}
	}
	replaced := overlaid(t, result)
	for name, want := range map[string]string{
		"zkernels.go": "PTX: &doubleSM70", "zkernels_ptx.go": "var doubleSM70 = ", "zkernels_cpu.go": "func doubleTwin",
		"zvector_amd64.s": "TEXT ·DoubleTwin", "zvector_amd64.go": "func DoubleTwin", "zvector_other.go": "return 0",
	} {
		if !strings.Contains(replaced[name], want) {
			t.Errorf("%s of the program does not have %q:\n%s", name, want, replaced[name])
		}
	}
	if len(replaced) != 6 {
		t.Errorf("the overlay has %d files, want 6", len(replaced))
	}
	if again := build(t, dir).Stale(); len(again) > 0 {
		t.Errorf("a second build finds %s stale", again[0].Name)
	}
}

// TestOnDemandDependencies builds a package that imports one whose code is generated on demand and one whose code is in
// the source tree, which only a build of all dependencies compiles.
func TestOnDemandDependencies(t *testing.T) {
	generate := archives(t, "testdata/generate")
	dir := module(t, map[string]*txtar.Archive{"ondemand": generate["ondemand"], "plain": generate["plain"]})
	write(t, filepath.Join(dir, "main.go"), "package main\n\nimport (\n\t_ \"example.com/user/ondemand\"\n\t_ \"example.com/user/plain\"\n)\n\nfunc main() {}\n")
	for onDemand, want := range map[bool][]string{true: {"ondemand"}, false: {"ondemand", "plain"}} {
		result, err := compile.Build(t.Context(), compile.Options{Dir: dir, Dependencies: true, OnDemand: onDemand})
		if err != nil {
			t.Fatal(err)
		}
		if err := result.Diagnostics.Err(); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range result.Packages {
			got = append(got, filepath.Base(p.Dir))
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("with OnDemand=%v, packages %v are built, want %v", onDemand, got, want)
		}
	}
}

// overlaid returns the contents of the files of an overlay by their base names.
func overlaid(t *testing.T, r *compile.Result) map[string]string {
	t.Helper()
	name, err := r.Overlay(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var overlay struct{ Replace map[string]string }
	if err := json.Unmarshal(text, &overlay); err != nil {
		t.Fatal(err)
	}
	contents := map[string]string{}
	for name, file := range overlay.Replace {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		contents[filepath.Base(name)] = string(text)
	}
	return contents
}
