package mutation

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/tools/go/packages"
)

// compiler matches the packages that are mutated.
var compiler = []string{"./internal/frontend", "./internal/ir/...", "./internal/analysis", "./internal/pass", "./internal/backend/..."}

// Source is the type-checked source of packages, and all mutations of it.
type Source struct {
	Mutations []*Mutation // in the order of the source

	root     string
	fset     *token.FileSet
	packages map[string]*packages.Package // by the folder, as in Mutation.File
}

// Load loads the compiler of the repository at root and enumerates the mutations.
func Load(root string) (*Source, error) { return load(root, compiler) }

// load is Load for the packages that patterns match.
func load(root string, patterns []string) (*Source, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	s := &Source{root: root, fset: token.NewFileSet(), packages: map[string]*packages.Package{}}
	list, err := packages.Load(&packages.Config{
		Mode: packages.LoadSyntax,
		Dir:  root,
		Fset: s.fset,
	}, patterns...)
	if err != nil {
		return nil, fmt.Errorf("mutation: %w", err)
	}
	for _, p := range list {
		for _, err := range p.Errors {
			return nil, fmt.Errorf("mutation: %w", err)
		}
		if err := s.add(p); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// add enumerates the mutations of a package.
func (s *Source) add(p *packages.Package) error {
	for _, f := range p.Syntax {
		file := s.fset.File(f.Pos())
		base := filepath.Base(file.Name())
		if strings.HasPrefix(base, "z") || ast.IsGenerated(f) {
			continue
		}
		name, err := filepath.Rel(s.root, file.Name())
		if err != nil {
			return err
		}
		text, err := os.ReadFile(file.Name())
		if err != nil {
			return err
		}
		v := &visitor{name: filepath.ToSlash(name), source: string(text), file: file, info: p.TypesInfo}
		v.visit(f)
		s.Mutations = append(s.Mutations, v.list...)
		s.packages[folder(v.name)] = p
	}
	return nil
}

// folder returns the folder of a file's name.
func folder(file string) string { return file[:strings.LastIndexByte("/"+file, '/')] }

// Sample draws n mutations that compile, without replacement: each subset of n is equally likely. It
// also returns those drawn that do not compile. If there are fewer than n, it returns all.
func (s *Source) Sample(n int, seed uint64) (sample, rejected []*Mutation) {
	for _, i := range rand.New(rand.NewPCG(seed, 0)).Perm(len(s.Mutations)) {
		if len(sample) == n {
			break
		}
		if m := s.Mutations[i]; s.Compiles(m) == nil {
			sample = append(sample, m)
		} else {
			rejected = append(rejected, m)
		}
	}
	return sample, rejected
}

// WithKeys returns the mutations that have the keys, in the order of the keys. It returns an error if a key
// has no mutation, as after a change of its line.
func (s *Source) WithKeys(keys []string) (list []*Mutation, err error) {
	for _, key := range keys {
		n := len(list)
		for _, m := range s.Mutations {
			if m.Key() == key {
				list = append(list, m)
			}
		}
		if len(list) == n {
			err = errors.Join(err, fmt.Errorf("mutation: no mutation has the key %q", key))
		}
	}
	return list, err
}

// Compiles type-checks the mutated package and returns the first error.
func (s *Source) Compiles(m *Mutation) error {
	text, err := m.Apply(s.root)
	if err != nil {
		return err
	}
	fset := token.NewFileSet()
	p := s.packages[folder(m.File)]
	var files []*ast.File
	for _, name := range p.CompiledGoFiles {
		var source any
		if name == filepath.Join(s.root, filepath.FromSlash(m.File)) {
			source = text
		}
		f, err := parser.ParseFile(fset, name, source, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	config := types.Config{Importer: imports(p.Imports), Sizes: types.SizesFor("gc", runtime.GOARCH)}
	_, err = config.Check(p.PkgPath, fset, files, nil)
	return err
}

// imports are packages that have been type-checked, by their paths.
type imports map[string]*packages.Package

// Import implements types.Importer.
func (i imports) Import(path string) (*types.Package, error) {
	switch p := i[path]; {
	case path == "unsafe":
		return types.Unsafe, nil
	case p == nil:
		return nil, errors.New("mutation: unknown import " + path)
	default:
		return p.Types, nil
	}
}
