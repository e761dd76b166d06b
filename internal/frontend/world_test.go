package frontend_test

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/internal/frontend"
)

const project = "github.com/gopherwarp/gopherwarp/"

// world checks packages from source, each once, as on linux/amd64. Of those that kernels
// do not call only the declarations count. All tests have the same one.
type world struct {
	mu   sync.Mutex
	fset *token.FileSet
	pkgs map[string]*source
	prog *ssa.Program // of all packages, and of the kernels of lately
	made int          // packages of kernels that it has
}

// source is a package that was checked.
type source struct {
	types   *types.Package
	files   []*ast.File
	info    *types.Info // nil without function bodies
	ordered bool        // by frontend.Reorder
}

var theWorld = sync.OnceValue(func() *world { return &world{fset: token.NewFileSet(), pkgs: map[string]*source{}} })

var compiled = []string{project + "dtype", project + "gpu", project + "math32", "math", "math/bits", "sync/atomic", "cmp", "slices"}

// Import implements types.Importer. The world is locked, or nobody else's.
func (w *world) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if s := w.pkgs[path]; s != nil {
		return s.types, nil
	}
	names, err := filesOf(path)
	if err != nil {
		return nil, err
	}
	s := &source{}
	for _, name := range names {
		f, err := parser.ParseFile(w.fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		s.files = append(s.files, f)
	}
	if err := w.check(path, s, slices.Contains(compiled, path)); err != nil {
		return nil, err
	}
	w.pkgs[path] = s
	return s.types, nil
}

func filesOf(path string) ([]string, error) {
	context := build.Default
	context.GOOS, context.GOARCH, context.CgoEnabled = "linux", "amd64", false
	dir := filepath.Join(context.GOROOT, "src", filepath.FromSlash(path))
	if rest, ok := strings.CutPrefix(path, project); ok {
		dir = filepath.Join("..", "..", filepath.FromSlash(rest))
	}
	p, err := context.ImportDir(dir, 0)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, name := range p.GoFiles {
		names = append(names, filepath.Join(dir, name))
	}
	return names, nil
}

func (w *world) check(path string, s *source, bodies bool) error {
	if bodies {
		s.info = &types.Info{
			Types: map[ast.Expr]types.TypeAndValue{}, Instances: map[*ast.Ident]types.Instance{},
			Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, Implicits: map[ast.Node]types.Object{},
			Selections: map[*ast.SelectorExpr]*types.Selection{}, Scopes: map[ast.Node]*types.Scope{}, FileVersions: map[*ast.File]string{},
		}
	}
	config := types.Config{Importer: w, Sizes: types.SizesFor("gc", "amd64"), IgnoreFuncBodies: !bodies}
	var err error
	s.types, err = config.Check(path, w.fset, s.files, s.info)
	return err
}

// kernels builds a package whose only file has the given text, and returns the kernels in it.
func (w *world) kernels(name, text string) ([]frontend.Kernel, *ssa.Package, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f, err := parser.ParseFile(w.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, err
	}
	s := &source{files: []*ast.File{f}}
	if err := w.check("example.com/"+f.Name.Name, s, true); err != nil {
		return nil, nil, err
	}
	prog := w.program()
	frontend.Reorder(w.fset, s.types, s.files, s.info)
	pkg := prog.CreatePackage(s.types, s.files, s.info, false)
	pkg.Build()
	buildImports(prog, s.types, map[*types.Package]bool{})
	var kernels []frontend.Kernel
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
			if block, ok := directive(fn.Doc); ok && isKernel(pkg.Func(fn.Name.Name)) {
				kernels = append(kernels, frontend.Kernel{Func: pkg.Func(fn.Name.Name), Block: block})
			}
		}
	}
	return kernels, pkg, nil
}

// mostMade is how many packages of kernels a program has at most: a fuzzer makes millions.
const mostMade = 200

// program returns the program that has all packages that were imported so far, in which a package of kernels may be made.
func (w *world) program() *ssa.Program {
	if w.made++; w.prog == nil || w.made > mostMade {
		w.made = 0
		w.prog = ssa.NewProgram(w.fset, ssa.InstantiateGenerics|ssa.BuildSerially)
		w.prog.CreatePackage(types.Unsafe, nil, nil, true)
	}
	for _, p := range w.pkgs {
		switch {
		case w.prog.Package(p.types) != nil:
		case p.info == nil:
			w.prog.CreatePackage(p.types, nil, nil, true)
		default:
			if !p.ordered {
				frontend.Reorder(w.fset, p.types, p.files, p.info)
				p.ordered = true
			}
			w.prog.CreatePackage(p.types, p.files, p.info, true)
		}
	}
	return w.prog
}

// isKernel reports whether fn has what package compile demands of a kernel.
func isKernel(fn *ssa.Function) bool {
	return fn != nil && len(fn.Params) > 0 && fn.Params[0].Type().String() == project+"gpu.Thread" &&
		fn.Signature.Results().Len() == 0 && fn.TypeParams().Len() == 0
}

// buildImports builds what p imports, and not all of the world: it is faster.
func buildImports(prog *ssa.Program, p *types.Package, seen map[*types.Package]bool) {
	for _, q := range p.Imports() {
		if !seen[q] {
			seen[q] = true
			prog.Package(q).Build()
			buildImports(prog, q, seen)
		}
	}
}

// directive reads //gpu:kernel and //gpu:block.
func directive(doc *ast.CommentGroup) (block [3]int, ok bool) {
	if doc == nil {
		return block, false
	}
	for _, c := range doc.List {
		if sizes, found := strings.CutPrefix(c.Text, "//gpu:block "); found {
			block = [3]int{1, 1, 1}
			for axis, size := range strings.Split(sizes, ",") {
				n, err := strconv.Atoi(size)
				if err != nil {
					panic(fmt.Sprint("test: ", c.Text))
				}
				block[axis] = n
			}
		}
		ok = ok || c.Text == "//gpu:kernel"
	}
	return block, ok
}
