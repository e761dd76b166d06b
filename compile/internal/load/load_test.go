package load_test

import (
	"go/ast"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/compile/internal/load"
)

// check loads a package that imports nothing that kernels use, and with it the runtime.
func check(t *testing.T) (*load.Graph, *load.Program) {
	t.Helper()
	g, err := load.List(t.Context(), ".", "math", ".")
	if err != nil {
		t.Fatal(err)
	}
	return g, g.Check(g.Roots, nil, nil)
}

func find(t *testing.T, p *load.Program, path string) *load.Package {
	t.Helper()
	i := slices.IndexFunc(p.Packages, func(p *load.Package) bool { return p.ImportPath == path })
	if i < 0 {
		t.Fatalf("%s is not among the packages", path)
	}
	return p.Packages[i]
}

// TestMathHasGoBodies holds for every function that math has in Go on some machine.
func TestMathHasGoBodies(t *testing.T) {
	_, program := check(t)
	math := find(t, program, "math")
	if len(math.Errors) > 0 {
		t.Errorf("package math has errors: %v", math.Errors)
	}
	for _, f := range math.Syntax {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body == nil {
				t.Errorf("%v: %s has no body", program.Fset.Position(fn.Pos()), fn.Name.Name)
			}
		}
	}
}

func TestRootsAndOrder(t *testing.T) {
	g, program := check(t)
	var roots []string
	for _, p := range g.Roots {
		roots = append(roots, p.ImportPath)
	}
	slices.Sort(roots)
	if want := []string{load.Project + "/compile/internal/load", "math"}; !slices.Equal(roots, want) {
		t.Errorf("the roots are %v, want %v", roots, want)
	}
	seen := map[string]bool{"C": true}
	for _, p := range program.Packages {
		for _, path := range p.Imports {
			if !seen[path] {
				t.Errorf("%s stands before %s, which it imports", p.ImportPath, path)
			}
		}
		seen[p.ImportPath] = true
	}
	if fmt := find(t, program, "fmt"); fmt.Syntax != nil || fmt.Types.Scope().Lookup("Println") == nil {
		t.Error("package fmt has bodies, or no declarations")
	}
}

// TestOverlay replaces a file of this package and hides another.
func TestOverlay(t *testing.T) {
	g, _ := check(t)
	self := g.Roots[slices.IndexFunc(g.Roots, func(p *load.Package) bool { return p.InMain() })]
	overlay := map[string][]byte{}
	for _, file := range self.GoFiles {
		overlay[file] = nil
	}
	overlay[self.GoFiles[0]] = []byte("package load\n\nvar Answer int = \"no\"\n")
	program := g.Check([]*load.Package{self}, overlay, nil)
	p := find(t, program, self.ImportPath)
	if !p.IllTyped || len(p.Errors) != 1 || p.Errors[0].Pos.Line != 3 {
		t.Errorf("got errors %v, want one in line 3", p.Errors)
	}
	if got := p.Types.Scope().Names(); !slices.Equal(got, []string{"Answer"}) {
		t.Errorf("the package declares %v, want Answer alone", got)
	}
}
