package corpus

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
)

// maxCopied is how many declarations a copy may consist of.
const maxCopied = 400

var (
	errNoCopy   = errors.New("corpus: a declaration cannot be copied")
	errExit     = errors.New("corpus: the function ends the process")
	errTooLarge = errors.New("corpus: the function needs too many declarations")
)

// A copier writes the text of declarations, with unique names, and of all declarations that they need.
type copier struct {
	library *Library
	token   string // that all names begin with
	own     string // the path of the package that is copied though it could be imported, or ""
	methods bool   // copy all methods of the types, not only those that are called by name

	seen    map[ast.Node]bool
	todo    []decl
	parts   []string
	imports map[string]bool
	prints  bool  // a declaration calls print or println
	err     error // the first
}

func newCopier(l *Library, token, own string) *copier {
	return &copier{library: l, token: token, own: own, seen: map[ast.Node]bool{}, imports: map[string]bool{}}
}

// identifier returns a part of an identifier that stands for an import path.
func identifier(path string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, path)
}

// importable reports whether kernels can import the package. Those of a module that import package math are copied: the
// standard library's compiled math has assembly for some functions, whose last bits are others than those of the Go functions, with
// which package compare replaces it in kernels.
func (l *Library) importable(path string) bool {
	return !l.mathematical[path] && !strings.HasPrefix(path, "vendor/") && !strings.HasPrefix(path, "test/") &&
		!slices.Contains(strings.Split(path, "/"), "internal") && path != "C"
}

// copies reports whether declarations of a package are copied rather than imported.
func (c *copier) copies(path string) bool { return path == c.own || !c.library.importable(path) }

// prefix is what the copied names of a package begin with.
func (c *copier) prefix(path string) string { return c.token + identifier(path) + "_" }

// fail keeps the first error.
func (c *copier) fail(err error) { c.err = cmp.Or(c.err, err) }

// reference returns the expression for a package-level object, and has it copied if it is not imported.
func (c *copier) reference(o types.Object) string {
	path := o.Pkg().Path()
	if path == "os" && o.Name() == "Exit" { // natively, all other kernels of the process would end too
		c.fail(errExit)
	}
	if !c.copies(path) {
		return c.imported(path) + "." + o.Name()
	}
	c.want(path, key(o))
	return c.prefix(path) + o.Name()
}

// imported returns the name of an imported package.
func (c *copier) imported(path string) string {
	c.imports[path] = true
	return alias(path)
}

func alias(path string) string { return "lib_" + identifier(path) }

// want has a declaration copied.
func (c *copier) want(path, name string) {
	s := c.library.byPath[path]
	if s == nil {
		c.fail(fmt.Errorf("%w: no source of %s", errNoCopy, path))
		return
	}
	d, ok := s.decls[name]
	if !ok {
		c.fail(fmt.Errorf("%w: %s.%s", errNoCopy, path, name))
		return
	}
	c.add(d)
	if _, isType := d.node.(*ast.TypeSpec); isType && c.methods {
		for _, other := range slices.Sorted(maps.Keys(s.decls)) {
			if strings.HasPrefix(other, name+".") {
				c.add(s.decls[other])
			}
		}
	}
}

func (c *copier) add(d decl) {
	if !c.seen[d.node] {
		c.seen[d.node] = true
		c.todo = append(c.todo, d)
	}
}

// text copies all declarations that are wanted so far, and those that they want in turn.
func (c *copier) text() (string, error) {
	for len(c.todo) > 0 && c.err == nil {
		d := c.todo[0]
		c.todo = c.todo[1:]
		c.parts = append(c.parts, c.edited(d))
		if len(c.parts) > maxCopied {
			c.fail(errTooLarge)
		}
	}
	return strings.Join(c.parts, "\n\n"), c.err
}

// An edit replaces a part of a source file.
type edit struct {
	from, to token.Pos
	text     string
}

// edited returns the text of a declaration with its edits applied.
func (c *copier) edited(d decl) string {
	edits := c.edits(d)
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	file := c.library.fset.File(d.node.Pos())
	text := c.library.texts[file.Name()]
	var out strings.Builder
	switch node := d.node.(type) {
	case *ast.TypeSpec:
		out.WriteString("type ")
	case *ast.ValueSpec:
		out.WriteString("var ")
	case *ast.FuncDecl:
		if node.Body == nil {
			out.WriteString("// The body is in assembly.\n")
		}
	}
	at := d.node.Pos()
	for _, e := range edits {
		out.Write(text[file.Offset(at):file.Offset(e.from)])
		out.WriteString(e.text)
		at = e.to
	}
	out.Write(text[file.Offset(at):file.Offset(d.node.End())])
	return out.String()
}

// edits returns the changes that make a declaration independent of its package.
func (c *copier) edits(d decl) (list []edit) {
	info := d.source.info
	ast.Inspect(d.node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			list = append(list, guarded(info, n)...)
			list = append(list, masked(info, n)...)
		case *ast.SelectorExpr:
			x, ok := n.X.(*ast.Ident)
			if _, isPackage := info.Uses[x].(*types.PkgName); ok && isPackage {
				list = append(list, edit{n.Pos(), n.End(), c.reference(info.Uses[n.Sel])})
				return false
			}
		case *ast.Ident:
			if name := c.renamed(info, n); name != "" {
				list = append(list, edit{n.Pos(), n.End(), name})
			}
		}
		return true
	})
	return list
}

// renamed returns the new name of an identifier, or "" if it keeps its own.
func (c *copier) renamed(info *types.Info, id *ast.Ident) string {
	o := cmp.Or(info.Uses[id], info.Defs[id])
	if b, ok := o.(*types.Builtin); ok && (b.Name() == "print" || b.Name() == "println") {
		c.prints = true
	}
	if o == nil || o.Pkg() == nil || id.Name == "_" {
		return ""
	}
	switch x := o.(type) {
	case *types.Var:
		if x.IsField() {
			return c.embedded(x)
		}
	case *types.Func:
		if o = x.Origin(); x.Signature().Recv() != nil {
			if path := x.Pkg().Path(); receiver(x.Origin()) != nil && c.copies(path) {
				c.want(path, key(o))
			}
			return ""
		}
	case *types.PkgName:
		return ""
	}
	if o.Parent() != o.Pkg().Scope() {
		return ""
	}
	return c.reference(o)
}

// embedded returns the new name of an embedded field, which is that of its type, or "".
func (c *copier) embedded(field *types.Var) string {
	if !field.Embedded() {
		return ""
	}
	t := field.Type()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	var name *types.TypeName
	switch t := t.(type) {
	case *types.Named:
		name = t.Obj()
	case *types.Alias:
		name = t.Obj()
	}
	if name == nil || name.Pkg() == nil || !c.copies(name.Pkg().Path()) {
		return ""
	}
	return c.prefix(name.Pkg().Path()) + name.Name()
}

// guarded returns the edits for a conversion of a float to an integer, which then yields 0 where Go does not define the
// result.
func guarded(info *types.Info, call *ast.CallExpr) []edit {
	if len(call.Args) != 1 || !info.Types[call.Fun].IsType() || info.Types[call].Value != nil {
		return nil
	}
	to, ok1 := info.Types[call.Fun].Type.Underlying().(*types.Basic)
	from, ok2 := info.Types[call.Args[0]].Type.Underlying().(*types.Basic)
	if !ok1 || !ok2 || to.Info()&types.IsInteger == 0 || from.Info()&types.IsFloat == 0 || to.Kind() == types.Uintptr || from.Info()&types.IsUntyped != 0 {
		return nil
	}
	arg := call.Args[0]
	return []edit{
		{arg.Pos(), arg.Pos(), fmt.Sprintf("%sOf%s(%s(", types.Typ[to.Kind()], from, types.Typ[from.Kind()])},
		{arg.End(), arg.End(), "))"},
	}
}

// masked returns the edits for a call of a function of package math/bits whose last argument is a carry, of which then only the
// lowest bit counts. The package leaves open what happens if others are set.
func masked(info *types.Info, call *ast.CallExpr) []edit {
	id, _ := ast.Unparen(call.Fun).(*ast.Ident)
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		id = sel.Sel
	}
	fn, ok := info.Uses[id].(*types.Func)
	if !ok || !hasCarry(fn) || len(call.Args) != fn.Signature().Params().Len() {
		return nil
	}
	arg := call.Args[len(call.Args)-1]
	return []edit{{arg.Pos(), arg.Pos(), "("}, {arg.End(), arg.End(), ")&1"}}
}

// hasCarry reports whether the last parameter of a function is a carry of package math/bits.
func hasCarry(fn *types.Func) bool {
	if fn.Pkg() == nil || fn.Pkg().Path() != "math/bits" || fn.Signature().Params().Len() == 0 {
		return false
	}
	name := fn.Signature().Params().At(fn.Signature().Params().Len() - 1).Name()
	return name == "carry" || name == "borrow"
}
