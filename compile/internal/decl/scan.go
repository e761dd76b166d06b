package decl

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/diag"
)

// Source is a file of a package that is not generated.
type Source struct {
	Name string
	Text []byte
}

// Package is the information that decl takes from a package's syntax.
type Package struct {
	Name    string
	Kernels []Kernel
	// Declared holds the names at package level, the launchers' included; Imported those
	// of packages that some file imports.
	Declared, Imported map[string]bool
	Errors             diag.List
	Broken             bool              // a file does not parse; kernels may be missing here
	Generics           map[string]Kernel // kernels with type parameters, without instances
	// OnDemand says that the source tree has only the package's launchers: //gpu:ondemand.
	OnDemand bool
	// Constraint is the expression of a //go:build line that all files with kernels have; or "".
	Constraint string
}

// World provides information on other packages.
type World struct {
	Name    func(path string) string        // of the package
	Generic func(path, name string) *Kernel // an exported kernel with type parameters, or nil
	// Declares reports whether a package that a file imports as . declares an exported name.
	Declares func(path, name string) bool
}

// Mentions reports whether the text may contain a directive, or a comment that would be one without its space.
func Mentions(text []byte) bool {
	return bytes.Contains(text, []byte(prefix)) || bytes.Contains(text, []byte(spacedPrefix))
}

// Scan finds the kernels of a package.
func Scan(sources []Source, world World) *Package {
	s := &scanner{
		Package: &Package{Declared: map[string]bool{}, Imported: map[string]bool{}, Generics: map[string]Kernel{}},
		bodies:  map[string][]Body{},
		types:   map[string]typeDecl{},
		structs: map[string]*Struct{},
		world:   world,
		fset:    token.NewFileSet(),
	}
	var files []*ast.File
	for _, source := range sources {
		// What does not parse is left to the check of types; the rest of the file counts.
		f, err := parser.ParseFile(s.fset, source.Name, source.Text, parser.ParseComments|parser.SkipObjectResolution)
		s.Broken = s.Broken || err != nil
		if f == nil || f.Name == nil {
			continue
		}
		files = append(files, f)
		s.text = append(s.text, source.Text)
		if !strings.HasSuffix(source.Name, "_test.go") {
			s.Name = f.Name.Name
		}
	}
	for i, f := range files {
		s.take(f, s.text[i])
	}
	for i, f := range files {
		s.file(f, s.text[i])
	}
	s.constrain()
	s.attachBodies()
	s.instances()
	s.checkLaunchers()
	return s.Package
}

type scanner struct {
	*Package
	world  World
	fset   *token.FileSet
	text   [][]byte
	wanted []wanted
	bodies map[string][]Body // by the kernel that they are for
	types  map[string]typeDecl
	// structs holds the types of parameters that are structs, by name; nil for those without slices.
	structs map[string]*Struct

	constrained []constrained
}

// take records the names that a file declares or imports.
func (s *scanner) take(f *ast.File, text []byte) {
	if f.Name.Name != s.Name {
		return // an external test package has names of its own
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				s.Declared[d.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				s.takeSpec(spec)
				if spec, ok := spec.(*ast.TypeSpec); ok && spec.TypeParams == nil {
					s.types[spec.Name.Name] = typeDecl{f, text, spec.Type, spec.Assign.IsValid()}
				}
			}
		}
	}
}

func (s *scanner) takeSpec(spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.ImportSpec:
		s.Imported[s.importName(spec)] = true
	case *ast.TypeSpec:
		s.Declared[spec.Name.Name] = true
	case *ast.ValueSpec:
		for _, name := range spec.Names {
			s.Declared[name.Name] = true
		}
	}
}

// file finds the kernels of a file and the directives that belong to none.
func (s *scanner) file(f *ast.File, text []byte) {
	placed := s.header(f)
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Doc == nil {
			continue
		}
		s.spaced(fn.Doc)
		found := slices.DeleteFunc(s.directives(fn.Doc), func(d directive) bool { return d.name == "instance" })
		for _, d := range found {
			placed[d.comment] = true
		}
		if len(found) > 0 {
			s.function(&declared{file: f, text: text, fn: fn, directives: found})
		}
	}
	loops := s.loopLines(f)
	for _, group := range f.Comments {
		if loops[s.fset.Position(group.End()).Line+1] {
			s.spaced(group)
		}
		for _, d := range s.directives(group) {
			switch {
			case d.name == "unroll" && loops[s.fset.Position(d.pos).Line+1]:
				s.unroll(d)
			case d.name == "instance":
				s.wanted = append(s.wanted, wanted{f, d})
				s.needs(f, d.pos, "an instance")
			case !placed[d.comment]:
				s.stray(d)
			}
		}
	}
}

// header reads the directives of a file's package clause and returns their comments.
func (s *scanner) header(f *ast.File) map[*ast.Comment]bool {
	placed := map[*ast.Comment]bool{}
	if f.Doc == nil {
		return placed
	}
	s.spaced(f.Doc)
	for _, d := range s.directives(f.Doc) {
		if d.name != "ondemand" {
			continue
		}
		placed[d.comment], s.OnDemand = true, true
		if d.arg != "" {
			s.report(d.pos, diag.DirectiveArgument, "//gpu:ondemand takes no argument, but has %q", d.arg).
				Help = "write //gpu:ondemand alone"
		}
	}
	return placed
}

// declared is a function that has directives.
type declared struct {
	file       *ast.File
	text       []byte
	fn         *ast.FuncDecl
	directives []directive
}

// function reads a function's directives and, where it is a kernel or a variant of one without
// errors, adds it.
func (s *scanner) function(d *declared) {
	has := func(name string) bool {
		return slices.ContainsFunc(d.directives, func(d directive) bool { return d.name == name })
	}
	switch {
	case has("kernel"):
		s.needs(d.file, d.fn.Name.Pos(), "kernel "+d.fn.Name.Name)
		s.kernel(d)
	case has("variant"):
		s.needs(d.file, d.fn.Name.Pos(), "variant "+d.fn.Name.Name)
		s.variant(d)
	default:
		for _, d := range d.directives {
			s.stray(d)
		}
	}
}

func (s *scanner) kernel(d *declared) {
	k := Kernel{
		Name:     d.fn.Name.Name,
		Launcher: exported(d.fn.Name.Name),
		Pos:      s.fset.Position(d.fn.Name.Pos()),
		Doc:      d.fn.Doc.Text(),
	}
	before := len(s.Errors)
	s.apply(&k, d.directives)
	s.checkFunction(d)
	s.checkName(d)
	if len(s.Errors) > before {
		return
	}
	k.Fields, k.TypeParams = s.fields(d), typeParams(d.fn)
	if len(k.TypeParams) > 0 {
		s.Generics[k.Name] = k
		return
	}
	k.Instances = []Instance{{Name: k.Name, Stem: k.Name, Pos: k.Pos}}
	s.Kernels = append(s.Kernels, k)
}

func (s *scanner) report(pos token.Pos, code diag.Code, format string, args ...any) *diag.Diagnostic {
	s.Errors.Add(diag.New(s.fset.Position(pos), code, format, args...))
	return &s.Errors[len(s.Errors)-1]
}
