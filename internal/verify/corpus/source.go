package corpus

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// goVersion is the language version of all sources; files with a build constraint for an older version keep that.
const goVersion = "go1.26"

// A source is a type-checked package.
type source struct {
	name  string // in reports: an import path, or a file's path below GOROOT
	path  string // the import path; unique
	types *types.Package
	info  *types.Info
	files []*ast.File
	decls map[string]decl // of package-level names; of methods as "Type.Method"
}

// A decl is a declaration that can be copied.
type decl struct {
	source *source
	node   ast.Node // *ast.FuncDecl, *ast.TypeSpec, *ast.ValueSpec of a variable, or *ast.GenDecl of constants
}

// A Library is the sources that kernels are made from.
type Library struct {
	fset    *token.FileSet
	root    string
	exports map[string]string // the files of export data, by import path
	types   types.Importer
	sources []*source
	byPath  map[string]*source
	texts   map[string][]byte // of files, by name
	shared  *ast.File         // the declarations that all kernels share

	mathematical map[string]bool // packages of modules that import package math, perhaps through others
}

// listed is a package as the go command describes it.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles, Deps           []string
	DepOnly, Standard       bool
}

// tags select the files without assembly where packages have both.
const tags = "purego,noasm,safe"

// Load type-checks the packages that match the options' patterns, as the go command resolves them in the module at root,
// and the single-file programs in the options' folders of GOROOT/test. A package or a program that does not type-check is
// left out. An error is one of the go command, or of a folder that does not exist.
func Load(ctx context.Context, root string, o Options) (*Library, error) {
	l := &Library{fset: token.NewFileSet(), root: root, exports: map[string]string{}, byPath: map[string]*source{}, texts: map[string][]byte{}, mathematical: map[string]bool{}}
	list, err := l.list(ctx, o.Patterns)
	if err != nil {
		return nil, err
	}
	l.types = importer.ForCompiler(l.fset, "gc", l.lookup)
	for _, p := range list {
		if p.DepOnly || len(p.GoFiles) == 0 {
			continue
		}
		var names []string
		for _, name := range p.GoFiles {
			names = append(names, filepath.Join(p.Dir, name))
		}
		l.add(p.ImportPath, p.ImportPath, names)
	}
	root = filepath.Join(goroot(ctx), "test")
	for _, folder := range o.Tests {
		if err := l.addTests(root, folder); err != nil {
			return nil, err
		}
	}
	return l, l.addShared()
}

// needed are packages that all kernels import, and with them what the programs of GOROOT/test import.
var needed = []string{
	modulePath + "/gpu", modulePath + "/gpu/collective", modulePath + "/dtype", modulePath + "/math32", "math", "math/bits", "sync/atomic",
}

const modulePath = "github.com/gopherwarp/gopherwarp"

// list describes the packages and all that they import.
func (l *Library) list(ctx context.Context, patterns []string) (list []listed, err error) {
	args := append([]string{"list", "-e", "-export", "-deps", "-tags=" + tags, "-json=ImportPath,Dir,Export,GoFiles,Deps,DepOnly,Standard"}, needed...)
	cmd := exec.CommandContext(ctx, "go", append(args, patterns...)...)
	cmd.Dir = l.root
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("corpus: go list: %w\n%.2000s", err, stderr.String())
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return nil, fmt.Errorf("corpus: go list: %w", err)
		}
		l.exports[p.ImportPath] = p.Export
		if strings.HasPrefix(p.ImportPath, modulePath) {
			continue
		}
		l.mathematical[p.ImportPath] = !p.Standard && slices.Contains(p.Deps, "math")
		list = append(list, p)
	}
}

// lookup opens the export data of a package. The standard library imports its vendored packages without the prefix.
func (l *Library) lookup(path string) (io.ReadCloser, error) {
	for _, p := range [...]string{path, "vendor/" + path} {
		if name := l.exports[p]; name != "" {
			return os.Open(name)
		}
	}
	return nil, fmt.Errorf("corpus: no export data of %s", path)
}

// add type-checks a package, and leaves it out if it has errors.
func (l *Library) add(name, path string, files []string) {
	s := &source{name: name, path: path, decls: map[string]decl{}}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return
		}
		f, err := parser.ParseFile(l.fset, name, text, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return
		}
		l.texts[name] = text
		s.files = append(s.files, f)
	}
	s.info = newInfo()
	pkg, err := l.config().Check(path, l.fset, s.files, s.info)
	if err != nil {
		return
	}
	s.types = pkg
	for _, f := range s.files {
		s.addDecls(f)
	}
	l.sources = append(l.sources, s)
	l.byPath[path] = s
}

func (l *Library) config() *types.Config {
	return &types.Config{Importer: l.types, GoVersion: goVersion, Sizes: types.SizesFor("gc", "amd64")}
}

func newInfo() *types.Info {
	return &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{},
	}
}

// addDecls adds a file's declarations to the table.
func (s *source) addDecls(f *ast.File) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if fn, ok := s.info.Defs[d.Name].(*types.Func); ok {
				s.decls[key(fn)] = decl{s, d}
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				s.addSpec(d, spec)
			}
		}
	}
}

func (s *source) addSpec(d *ast.GenDecl, spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		s.decls[spec.Name.Name] = decl{s, spec}
	case *ast.ValueSpec:
		node := ast.Node(spec)
		if d.Tok == token.CONST { // iota, and values that are repeated
			node = d
		}
		for _, name := range spec.Names {
			s.decls[name.Name] = decl{s, node}
		}
	}
}

// key returns the name of a package-level object, or of a method, in a source's table.
func key(o types.Object) string {
	if fn, ok := o.(*types.Func); ok {
		if named := receiver(fn); named != nil {
			return named.Obj().Name() + "." + fn.Name()
		}
	}
	return o.Name()
}

// receiver returns the type that a method is declared for, or nil for functions and methods of interfaces.
func receiver(fn *types.Func) *types.Named {
	recv := fn.Signature().Recv()
	if recv == nil {
		return nil
	}
	t := types.Unalias(recv.Type())
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	named, ok := t.(*types.Named)
	if !ok || types.IsInterface(named) {
		return nil
	}
	return named.Origin()
}

// addTests adds the programs in a folder of GOROOT/test, but not those of its subfolders.
func (l *Library) addTests(test, folder string) error {
	if _, err := os.Stat(filepath.Join(test, folder)); err != nil {
		return fmt.Errorf("corpus: %w", err)
	}
	files, err := filepath.Glob(filepath.Join(test, folder, "*.go"))
	if err != nil {
		return err
	}
	for _, file := range files {
		name, err := filepath.Rel(filepath.Dir(test), file)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		l.add(name, strings.TrimSuffix(name, ".go"), []string{file})
	}
	return nil
}

func goroot(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
