package load

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"github.com/gopherwarp/gopherwarp/internal/diag"
)

// Sizes lays out types on both sides of a launch. The project supports 64-bit hosts
// only, and they agree.
var Sizes = types.SizesFor("gc", "amd64")

// Program is a set of packages with types. Those whose function bodies were loaded have
// Syntax and TypesInfo; the others have Types alone.
type Program struct {
	Fset     *token.FileSet
	Packages []*Package // dependencies first
}

// Check parses and checks the given packages and all that they import. The overlay maps
// file names to contents that stand in for what is on disk, or is not; a file with nil
// contents counts as absent.
func (g *Graph) Check(pkgs []*Package, overlay map[string][]byte) *Program {
	c := &checker{
		graph:   g,
		overlay: overlay,
		asked:   pkgs,
		program: &Program{Fset: token.NewFileSet()},
		files:   map[*Package][]*ast.File{},
	}
	c.program.Packages = g.closure(pkgs)
	c.parse()
	for _, p := range c.program.Packages {
		c.check(p)
	}
	return c.program
}

// closure returns pkgs, the runtime, and all that they import, dependencies first.
func (g *Graph) closure(pkgs []*Package) []*Package {
	var all []*Package
	seen := map[*Package]bool{}
	var visit func(p *Package)
	visit = func(p *Package) {
		if p == nil || seen[p] {
			return
		}
		seen[p] = true
		for _, path := range p.Imports {
			visit(g.paths[path])
		}
		all = append(all, p)
	}
	for _, path := range runtime {
		visit(g.paths[path])
	}
	for _, p := range pkgs {
		visit(p)
	}
	return all
}

type checker struct {
	graph   *Graph
	asked   []*Package
	overlay map[string][]byte
	program *Program
	files   map[*Package][]*ast.File
}

// parse parses all files. Those with bodies come first, in order, so that a token.Pos in
// them does not depend on the schedule.
func (c *checker) parse() {
	var group sync.WaitGroup
	limit := make(chan struct{}, 4)
	for _, p := range c.program.Packages {
		if c.hasBodies(p) {
			c.files[p] = c.parseFiles(p)
		} else {
			c.files[p] = make([]*ast.File, len(p.Files()))
		}
	}
	for _, p := range c.program.Packages {
		if c.hasBodies(p) {
			continue
		}
		for i, file := range p.Files() {
			files := c.files[p]
			group.Go(func() {
				limit <- struct{}{}
				defer func() { <-limit }()
				if src, err := c.graph.Read(file); err == nil {
					files[i], _ = parser.ParseFile(c.program.Fset, file, src, parser.SkipObjectResolution)
				}
			})
		}
	}
	group.Wait()
	for p, files := range c.files {
		c.files[p] = slices.DeleteFunc(files, func(f *ast.File) bool { return f == nil })
	}
}

// parseFiles parses the files of a package whose bodies count, with those of the overlay.
func (c *checker) parseFiles(p *Package) []*ast.File {
	var files []*ast.File
	for _, name := range c.names(p) {
		name = portable(p, name)
		src, err := c.read(name)
		if err == nil {
			var f *ast.File
			f, err = parser.ParseFile(c.program.Fset, name, src, parser.ParseComments|parser.SkipObjectResolution)
			if f != nil {
				files = append(files, f)
			}
			if f != nil && slices.Contains(p.CgoFiles, name) {
				withoutC(f)
			}
		}
		if err != nil {
			p.Errors.Add(parseErrors(name, err)...)
		}
	}
	return files
}

// names returns the package's files, sorted, after the overlay.
func (c *checker) names(p *Package) []string {
	names := map[string]bool{}
	for _, file := range p.Files() {
		names[file] = true
	}
	for file, contents := range c.overlay {
		if filepath.Dir(file) == p.Dir {
			names[file] = contents != nil
		}
	}
	maps.DeleteFunc(names, func(_ string, present bool) bool { return !present })
	return slices.Sorted(maps.Keys(names))
}

func (c *checker) read(file string) ([]byte, error) {
	if src, ok := c.overlay[file]; ok {
		return src, nil
	}
	return c.graph.Read(file)
}

func parseErrors(file string, err error) diag.List {
	list, ok := errors.AsType[scanner.ErrorList](err)
	if !ok {
		return diag.List{diag.New(token.Position{Filename: file}, diag.GoError, "%v", err)}
	}
	var found diag.List
	for _, e := range list {
		found.Add(diag.New(e.Pos, diag.GoError, "%s", e.Msg))
	}
	return found
}

// check sets the package's types.
func (c *checker) check(p *Package) {
	if p.ImportPath == "unsafe" {
		p.Types = types.Unsafe
		return
	}
	bodies := c.hasBodies(p)
	config := &types.Config{
		Importer:         importer(func(path string) (*types.Package, error) { return c.imported(p, path) }),
		Sizes:            Sizes,
		FakeImportC:      true,
		IgnoreFuncBodies: !bodies,
		Error:            func(error) {}, // of a package without bodies: its own build tells
	}
	if p.Module != nil && p.Module.GoVersion != "" {
		config.GoVersion = "go" + p.Module.GoVersion
	}
	var info *types.Info
	if bodies {
		info = newInfo()
		config.Error = p.report
	}
	// Errors went to config.Error; a package with errors is still a package.
	p.Types, _ = config.Check(p.ImportPath, c.program.Fset, c.files[p], info)
	if bodies {
		p.Syntax, p.Info = c.files[p], info
	}
	p.IllTyped = len(p.Errors) > 0
	for _, path := range p.Imports {
		q := c.graph.paths[path]
		p.IllTyped = p.IllTyped || q != nil && q.IllTyped
	}
}

func (p *Package) report(err error) {
	e, ok := errors.AsType[types.Error](err)
	if !ok {
		p.Errors.Add(diag.New(token.Position{}, diag.GoError, "%v", err))
		return
	}
	p.Errors.Add(diag.New(e.Fset.Position(e.Pos), diag.GoError, "%s", e.Msg))
}

func newInfo() *types.Info {
	return &types.Info{
		Types:        map[ast.Expr]types.TypeAndValue{},
		Instances:    map[*ast.Ident]types.Instance{},
		Defs:         map[*ast.Ident]types.Object{},
		Uses:         map[*ast.Ident]types.Object{},
		Implicits:    map[ast.Node]types.Object{},
		Selections:   map[*ast.SelectorExpr]*types.Selection{},
		Scopes:       map[ast.Node]*types.Scope{},
		FileVersions: map[*ast.File]string{},
	}
}

type importer func(path string) (*types.Package, error)

func (f importer) Import(path string) (*types.Package, error) { return f(path) }

func (c *checker) imported(p *Package, path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	q := c.graph.imported(p, path)
	switch {
	case q == nil || q.Types == nil:
		return nil, fmt.Errorf("cannot import %q", path)
	case q.Error != nil && len(q.Files()) == 0:
		return nil, errors.New(q.Error.Err)
	}
	return q.Types, nil
}
