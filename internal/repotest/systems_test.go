package repotest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
)

// TestOtherSystems type-checks all packages and their tests for systems that the tests do not run on. It reads all sources, which takes
// a tenth of the time of a build.
func TestOtherSystems(t *testing.T) {
	if !sweep.Whole() {
		t.Skip("takes ten seconds; set GOPHERWARP_SWEEP=1")
	}
	for _, target := range []string{"windows/amd64", "darwin/arm64"} {
		for _, err := range typeErrors(t, "../..", target) {
			t.Errorf("%s: %v", target, err)
		}
	}
}

// TestTypeCheck demands that an error is found that only one system has.
func TestTypeCheck(t *testing.T) {
	u := newUser(t)
	u.write("go.mod", "module example.com/user\n\ngo 1.26.0\n")
	u.write("a.go", "package user\n\nvar X int = Y\n")
	u.write("a_linux.go", "package user\n\nconst Y = 1\n")
	u.write("a_windows.go", "package user\n\nconst Y = \"\"\n")
	for target, want := range map[string]int{"linux/amd64": 0, "windows/amd64": 1} {
		if got := typeErrors(t, u.dir, target); len(got) != want {
			t.Errorf("%s has the errors %v, want %d", target, got, want)
		}
	}
}

// typeErrors returns the errors of all packages in a module, its dependencies included.
func typeErrors(t *testing.T, dir, target string) (list []packages.Error) {
	t.Helper()
	system, architecture, _ := strings.Cut(target, "/")
	roots, err := packages.Load(&packages.Config{
		Mode:  packages.LoadAllSyntax,
		Dir:   dir,
		Tests: true,
		Env:   append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+architecture),
		ParseFile: func(fset *token.FileSet, name string, text []byte) (*ast.File, error) {
			return parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
		},
	}, "./...")
	if err != nil || len(roots) == 0 {
		t.Fatalf("%d packages, error %v", len(roots), err)
	}
	packages.Visit(roots, nil, func(p *packages.Package) { list = append(list, p.Errors...) })
	return list
}
