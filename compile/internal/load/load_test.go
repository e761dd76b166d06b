package load_test

import (
	"go/ast"
	"go/types"
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

// TestCheck looks at package math, this package, and all that they import, without and with what kernels reach.
func TestCheck(t *testing.T) {
	g, program := check(t)
	t.Run("math has bodies in Go", func(t *testing.T) { mathHasGoBodies(t, program) })
	t.Run("roots and order", func(t *testing.T) { rootsAndOrder(t, g, program) })
	t.Run("declarations", func(t *testing.T) { fewerDeclarations(t, program) })
	t.Run("overlay", func(t *testing.T) { overlaid(t, g) })
}

// mathHasGoBodies holds for every function that math has in Go on some machine.
func mathHasGoBodies(t *testing.T, program *load.Program) {
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

func rootsAndOrder(t *testing.T, g *load.Graph, program *load.Program) {
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

// fewerDeclarations demands that a program for kernels has fewer declarations of the standard library than the whole one,
// and that those are the same.
func fewerDeclarations(t *testing.T, whole *load.Program) {
	g, err := load.List(t.Context(), ".", "math", ".")
	if err != nil {
		t.Fatal(err)
	}
	program := g.Check(g.Roots, nil, &load.Reach{Closed: func(string) bool { return false }})
	for i, p := range program.Packages {
		want := whole.Packages[i]
		if p.ImportPath != want.ImportPath || p.Types.Name() != want.Types.Name() || len(p.Errors) != len(want.Errors) {
			t.Fatalf("package %s (%s) has errors %v; want that of %s (%s), %v", p.ImportPath, p.Types.Name(), p.Errors,
				want.ImportPath, want.Types.Name(), want.Errors)
		}
		if names := want.Types.Scope().Names(); !p.Standard && !slices.Equal(p.Types.Scope().Names(), names) {
			t.Errorf("%s declares %v, want %v", p.ImportPath, p.Types.Scope().Names(), names)
		}
		for _, name := range p.Types.Scope().Names() {
			if got, want := describe(p, name), describe(want, name); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		}
	}
	for path, names := range map[string]map[string]bool{
		"fmt":     {"Errorf": true, "Stringer": false},          // this package calls it, or does not
		"context": {"Context": true, "WithTimeout": false},      // of exec.CommandContext
		"time":    {"Time": true, "Month": true, "Tick": false}, // of the methods of fs.FileInfo, and of those of Time
		"unicode": {"Letter": false, "ToUpper": false},          // nothing names it
	} {
		scope := find(t, program, path).Types.Scope()
		for name, want := range names {
			if got := scope.Lookup(name) != nil; got != want {
				t.Errorf("%s.%s is there: %v, want %v", path, name, got, want)
			}
		}
	}
}

// describe tells a declaration's type and its methods.
func describe(p *load.Package, name string) string {
	o := p.Types.Scope().Lookup(name)
	if o == nil {
		return p.ImportPath + " has no " + name
	}
	text := types.ObjectString(o, nil)
	if c, ok := o.(*types.Const); ok {
		text += " = " + c.Val().ExactString()
	}
	if _, ok := o.(*types.TypeName); ok {
		text += " " + types.NewMethodSet(types.NewPointer(o.Type())).String()
	}
	return text
}

// overlaid replaces a file of this package and hides the others.
func overlaid(t *testing.T, g *load.Graph) {
	self := g.Roots[slices.IndexFunc(g.Roots, func(p *load.Package) bool { return p.InMain() })]
	overlay := map[string][]byte{}
	for _, file := range self.GoFiles {
		overlay[file] = nil
	}
	overlay[self.GoFiles[0]] = []byte("package load\n\nvar Answer int = \"no\"\n")
	program := g.Check([]*load.Package{self}, overlay, &load.Reach{Closed: func(string) bool { return false }})
	p := find(t, program, self.ImportPath)
	if !p.IllTyped || len(p.Errors) != 1 || p.Errors[0].Pos.Line != 3 {
		t.Errorf("got errors %v, want one in line 3", p.Errors)
	}
	if got := p.Types.Scope().Names(); !slices.Equal(got, []string{"Answer"}) {
		t.Errorf("the package declares %v, want Answer alone", got)
	}
}
