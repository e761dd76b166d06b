package load

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Sum is a hash of all that a build reads of a package and of those that it imports.
type Sum [sha256.Size]byte

// Sums computes the hashes of a graph's packages.
type Sums struct {
	graph    *Graph
	mentions func(text []byte) bool
	own      map[*Package]Sum
}

// NewSums returns hashes of packages of g. Where a file of a package has text that the function reports,
// kernels perhaps, the package's tests count too.
func NewSums(g *Graph, mentions func(text []byte) bool) *Sums {
	return &Sums{graph: g, mentions: mentions, own: map[*Package]Sum{}}
}

// Of returns the hash of what Check(p) reads: names and contents of the files of p, of the packages that
// it imports, and of those that generated files do, and what the go command reports on
// them. Folders do not count, nor do generated files of the main module. A package that the go
// command finds something wrong with has no hash, nor has one that cannot be read.
func (s *Sums) Of(p *Package) (Sum, error) {
	var all []*Package
	seen := map[*Package]bool{}
	var visit func(path string) error
	visit = func(path string) error {
		q := s.graph.paths[path]
		if q == nil || seen[q] {
			return nil // what is missing is missed by a package with an error
		}
		seen[q] = true
		all = append(all, q)
		imports, err := s.imports(q)
		for _, path := range imports {
			if err == nil {
				err = visit(path)
			}
		}
		return err
	}
	for _, path := range slices.Concat(generatedImports[:], []string{p.ImportPath}) {
		if err := visit(path); err != nil {
			return Sum{}, err
		}
	}
	slices.SortFunc(all, func(a, b *Package) int { return strings.Compare(a.ImportPath, b.ImportPath) })
	h := sha256.New()
	for _, q := range all {
		sum, err := s.of(q)
		if err != nil {
			return Sum{}, err
		}
		fmt.Fprintf(h, "%q %x\n", q.ImportPath, sum)
	}
	return Sum(h.Sum(nil)), nil
}

// imports returns the paths that files of p import, those aside that a build writes: they
// may be stale, and a build does not read them.
func (s *Sums) imports(p *Package) ([]string, error) {
	if !p.InMain() || !slices.ContainsFunc(p.GoFiles, IsGenerated) {
		return p.Imports, nil
	}
	var paths []string
	for _, file := range p.Files() {
		if IsGenerated(file) {
			continue
		}
		text, err := s.graph.Read(file)
		if err != nil {
			return nil, err
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, text, parser.ImportsOnly)
		if err != nil {
			return nil, err
		}
		for _, spec := range f.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return nil, err
			}
			paths = append(paths, p.Resolve(path))
		}
	}
	return paths, nil
}

// of returns the hash of p alone.
func (s *Sums) of(p *Package) (Sum, error) {
	if sum, ok := s.own[p]; ok {
		return sum, nil
	}
	if p.Error != nil {
		return Sum{}, fmt.Errorf("compile: package %s: %s", p.ImportPath, p.Error.Err)
	}
	told, err := json.Marshal([]any{p.Name, p.Standard, p.InMain(), p.ImportMap, p.goVersion(), len(p.CgoFiles)})
	if err != nil {
		return Sum{}, err
	}
	h := sha256.New()
	h.Write(told)
	files, err := s.files(p)
	if err != nil {
		return Sum{}, err
	}
	for _, file := range files {
		text, err := s.graph.Read(file)
		if err != nil {
			return Sum{}, err
		}
		fmt.Fprintf(h, "\n%q %d\n", filepath.Base(file), len(text))
		h.Write(text)
	}
	s.own[p] = Sum(h.Sum(nil))
	return s.own[p], nil
}

// files returns the files of p that count.
func (s *Sums) files(p *Package) ([]string, error) {
	var files []string
	mentioned := false
	for _, file := range p.Files() {
		if p.InMain() && IsGenerated(file) {
			continue
		}
		file = portable(p, file)
		text, err := s.graph.Read(file)
		if err != nil {
			return nil, err
		}
		mentioned = mentioned || !p.Standard && s.mentions(text)
		files = append(files, file)
	}
	if !mentioned {
		return files, nil
	}
	tests, err := filepath.Glob(filepath.Join(p.Dir, "*_test.go"))
	return append(files, tests...), err
}

func (p *Package) goVersion() string {
	if p.Module == nil {
		return ""
	}
	return p.Module.GoVersion
}
