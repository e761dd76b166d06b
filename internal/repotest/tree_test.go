package repotest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/gopherwarp/gopherwarp"

// tree is the repository: every file that is not ignored, and every Go file parsed.
type tree struct {
	files    map[string][]byte // by slash-separated path from the root
	fset     *token.FileSet
	sources  []source
	packages map[string]*pkg // by folder; the root's is "."
}

// source is a Go file outside testdata.
type source struct {
	name      string
	file      *ast.File
	test      bool
	generated bool
}

// pkg is what a folder's Go files, tests excepted, amount to.
type pkg struct {
	name    string
	doc     string // of the file doc.go or, for a command, main.go
	imports []imported
}

// imported is an import of a package of this repository, by its folder, or of a module of
// others, by its word in modules or its path.
type imported struct{ file, word string }

var once = sync.OnceValues(read)

// load reads the repository once for all tests.
func load(t *testing.T) *tree {
	t.Helper()
	r, err := once()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func read() (*tree, error) {
	r := &tree{files: map[string][]byte{}, fset: token.NewFileSet(), packages: map[string]*pkg{}}
	root := os.DirFS("../..")
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || name == "dist"):
			return fs.SkipDir
		case !d.Type().IsRegular() || name == ".git": // which in a worktree is a file
			return nil
		}
		r.files[name], err = fs.ReadFile(root, name)
		return err
	})
	if err != nil {
		return nil, err
	}
	for name, text := range r.files {
		if path.Ext(name) == ".go" && !strings.Contains("/"+name, "/testdata/") {
			if err := r.parse(name, text); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}

// parse adds a Go file.
func (r *tree) parse(name string, text []byte) error {
	file, err := parser.ParseFile(r.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	s := source{name: name, file: file, test: strings.HasSuffix(name, "_test.go"), generated: ast.IsGenerated(file)}
	r.sources = append(r.sources, s)
	dir := path.Dir(name)
	if s.test {
		return nil
	}
	p := r.packages[dir]
	if p == nil {
		p = &pkg{name: file.Name.Name}
		r.packages[dir] = p
	}
	base := path.Base(name)
	if base == "doc.go" || base == "main.go" && p.name == "main" {
		p.doc += file.Doc.Text()
	}
	for _, i := range file.Imports {
		imp, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return err
		}
		if word, ok := word(imp); ok {
			p.imports = append(p.imports, imported{name, word})
		}
	}
	return nil
}

// word names an import path for floors; it reports false for the standard library's.
func word(imp string) (string, bool) {
	if imp == module {
		return ".", true
	}
	if dir, ok := strings.CutPrefix(imp, module+"/"); ok {
		return dir, true
	}
	for m, w := range modules {
		if imp == m || strings.HasPrefix(imp, m+"/") {
			return w, true
		}
	}
	first, _, _ := strings.Cut(imp, "/")
	return imp, strings.Contains(first, ".")
}
