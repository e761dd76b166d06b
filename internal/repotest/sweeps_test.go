package repotest

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sweepLine matches the arguments of a go test command of .ci/run that runs whole sweeps.
var sweepLine = regexp.MustCompile(`(?m)^\s*GOPHERWARP_SWEEP=1 go test ([^#\n]*)`)

// TestSweepsRun demands that .ci/run has a sweep of every test that is a sample in go test.
func TestSweepsRun(t *testing.T) {
	r := load(t)
	commands := sweepLine.FindAllStringSubmatch(string(r.files[".ci/run"]), -1)
	for _, s := range r.sources {
		if !s.test || strings.HasPrefix(s.name, "internal/verify/sweep/") {
			continue
		}
		dir := path.Dir(s.name)
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if ok && samples(f) && !slices.ContainsFunc(commands, func(m []string) bool { return sweeps(m[1], dir, f.Name.Name) }) {
				t.Errorf("%s: %s runs a sample, and no line of .ci/run runs all of it; add it to one that sets GOPHERWARP_SWEEP=1", s.name, f.Name.Name)
			}
		}
	}
}

// fuzzTarget matches a fuzz target of .ci/run: a package, and a function of it.
var fuzzTarget = regexp.MustCompile(`[\w/]+/Fuzz\w+`)

// TestFuzzTargetsExist demands that the fuzz targets of .ci/run exist, because go test succeeds without any.
func TestFuzzTargetsExist(t *testing.T) {
	r := load(t)
	exist := map[string]bool{}
	for _, s := range r.sources {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && s.test {
				exist[path.Dir(s.name)+"/"+f.Name.Name] = true
			}
		}
	}
	targets := fuzzTarget.FindAllString(string(r.files[".ci/run"]), -1)
	if len(targets) < 10 {
		t.Errorf(".ci/run has the targets %q; want at least 10", targets)
	}
	for _, target := range targets {
		if !exist[target] {
			t.Errorf(".ci/run fuzzes %s, which does not exist", target)
		}
	}
}

// samples reports whether a function selects cases by whether a sweep runs.
func samples(f *ast.FuncDecl) bool {
	for n := range ast.Preorder(f) {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			continue
		}
		of, ok := sel.X.(*ast.Ident)
		if ok && (of.Name == "sweep" || of.Name == "kerneltest" && (sel.Sel.Name == "Some" || sel.Sel.Name == "Runs")) {
			return true
		}
	}
	return false
}

// sweeps reports whether go test with the given arguments runs a function in the folder dir, or others there if it is no test itself.
func sweeps(arguments, dir, name string) bool {
	words := strings.Fields(arguments)
	selected := true
	if i := slices.Index(words, "-run"); i >= 0 && (strings.HasPrefix(name, "Test") || strings.HasPrefix(name, "Fuzz")) {
		test, _, _ := strings.Cut(strings.Trim(words[i+1], "'"), "/")
		selected = regexp.MustCompile(test).MatchString(name)
	}
	return selected && slices.ContainsFunc(words, func(w string) bool {
		pattern, ok := strings.CutPrefix(w, "./")
		return ok && matches(dir, pattern)
	})
}
