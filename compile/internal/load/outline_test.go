package load

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestOutline(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"package p // c\nfunc f() int {\n\treturn 1\n}\n", "package p \nfunc f() int {\n\n}\n"},
		{"//go:build go1.21 // c\n\npackage p", "//go:build go1.21 // c\n\npackage p"},
		{"func f() struct{ x int } { return g{1} }", "func f() struct{ x int } {}"},
		{"func f() interface{ M() } {\n}\n", "func f() interface{ M() } {\n}\n"},
		{"func f[T interface{ ~int }](x T) { go g() }", "func f[T interface{ ~int }](x T) {}"},
		{"func f() { '{'; '\\''; \"}\\\"}\"; `}\n}` /* } */ // }\n}\nvar x = 1", "func f() {\n\n}\nvar x = 1"},
		{"var x = []struct{ a int }{{1}, {2}}", "var x = []struct{ a int }{}"},
		{"var x = [...]struct{ a int }{{1}, {2}}", "var x = [...]struct{ a int }{{}, {}}"},
		{"var x = f(T{1}, func() { g() })", "var x = f(T{}, func() {})"},
		{"const x = len([...]int{1, 2}); var y = T{1}", "const x = len([...]int{1, 2}); var y = T{}"},
		{"type T struct {\n\ta struct{ b int } `x{`\n}", "type T struct {\n\ta struct{ b int } `x{`\n}"},
		{"package p\n//line q.go:1\nfunc f() { g() }", "package p\n//line q.go:1\nfunc f() { g() }"},
		{"package p // c\nfunc f() {", "package p // c\nfunc f() {"},
		{"package p\nvar x = \"{\nfunc f() { g() }", "package p\nvar x = \"{\nfunc f() { g() }"},
		{"package p; var x = '", "package p; var x = '"},
		{"package p /* never", "package p /* never"},
	} {
		if got := string(outline([]byte(c.text))); got != c.want {
			t.Errorf("%q\ngot  %q\nwant %q", c.text, got, c.want)
		}
	}
}

// TestOutlinesDeclareTheSame compares declarations of the standard library's, and their lines.
func TestOutlinesDeclareTheSame(t *testing.T) {
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range [...]string{"io", "net/netip", "reflect", "time"} {
		files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(root)), "src", folder, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no files of package %s (%v)", folder, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			whole, cut := declarations(t, file, text), declarations(t, file, outline(text))
			if whole != cut {
				t.Errorf("%s: got\n%s\nwant\n%s", file, cut, whole)
			}
		}
	}
}

// declarations returns a file's declarations with their lines, without the bodies and elements that may differ.
func declarations(t *testing.T, name string, text []byte) string {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for _, d := range f.Decls {
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BlockStmt:
				n.List = nil
			case *ast.CompositeLit:
				if a, ok := n.Type.(*ast.ArrayType); !ok || !isEllipsis(a.Len) {
					n.Elts = nil
				}
			case ast.Spec:
				out.WriteString(fset.Position(n.Pos()).String() + "\n")
			}
			return true
		})
		out.WriteString(fset.Position(d.Pos()).String() + "\n")
		if err := printer.Fprint(&out, token.NewFileSet(), d); err != nil {
			t.Fatal(err)
		}
	}
	return strings.Join(strings.Fields(out.String()), " ")
}

func isEllipsis(e ast.Expr) bool {
	_, ok := e.(*ast.Ellipsis)
	return ok
}
