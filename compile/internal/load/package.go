package load

import (
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/diag"
)

// Package is a package as the go command describes it and, after Check, its types.
type Package struct {
	ImportPath string
	Name       string
	Dir        string
	GoFiles    []string // absolute
	CgoFiles   []string // absolute
	Imports    []string // paths as the go command resolved them
	ImportMap  map[string]string
	Module     *Module // nil in the standard library
	Standard   bool
	Match      []string // the patterns that name it, as the go command cleans them: "./a/" is "./a"
	Error      *Error   // nil if the go command finds nothing wrong

	Types    *types.Package
	Syntax   []*ast.File // nil if function bodies were not loaded
	Info     *types.Info // likewise
	Unparsed diag.List   // syntax errors in its files
	Errors   diag.List   // type errors, which are unreliable after syntax errors
	IllTyped bool        // it, or a package that it imports, has errors
}

// Module is the module that a package belongs to.
type Module struct {
	Path      string
	Main      bool
	GoVersion string
}

// Error is an error that the go command reports for a package.
type Error struct {
	Pos string // "file:line:col", "file:line" or "file", relative, or empty
	Err string
}

// Position returns where the error is in a file, whose name is relative to dir.
func (e *Error) Position(dir string) token.Position {
	var p token.Position
	s := e.Pos
	var numbers []int
	for range 2 {
		i := strings.LastIndexByte(s, ':')
		if i < 0 {
			break
		}
		n, err := strconv.Atoi(s[i+1:])
		if err != nil {
			break
		}
		s, numbers = s[:i], append([]int{n}, numbers...)
	}
	if s != "" && s != "-" {
		p.Filename = filepath.Join(dir, s)
	}
	if len(numbers) > 0 {
		p.Line = numbers[0]
	}
	if len(numbers) > 1 {
		p.Column = numbers[1]
	}
	return p
}

// InMain reports whether p belongs to the main module, or to one of a workspace.
func (p *Package) InMain() bool { return p.Module != nil && p.Module.Main }

// Resolve returns the path of the package that p's files import as path.
func (p *Package) Resolve(path string) string {
	if actual, ok := p.ImportMap[path]; ok {
		return actual
	}
	return path
}

func (p *Package) absolute() {
	for _, files := range [...][]string{p.GoFiles, p.CgoFiles} {
		for i, file := range files {
			if !filepath.IsAbs(file) {
				files[i] = filepath.Join(p.Dir, file)
			}
		}
	}
}

// Files returns the names of the package's Go files.
func (p *Package) Files() []string { return slices.Concat(p.GoFiles, p.CgoFiles) }
