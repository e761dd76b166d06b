package compile

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"

	"github.com/gopherwarp/gopherwarp/compile/internal/load"
	"github.com/gopherwarp/gopherwarp/internal/origin"
)

// origins knows what declarations of the main module name, so that a kernel's code can be traced to what it is made of. Packages
// of other modules count as fixed, and so do those that generated files import.
type origins struct {
	graph   *load.Graph
	decls   map[types.Object]*declaration
	methods map[*types.TypeName][]*declaration
	sums    map[string]map[string]uint64 // by file
}

// declaration is one at package level, or a method.
type declaration struct {
	file, name string
	method     string         // name of a method; else ""
	uses       []types.Object // at package level, and methods
}

// newOrigins reads the program, whose syntax is not needed afterwards.
func newOrigins(g *load.Graph, p *load.Program) *origins {
	o := &origins{
		graph: g, decls: map[types.Object]*declaration{}, methods: map[*types.TypeName][]*declaration{},
		sums: map[string]map[string]uint64{},
	}
	for _, pkg := range p.Packages {
		if !pkg.InMain() || pkg.Info == nil || load.Generates(pkg.ImportPath) {
			continue
		}
		for _, f := range pkg.Syntax {
			file := p.Fset.File(f.FileStart).Name()
			for _, d := range f.Decls {
				o.read(pkg, file, d)
			}
		}
	}
	return o
}

// read adds what d declares.
func (o *origins) read(p *load.Package, file string, d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		o.readFunc(p, file, d)
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			node := ast.Node(spec)
			if d.Tok == token.CONST {
				node = d // values and types are inherited
			}
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				o.decls[p.Info.Defs[spec.Name]] = &declaration{file: file, name: spec.Name.Name, uses: uses(p.Info, node)}
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					o.decls[p.Info.Defs[name]] = &declaration{file: file, name: name.Name, uses: uses(p.Info, node)}
				}
			}
		}
	}
}

func (o *origins) readFunc(p *load.Package, file string, d *ast.FuncDecl) {
	x := &declaration{file: file, name: d.Name.Name, uses: uses(p.Info, d)}
	fn, ok := p.Info.Defs[d.Name].(*types.Func)
	if !ok {
		return
	}
	if recv := fn.Signature().Recv(); recv != nil {
		t := recv.Type()
		if pointer, ok := types.Unalias(t).(*types.Pointer); ok {
			t = pointer.Elem()
		}
		if named, ok := types.Unalias(t).(*types.Named); ok {
			x.name, x.method = named.Obj().Name()+"."+x.name, x.name
			o.methods[named.Origin().Obj()] = append(o.methods[named.Origin().Obj()], x)
		}
	}
	o.decls[fn] = x
}

// uses returns the objects that a node names, those in functions aside, each once.
func uses(info *types.Info, n ast.Node) []types.Object {
	var all []types.Object
	seen := map[types.Object]bool{}
	ast.Inspect(n, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		x := info.Uses[id]
		if fn, ok := x.(*types.Func); ok {
			x = fn.Origin()
		}
		if x != nil && x.Pkg() != nil && !seen[x] && (x.Parent() == x.Pkg().Scope() || isMethod(x)) {
			seen[x] = true
			all = append(all, x)
		}
		return true
	})
	return all
}

func isMethod(x types.Object) bool {
	fn, ok := x.(*types.Func)
	return ok && fn.Signature().Recv() != nil
}

// trace is a search for what is reached from some objects.
type trace struct {
	*origins
	work    []types.Object
	reached map[types.Object]bool
	found   map[*declaration]bool
	called  map[string]bool // names of methods of interfaces, which type parameters have too
	types   []*types.TypeName
}

// of returns the declarations that the code of a kernel is made of, which is what the objects name and what that names in turn. A
// method counts where it is named, or where a method of that name of an interface is. Folder is that of the generated files.
func (o *origins) of(folder string, roots []types.Object) []origin.Decl {
	t := &trace{origins: o, work: roots, reached: map[types.Object]bool{}, found: map[*declaration]bool{}, called: map[string]bool{}}
	for len(t.work) > 0 {
		for len(t.work) > 0 {
			x := t.work[len(t.work)-1]
			t.work = t.work[:len(t.work)-1]
			t.reach(x)
		}
		t.dispatch()
	}
	var list []origin.Decl
	for d := range t.found {
		if load.IsGenerated(d.file) {
			continue
		}
		if rel, err := filepath.Rel(folder, d.file); err == nil {
			list = append(list, origin.Decl{File: filepath.ToSlash(rel), Name: d.name, Sum: o.sum(d)})
		}
	}
	slices.SortFunc(list, compareDecls)
	return slices.Compact(list)
}

func compareDecls(a, b origin.Decl) int {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Name, b.Name))
}

func (t *trace) reach(x types.Object) {
	if t.reached[x] {
		return
	}
	t.reached[x] = true
	switch x := x.(type) {
	case *types.TypeName:
		t.types = append(t.types, x)
	case *types.Func:
		if recv := x.Signature().Recv(); recv != nil && types.IsInterface(recv.Type()) {
			t.called[x.Name()] = true
		}
	}
	if d := t.decls[x]; d != nil {
		t.take(d)
	}
}

func (t *trace) take(d *declaration) {
	if !t.found[d] {
		t.found[d] = true
		t.work = append(t.work, d.uses...)
	}
}

// dispatch reaches the methods of types that calls through interfaces may mean.
func (t *trace) dispatch() {
	for _, named := range t.types {
		for _, d := range t.methods[named] {
			if t.called[d.method] {
				t.take(d)
			}
		}
	}
}

// sum returns the hash of a declaration, as it is in its file.
func (o *origins) sum(d *declaration) uint64 {
	sums, ok := o.sums[d.file]
	if !ok {
		if text, err := o.graph.Read(d.file); err == nil { // it was read before
			sums = origin.Sums(text)
		}
		o.sums[d.file] = sums
	}
	return sums[d.name]
}

// origins returns what the code of f is made of.
func (f function) origins(o *origins, u *unit) []origin.Decl {
	scope := u.pkg.Types.Scope()
	var roots []types.Object
	if len(f.instance.Vars) > 0 {
		for _, name := range f.instance.Vars {
			roots = append(roots, scope.Lookup(name))
		}
	} else {
		for _, b := range f.bodies {
			roots = append(roots, scope.Lookup(b.Name))
		}
	}
	return o.of(u.pkg.Dir, roots)
}

// listOrigins puts the declarations that the kernels are made of into one list, which all of them have.
func listOrigins(kernels []*Kernel) {
	var all []origin.Decl
	for _, k := range kernels {
		all = append(all, k.origins...)
	}
	slices.SortFunc(all, compareDecls)
	all = slices.Compact(all)
	text := origin.Format(all)
	for _, k := range kernels {
		k.Sources, k.Uses = text, nil
		for _, d := range k.origins {
			i, _ := slices.BinarySearchFunc(all, d, compareDecls)
			k.Uses = append(k.Uses, uint16(i))
		}
	}
}
