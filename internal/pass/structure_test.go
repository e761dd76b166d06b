package pass

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"
)

// maxPassFiles is the maximum number of files that declare a pass of the pipeline. Passes of one family share a file.
const maxPassFiles = 34

// TestStructure demands that few files declare passes, each with an example of the IR before and after, and that only the
// pipeline runs passes: what one needs of another is a combination in the pipeline, with the reason for a repetition.
func TestStructure(t *testing.T) {
	files := parsePackage(t)
	passes := pipelinePasses(files["pipeline.go"])
	delete(files, "pipeline.go")
	examples := map[string]int{} // lines of IR, by file
	for name, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv == nil && slices.Contains(passes, n.Name.Name) {
					examples[name] = max(examples[name], strings.Count(n.Doc.Text(), "\n\t"))
				}
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.Ident); ok && slices.Contains(passes, f.Name) {
					t.Errorf("%s calls the pass %s: combine the passes in pipeline.go", name, f.Name)
				}
			}
			return true
		})
	}
	if n := len(examples); n == 0 || n > maxPassFiles {
		t.Errorf("%d files declare passes, want at most %d", n, maxPassFiles)
	}
	for name, lines := range examples {
		if lines < 4 || lines > 10 {
			t.Errorf("%s has an example of %d lines; let a pass show 4 to 10 lines of IR before and after", name, lines)
		}
	}
}

// parsePackage returns the package's files by name, without tests.
func parsePackage(t *testing.T) map[string]*ast.File {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]*ast.File{}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		if files[e.Name()], err = parser.ParseFile(token.NewFileSet(), e.Name(), nil, parser.ParseComments); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// pipelinePasses returns the functions that the steps of the pipeline and their combinations name.
func pipelinePasses(pipeline *ast.File) []string {
	var names []string
	add := func(args []ast.Expr) {
		for _, a := range args {
			if f, ok := a.(*ast.Ident); ok && !slices.Contains(names, f.Name) {
				names = append(names, f.Name)
			}
		}
	}
	combinations := []string{"then", "rounds", "untilUnchanged", "unrolling"}
	ast.Inspect(pipeline, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok && slices.Contains(combinations, f.Name) && n.Ellipsis == token.NoPos {
				add(n.Args)
			}
		case *ast.CompositeLit:
			if n.Type == nil && len(n.Elts) == 3 { // a step
				add(n.Elts[1:2])
			}
		}
		return true
	})
	return names
}
