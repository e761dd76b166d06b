package progen

import (
	_ "embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"regexp"
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
	_, err := c.check("main", "package main\n"+sharedText+conversions(), "package main\n"+header+source)
	return err == nil
}
