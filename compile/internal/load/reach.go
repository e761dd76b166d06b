package load

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// Most of the functions that a program has are the host's. Only bodies that kernels reach are compiled, and so only
// those are loaded. What is reached is found by names alone, before anything has a type: all that a declaration
// names is, and a method where its name is called somewhere and its type is reached. That is too much where something
// is shadowed, and never too little: a value has a type that is named in a declaration that it comes from.
//
// A package-level variable that is reached needs all functions that name it: they may write it.

// Reach describes what of a program's function bodies counts.
type Reach struct {
	Roots map[*Package][]string // functions and variables, by the names that their packages give them
	// Closed reports of a function, by the name that types.Func.FullName gives it, that what it calls does not count.
	Closed func(fullName string) bool
}

// symbol is what a package declares, but for methods.
type symbol struct {
	pkg  *Package
	name string
}

// node is a function, a method, a type, or a list of constants or variables.
type node struct {
	pkg     *Package
	file    *ast.File
	syntax  ast.Node
	kind    token.Token // FUNC, TYPE, CONST or VAR
	reached bool
	symbols []symbol // that it names
	called  []string // what may be methods, which it calls
	read    bool     // for these
}

// search is the search for what is reached.
type search struct {
	checker *checker
	closed  func(fullName string) bool
	nodes   map[*Package][]*node // functions, methods and variables: what has code
	symbols map[symbol]*node
	methods map[symbol][]*node // by type
	imports map[*ast.File]imports

	called  map[string]bool    // names of methods
	waiting map[string][]*node // methods of types that are reached, by names that are not called yet
	users   map[*Package]map[symbol][]*node
	vars    []symbol // that are reached, and whose users are not
	reached []*node  // all that are
	work    []*node
	parsed  map[*Package]bool
	missing []symbol // that are named, of packages that are not parsed yet
}

// imports is what a file imports.
type imports struct {
	named  map[string]*Package
	dotted []*Package
}

// search finds what is reached, and sets c.kept and c.needed.
func (c *checker) search(from *Reach) {
	s := &search{
		checker: c, closed: from.Closed, nodes: map[*Package][]*node{}, symbols: map[symbol]*node{}, methods: map[symbol][]*node{},
		imports: map[*ast.File]imports{}, called: map[string]bool{}, waiting: map[string][]*node{}, users: map[*Package]map[symbol][]*node{},
		parsed: map[*Package]bool{},
	}
	s.parse(slices.DeleteFunc(slices.Clone(c.program.Packages), c.later))
	for p, names := range from.Roots {
		for _, name := range names {
			s.symbol(symbol{p, name})
		}
	}
	for len(s.work) > 0 || len(s.vars) > 0 || len(s.missing) > 0 {
		if n := len(s.work) - 1; n >= 0 {
			at := s.work[n]
			s.work = s.work[:n]
			s.follow(at)
		} else if len(s.vars) > 0 {
			vars := s.vars
			s.vars = nil
			s.parseUsers(vars)
			for _, v := range vars {
				s.usersOf(v)
			}
		} else {
			s.load(s.symbol)
		}
	}
	for p, nodes := range s.nodes {
		for _, n := range nodes {
			if n.reached {
				c.needed[p], c.kept[n.syntax] = true, true
			}
		}
	}
	for x, n := range s.symbols { // also constants and types, which kernels are made of, too
		c.needed[x.pkg] = c.needed[x.pkg] || n.reached && x.pkg.InMain()
	}
	s.declare()
}

// index notes what a file declares.
func (s *search) index(p *Package, file *ast.File) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			n := &node{pkg: p, file: file, syntax: d, kind: token.FUNC}
			s.nodes[p] = append(s.nodes[p], n)
			if d.Recv != nil {
				t, _ := receiver(d)
				s.methods[symbol{p, t}] = append(s.methods[symbol{p, t}], n)
			} else if d.Name.Name != "init" {
				s.symbols[symbol{p, d.Name.Name}] = n
			}
		case *ast.GenDecl:
			s.indexGeneral(&node{pkg: p, file: file, syntax: d, kind: d.Tok}, d)
		}
	}
}

func (s *search) indexGeneral(n *node, d *ast.GenDecl) {
	if d.Tok == token.VAR {
		s.nodes[n.pkg] = append(s.nodes[n.pkg], n)
	}
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			s.symbols[symbol{n.pkg, spec.Name.Name}] = &node{pkg: n.pkg, file: n.file, syntax: spec, kind: token.TYPE}
		case *ast.ValueSpec: // all of a list, because types and values are inherited
			for _, name := range spec.Names {
				s.symbols[symbol{n.pkg, name.Name}] = n
			}
		}
	}
}

// receiver returns the name of a method's type, and a star where it has a pointer to it.
func receiver(d *ast.FuncDecl) (name, star string) {
	if len(d.Recv.List) == 0 {
		return "", ""
	}
	for t := d.Recv.List[0].Type; ; {
		switch x := t.(type) {
		case *ast.ParenExpr:
			t = x.X
		case *ast.StarExpr:
			t, star = x.X, "*"
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name, star
		default:
			return "", ""
		}
	}
}

func (s *search) add(n *node) {
	if !n.reached {
		n.reached = true
		s.reached = append(s.reached, n)
		s.work = append(s.work, n)
	}
}

// symbol reaches what a package declares under a name.
func (s *search) symbol(x symbol) {
	n := s.symbols[x]
	if n == nil {
		if !s.parsed[x.pkg] {
			s.missing = append(s.missing, x)
		}
		return
	}
	if n.kind == token.VAR && !n.reached {
		s.vars = append(s.vars, x)
	}
	s.add(n)
	// Package math has functions in assembly, which package frontend replaces by their twins in Go.
	if pure, ok := strings.CutPrefix(x.name, "arch"); ok && pure != "" && x.pkg.ImportPath == "math" {
		s.symbol(symbol{x.pkg, strings.ToLower(pure[:1]) + pure[1:]})
	}
}

// follow reaches what a node that is reached names.
func (s *search) follow(n *node) {
	s.readNode(n)
	for _, x := range n.symbols {
		s.symbol(x)
	}
	for _, name := range n.called {
		if !s.called[name] {
			s.called[name] = true
			for _, m := range s.waiting[name] {
				s.add(m)
			}
		}
	}
	if t, ok := n.syntax.(*ast.TypeSpec); ok {
		for _, m := range s.methods[symbol{n.pkg, t.Name.Name}] {
			name := m.syntax.(*ast.FuncDecl).Name.Name
			if s.called[name] {
				s.add(m)
			} else {
				s.waiting[name] = append(s.waiting[name], m)
			}
		}
	}
}

// parseUsers parses the packages that may name a variable.
func (s *search) parseUsers(vars []symbol) {
	s.parse(slices.DeleteFunc(slices.Clone(s.checker.program.Packages), func(p *Package) bool {
		return s.parsed[p] || !slices.ContainsFunc(vars, func(v symbol) bool { return s.mayUse(p, v) })
	}))
}

// mayUse reports whether functions of p may name a variable.
func (s *search) mayUse(p *Package, v symbol) bool {
	imports := p == v.pkg || ast.IsExported(v.name) && slices.Contains(p.Imports, v.pkg.ImportPath)
	return imports && s.checker.mayHaveBodies(p)
}

// usersOf reaches all that names a variable.
func (s *search) usersOf(v symbol) {
	for p := range s.nodes {
		if !s.mayUse(p, v) {
			continue
		}
		if s.users[p] == nil {
			s.users[p] = map[symbol][]*node{}
			for _, n := range s.nodes[p] {
				s.readNode(n)
				for _, x := range n.symbols {
					s.users[p][x] = append(s.users[p][x], n)
				}
			}
		}
		for _, n := range s.users[p][v] {
			s.add(n)
		}
	}
}

// readNode finds what a node names.
func (s *search) readNode(n *node) {
	if n.read {
		return
	}
	n.read = true
	d, isFunc := n.syntax.(*ast.FuncDecl)
	if !isFunc {
		s.names(n, n.syntax)
		return
	}
	if d.Recv != nil {
		s.names(n, d.Recv)
	}
	s.names(n, d.Type)
	if d.Body != nil && s.checker.mayHaveBodies(n.pkg) && !s.closed(fullName(n.pkg, d)) {
		s.names(n, d.Body)
	}
}

// fullName returns what types.Func.FullName does.
func fullName(p *Package, d *ast.FuncDecl) string {
	if d.Recv == nil {
		return p.ImportPath + "." + d.Name.Name
	}
	name, star := receiver(d)
	return "(" + star + p.ImportPath + "." + name + ")." + d.Name.Name
}

// names adds to a node what the part of it names. An identifier may be that of an import and of something else, too.
func (s *search) names(n *node, part ast.Node) {
	imports := s.importsOf(n)
	add := func(p *Package, name string) {
		if x := (symbol{p, name}); (s.symbols[x] != nil || !s.parsed[p]) && !slices.Contains(n.symbols, x) {
			n.symbols = append(n.symbols, x)
		}
	}
	var visit func(x ast.Node) bool
	visit = func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.SelectorExpr:
			if id, ok := x.X.(*ast.Ident); ok && imports.named[id.Name] != nil {
				add(imports.named[id.Name], x.Sel.Name)
			}
			if !slices.Contains(n.called, x.Sel.Name) {
				n.called = append(n.called, x.Sel.Name)
			}
			ast.Inspect(x.X, visit)
			return false
		case *ast.Field:
			ast.Inspect(x.Type, visit)
			return false
		case *ast.Ident:
			add(n.pkg, x.Name)
			for _, p := range imports.dotted {
				add(p, x.Name)
			}
		}
		return true
	}
	ast.Inspect(part, visit)
}

// importsOf returns what the node's file imports.
func (s *search) importsOf(n *node) imports {
	if i, ok := s.imports[n.file]; ok {
		return i
	}
	i := imports{named: map[string]*Package{}}
	for _, spec := range n.file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		p := s.checker.graph.imported(n.pkg, path)
		switch {
		case p == nil:
		case spec.Name == nil:
			i.named[p.Name] = p
		case spec.Name.Name == ".":
			i.dotted = append(i.dotted, p)
		default:
			i.named[spec.Name.Name] = p
		}
	}
	s.imports[n.file] = i
	return i
}
