package repotest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis/checker"
	suite "golang.org/x/tools/go/analysis/suite/vet"
	"golang.org/x/tools/go/packages"

	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
)

// TestOtherSystems does what go vet does, for all packages and their tests, for systems that the tests do not run on. It reads the sources
// of everything, which takes a tenth of the time of go vet: that compiles every package for the system. One system has the build tag of the race
// detector, so that files which only that compiles are judged as well.
func TestOtherSystems(t *testing.T) {
	if !sweep.Whole() {
		t.Skip("takes half a minute; set GOPHERWARP_SWEEP=1")
	}
	for _, target := range []string{"windows/amd64", "darwin/arm64/race"} {
		for _, finding := range findings(t, "../..", target) {
			t.Errorf("%s: %s", target, finding)
		}
	}
}

// TestFindings demands that what only one system has is found: an error, and a mistake that go vet reports.
func TestFindings(t *testing.T) {
	u := newUser(t)
	u.write("go.mod", "module example.com/user\n\ngo 1.26.0\n")
	u.write("a.go", "package user\n\nvar X int = Y\n")
	u.write("a_linux.go", "package user\n\nconst Y = 1\n")
	u.write("a_windows.go", "package user\n\nconst Y = \"\"\n")
	u.write("a_darwin.go", "package user\n\nconst Y = 2\n\nfunc f() { X = X }\n")
	for target, want := range map[string]string{"linux/amd64": "", "windows/amd64": "string constant", "darwin/arm64": "self-assignment"} {
		got := findings(t, u.dir, target)
		if len(got) > 1 || (len(got) == 1) != (want != "") || !strings.Contains(strings.Join(got, ""), want) {
			t.Errorf("%s has the findings %q, want %q", target, got, want)
		}
	}
}

// findings returns the errors of all packages in a module, its dependencies included, and what the analyzers of go vet report of the
// module's packages. The target is a system, an architecture and, optionally, a build tag.
func findings(t *testing.T, dir, target string) (list []string) {
	t.Helper()
	system, architecture, _ := strings.Cut(target, "/")
	architecture, tag, _ := strings.Cut(architecture, "/")
	roots, err := packages.Load(&packages.Config{
		Mode:       packages.LoadAllSyntax | packages.NeedModule,
		Dir:        dir,
		Tests:      true,
		BuildFlags: []string{"-tags=" + tag},
		Env:        append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+architecture),
		ParseFile: func(fset *token.FileSet, name string, text []byte) (*ast.File, error) {
			return parser.ParseFile(fset, name, text, parser.SkipObjectResolution|parser.ParseComments)
		},
	}, "./...")
	if err != nil || len(roots) == 0 {
		t.Fatalf("%d packages, error %v", len(roots), err)
	}
	packages.Visit(roots, nil, func(p *packages.Package) {
		for _, err := range p.Errors {
			list = append(list, err.Error())
		}
	})
	if list != nil {
		return list
	}
	graph, err := checker.Analyze(suite.Suite, roots, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range graph.Roots {
		if a.Err != nil {
			list = append(list, fmt.Sprintf("%v: %v", a, a.Err))
		}
		for _, d := range a.Diagnostics {
			list = append(list, fmt.Sprintf("%v: %s: %s", a.Package.Fset.Position(d.Pos), a.Analyzer.Name, d.Message))
		}
	}
	return list
}
