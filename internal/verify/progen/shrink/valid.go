package shrink

import (
	_ "embed"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/verify/progen"
)

// declared is, as package clauses and declarations, what kernels use of other packages.
//
//go:embed imports.go.txt
var declared string

// checker knows whether a kernel is valid Go.
type checker struct {
	fset     *token.FileSet
	packages map[string]*types.Package
	shared   *ast.File // what the kernels of a package share, without function bodies
	before   string    // what precedes the source of a kernel in its file
}

func newChecker() *checker {
	files := progen.Package("main", []progen.Kernel{{Name: "k"}})
	c := &checker{fset: token.NewFileSet(), packages: map[string]*types.Package{}, before: files["k.go"]}
	for text := range strings.SplitSeq(declared, "// import ") {
		if name, text, ok := strings.Cut(text, "\n"); ok && !strings.HasPrefix(name, "//") {
			text = regexp.MustCompile(`(?m)^func .*$`).ReplaceAllString(text, "$0 { panic(0) }")
			c.packages[name], _ = c.mustCheck(name, "package "+path.Base(name)+"\n"+text)
		}
	}
	_, c.shared = c.mustCheck("main", files["shared.go"])
	for _, d := range c.shared.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			f.Body.List = []ast.Stmt{&ast.ForStmt{Body: &ast.BlockStmt{}}} // which is a body for any results
		}
	}
	return c
}

// Import implements types.Importer.
func (c *checker) Import(path string) (*types.Package, error) {
	if p := c.packages[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("shrink: import of %s", path)
}

// mustCheck checks a package of one file, which is ours.
func (c *checker) mustCheck(name, text string) (*types.Package, *ast.File) {
	f, err := c.parse(text)
	if err != nil {
		panic("BUG: shrink: " + err.Error())
	}
	config := types.Config{Importer: c}
	p, err := config.Check(name, c.fset, []*ast.File{f}, nil)
	if err != nil {
		panic("BUG: shrink: " + err.Error())
	}
	return p, f
}

func (c *checker) parse(text string) (*ast.File, error) {
	return parser.ParseFile(c.fset, "", text, parser.SkipObjectResolution)
}

// check calls f with the errors of a kernel's file. In the other file, only imports may be wrong, which bodies need.
func (c *checker) check(file *ast.File, f func(types.Error)) {
	config := types.Config{Importer: c, Error: func(err error) {
		if e := err.(types.Error); e.Pos < c.shared.FileStart || e.Pos > c.shared.FileEnd {
			f(e)
		}
	}}
	config.Check("main", c.fset, []*ast.File{c.shared, file}, nil) // its errors went to Error
}

// valid returns an error if the source of a kernel cannot be compiled.
func (c *checker) valid(source string) error {
	f, err := c.parse(c.before + source)
	if err == nil {
		c.check(f, func(e types.Error) { err = errors.Join(err, e) })
	}
	return err
}

// mend returns the source with uses of the variables that are declared for nothing, and reports
// whether it can be compiled then.
func (c *checker) mend(source string) (string, bool) {
	for {
		unused, err := c.unused(c.before + source)
		if err != nil || len(unused) == 0 {
			return source, err == nil
		}
		for _, u := range unused {
			at := u.end - len(c.before)
			source = source[:at] + "\n_ = " + u.name + source[at:]
		}
	}
}

// unused is a variable that is declared for nothing, by a statement that ends there.
type unused struct {
	name string
	end  int
}

// unused returns those of a file, the last first, or another error that it has.
func (c *checker) unused(text string) (list []unused, err error) {
	f, err := c.parse(text)
	if err != nil {
		return nil, err
	}
	c.check(f, func(e types.Error) {
		name, ok := strings.CutPrefix(e.Msg, "declared and not used: ")
		end := declaration(f, e.Pos)
		if !ok || end == token.NoPos {
			err = errors.Join(err, e)
			return
		}
		list = append(list, unused{name, c.fset.File(f.Pos()).Offset(end)})
	})
	slices.SortFunc(list, func(a, b unused) int { return b.end - a.end })
	return list, err
}

// declaration returns the end of the statement of a block that declares the name at pos.
func declaration(f *ast.File, pos token.Pos) token.Pos {
	end := token.NoPos
	for n := range ast.Preorder(f) {
		var list []ast.Stmt
		switch n := n.(type) {
		case *ast.BlockStmt:
			list = n.List
		case *ast.CaseClause:
			list = n.Body
		}
		for _, s := range list {
			switch s.(type) {
			case *ast.AssignStmt, *ast.DeclStmt:
				if s.Pos() <= pos && pos < s.End() {
					end = s.End()
				}
			}
		}
	}
	return end
}
