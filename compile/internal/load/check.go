package load

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"iter"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"github.com/gopherwarp/gopherwarp/internal/diag"
)

// Sizes are the sizes of types on the host and on devices. They agree because the project supports
// only 64-bit hosts.
var Sizes = types.SizesFor("gc", "amd64")

// Program is a set of packages with types. Those whose function bodies were loaded have
// Syntax and TypesInfo; the others have Types alone.
type Program struct {
	Fset     *token.FileSet
	Packages []*Package // dependencies first
}

// Check parses and checks the given packages and all that they import. The overlay maps file names to contents that replace
// those on disk; nil contents mean that the file does not exist. The result contains only function bodies that can be reached,
// and outside pkgs only those are checked; go build checks the rest. If reach is nil, all bodies are included.
func (g *Graph) Check(pkgs []*Package, overlay map[string][]byte, reach *Reach) *Program {
	c := &checker{
		graph:   g,
		overlay: overlay,
		asked:   pkgs,
		all:     reach == nil,
		program: &Program{Fset: token.NewFileSet()},
		files:   map[*Package][]*ast.File{},
		needed:  map[*Package]bool{},
		kept:    map[ast.Node]bool{},
		named:   map[ast.Node]bool{},
	}
	c.program.Packages = g.closure(pkgs)
	if c.all {
		c.parse(c.program.Packages)
	} else {
		c.search(reach)
	}
	c.checkAll()
	return c.program
}

// Forget releases the syntax and the type information about it.
func (p *Program) Forget() {
	for _, q := range p.Packages {
		q.Syntax, q.Info = nil, nil
	}
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
	for _, path := range generatedImports {
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
	all     bool // bodies are kept
	program *Program
	files   map[*Package][]*ast.File
	needed  map[*Package]bool // something of it is reached
	kept    map[ast.Node]bool // what is reached
	named   map[ast.Node]bool // declarations of packages that are parsed later
}

// checkAll checks the packages, each as soon as those before it that it imports have types.
func (c *checker) checkAll() {
	done := map[*Package]chan struct{}{}
	waits := make([][]chan struct{}, len(c.program.Packages))
	for i, p := range c.program.Packages {
		for path := range c.importPaths(p) {
			if q := c.graph.imported(p, path); done[q] != nil {
				waits[i] = append(waits[i], done[q])
			}
		}
		done[p] = make(chan struct{})
	}
	var group sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, p := range c.program.Packages {
		group.Go(func() {
			defer close(done[p])
			for _, w := range waits[i] {
				<-w
			}
			free <- struct{}{}
			c.check(p)
			<-free
		})
	}
	group.Wait()
}

// importPaths yields what files of p import: a generated one perhaps more than the go command knows of.
func (c *checker) importPaths(p *Package) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, path := range p.Imports {
			if !yield(path) {
				return
			}
		}
		for _, f := range c.files[p] {
			for _, spec := range f.Imports {
				if path, err := strconv.Unquote(spec.Path.Value); err == nil && !yield(path) {
					return
				}
			}
		}
	}
}

// check sets the package's types.
func (c *checker) check(p *Package) {
	if p.ImportPath == "unsafe" {
		p.Types = types.Unsafe
		return
	}
	if c.later(p) {
		if c.prune(p); len(c.files[p]) == 0 {
			p.Types = c.empty(p)
			return
		}
	}
	bodies := c.hasBodies(p)
	config := &types.Config{
		Importer:         importer(func(path string) (*types.Package, error) { return c.imported(p, path) }),
		Sizes:            Sizes,
		FakeImportC:      true,
		IgnoreFuncBodies: !bodies,
		Error:            func(error) {}, // of a package that never has bodies: its own build reports it
	}
	if p.Module != nil && p.Module.GoVersion != "" {
		config.GoVersion = "go" + p.Module.GoVersion
	}
	partly := !c.all && !slices.Contains(c.asked, p)
	if c.mayHaveBodies(p) {
		config.Error = func(err error) { p.report(err, partly || len(p.CgoFiles) > 0) }
	}
	var info *types.Info
	if bodies {
		info = newInfo()
	}
	if bodies && partly {
		c.drop(p, endless)
	}
	// Errors went to config.Error; a package with errors is still a package.
	p.Types, _ = config.Check(p.ImportPath, c.program.Fset, c.files[p], info)
	if bodies {
		c.drop(p, nil)
		p.Syntax, p.Info = c.files[p], info
	}
	p.IllTyped = len(p.Errors) > 0 || len(p.Unparsed) > 0
	for _, path := range p.Imports {
		q := c.graph.paths[path]
		p.IllTyped = p.IllTyped || q != nil && q.IllTyped
	}
}

// endless stands for a body that is not checked: it returns whatever results a function has.
var endless = &ast.BlockStmt{List: []ast.Stmt{&ast.ForStmt{Body: &ast.BlockStmt{}}}}

// drop puts another body in place of those that are not kept.
func (c *checker) drop(p *Package, body *ast.BlockStmt) {
	for _, f := range c.files[p] {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil && !c.all && !c.kept[d] {
				fn.Body = body
			}
		}
	}
}

// report notes an error. In a package without all of its bodies those that change no types, like that of an
// import without uses, say nothing.
func (p *Package) report(err error, partly bool) {
	e, ok := errors.AsType[types.Error](err)
	if ok && e.Soft && partly {
		return
	}
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
