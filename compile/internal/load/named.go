package load

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// Of the standard library and of other modules a program names little. Of these packages, except those of the standard library that have bodies,
// those declarations alone are checked that are reached or that others name, and what those name in turn; a package of which nothing is named is
// not even parsed. As with bodies, names are all that is looked at, and a type comes with its methods.

// later reports whether p is parsed only where something of it is named.
func (c *checker) later(p *Package) bool {
	return !c.all && !p.InMain() && !compiled[p.ImportPath] && p.ImportPath != "unsafe" && !slices.Contains(c.asked, p)
}

// load parses the packages of which something was missing, and calls f with that.
func (s *search) load(f func(symbol)) {
	missing := s.missing
	s.missing = nil
	wanted := map[*Package]bool{}
	for _, x := range missing {
		wanted[x.pkg] = true
	}
	var pkgs []*Package
	for _, p := range s.checker.program.Packages { // in this order, so that a token.Pos does not depend on that of names
		if wanted[p] {
			pkgs = append(pkgs, p)
		}
	}
	s.parse(pkgs)
	for _, x := range missing {
		f(x)
	}
}

func (s *search) parse(pkgs []*Package) {
	s.checker.parse(pkgs)
	for _, p := range pkgs {
		s.parsed[p] = true
		for _, f := range s.checker.files[p] {
			s.index(p, f)
		}
	}
}

// declare finds the declarations that are named.
func (s *search) declare() {
	for _, n := range s.reached {
		if s.checker.later(n.pkg) {
			s.addDeclared(n)
		}
	}
	for _, p := range s.checker.program.Packages {
		if !s.checker.later(p) {
			for _, f := range s.checker.files[p] {
				s.declareOf(p, f)
			}
		}
	}
	for len(s.work) > 0 || len(s.missing) > 0 {
		n := len(s.work) - 1
		if n < 0 {
			s.load(s.declared)
			continue
		}
		at := s.work[n]
		s.work = s.work[:n]
		s.declaredOf(at)
	}
}

// declareOf takes what a file names that is checked.
func (s *search) declareOf(p *Package, f *ast.File) {
	bodies := s.checker.hasBodies(p)
	asked := slices.Contains(s.checker.asked, p)
	for _, d := range f.Decls {
		n := &node{pkg: p, file: f}
		switch d := d.(type) {
		case *ast.FuncDecl:
			n = s.function(p, f, d, bodies && (asked || s.checker.kept[d]))
		case *ast.GenDecl:
			if d.Tok != token.IMPORT {
				s.names(n, d)
			}
		}
		for _, x := range n.symbols {
			s.declared(x)
		}
	}
}

// function returns a node of what a function names, perhaps with its body, also where calls in this do not count.
func (s *search) function(p *Package, file *ast.File, d *ast.FuncDecl, body bool) *node {
	n := &node{pkg: p, file: file}
	if d.Recv != nil {
		s.names(n, d.Recv)
	}
	s.names(n, d.Type)
	if body && d.Body != nil {
		s.names(n, d.Body)
	}
	return n
}

// declared notes that something is named.
func (s *search) declared(x symbol) {
	switch n := s.symbols[x]; {
	case !s.checker.later(x.pkg):
	case !s.parsed[x.pkg]:
		s.missing = append(s.missing, x)
	case n != nil:
		s.addDeclared(n)
	}
}

func (s *search) addDeclared(n *node) {
	if !s.checker.named[n.syntax] {
		s.checker.named[n.syntax] = true
		s.work = append(s.work, n)
	}
}

// declaredOf takes what a declaration that is named names itself.
func (s *search) declaredOf(n *node) {
	if f, ok := n.syntax.(*ast.FuncDecl); ok {
		n = s.function(n.pkg, n.file, f, n.reached && s.checker.mayHaveBodies(n.pkg))
	} else {
		s.readNode(n)
	}
	for _, x := range n.symbols {
		s.declared(x)
	}
	if t, ok := n.syntax.(*ast.TypeSpec); ok {
		for _, m := range s.methods[symbol{n.pkg, t.Name.Name}] {
			s.addDeclared(m)
		}
	}
}

// prune leaves of the files of a package that is parsed later what is named.
func (c *checker) prune(p *Package) {
	unnamed := func(d ast.Decl) bool {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.TYPE {
			return !c.named[d] && !(ok && g.Tok == token.IMPORT)
		}
		g.Specs = slices.DeleteFunc(g.Specs, func(s ast.Spec) bool { return !c.named[s] })
		return len(g.Specs) == 0
	}
	for _, f := range c.files[p] {
		f.Decls = slices.DeleteFunc(f.Decls, unnamed)
	}
}

// empty returns the package as one that declares nothing.
func (c *checker) empty(p *Package) *types.Package {
	q := types.NewPackage(p.ImportPath, c.graph.NameOf(p.ImportPath))
	q.MarkComplete()
	return q
}
