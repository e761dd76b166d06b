package progen

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
)

// declared is, as package clauses and declarations, what kernels use of other packages.
//
//go:embed program/imports.go.txt
var declared string

// checker knows whether a kernel is valid Go.
type checker struct {
	fset     *token.FileSet
	packages map[string]*types.Package
}

func newChecker() *checker {
	c := &checker{token.NewFileSet(), map[string]*types.Package{}}
	for text := range strings.SplitSeq(declared, "// import ") {
		if name, text, ok := strings.Cut(text, "\n"); ok && !strings.HasPrefix(name, "//") {
			text = regexp.MustCompile(`(?m)^func .*$`).ReplaceAllString(text, "$0 { panic(0) }")
			p, err := c.check(name, "package "+path.Base(name)+"\n"+text)
			if err != nil {
				panic("BUG: progen: " + err.Error())
			}
			c.packages[name] = p
		}
	}
	return c
}

// Import implements types.Importer.
func (c *checker) Import(path string) (*types.Package, error) {
	if p := c.packages[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("progen: import of %s", path)
}

func (c *checker) check(name string, texts ...string) (*types.Package, error) {
	var files []*ast.File
	for _, text := range texts {
		f, err := parser.ParseFile(c.fset, "", text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	config := types.Config{Importer: c}
	return config.Check(name, c.fset, files, nil)
}

// valid reports whether the source of a kernel can be compiled.
func (c *checker) valid(source string) bool {
	_, err := c.check("main", "package main\n"+sharedText+conversions(), "package main\n"+imported+header+source)
	return err == nil
}

// mend returns the source with uses of the variables that are declared for nothing, and reports
// whether it can be compiled then.
func (c *checker) mend(source string) (string, bool) {
	before := "package main\n" + imported + header
	for {
		unused, err := c.unused(before + source)
		if err != nil || len(unused) == 0 {
			return source, err == nil
		}
		for _, u := range unused {
			at := u.end - len(before)
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
	shared, _ := parser.ParseFile(c.fset, "", "package main\n"+sharedText+conversions(), parser.SkipObjectResolution)
	f, err := parser.ParseFile(c.fset, "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	config := types.Config{Importer: c, Error: func(e error) {
		wrong := e.(types.Error)
		name, ok := strings.CutPrefix(wrong.Msg, "declared and not used: ")
		end := declaration(f, wrong.Pos)
		if !ok || end == token.NoPos {
			err = errors.Join(err, e)
			return
		}
		list = append(list, unused{name, c.fset.File(f.Pos()).Offset(end)})
	}}
	config.Check("main", c.fset, []*ast.File{shared, f}, nil) // its errors went to Error
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
