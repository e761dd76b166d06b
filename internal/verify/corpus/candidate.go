package corpus

import (
	"go/ast"
	"go/types"
)

// A candidate is a function that a kernel may be made of.
type candidate struct {
	source *source
	node   *ast.FuncDecl
	fn     *types.Func // with its type arguments, if it is generic
	recv   types.Type  // of a method, else nil
	args   []types.Type
	copied bool // into the kernel's package, rather than imported
}

// String returns the candidate's name in reports.
func (c candidate) String() string {
	name := c.source.name + ":" + key(c.fn.Origin())
	if c.copied {
		return name
	}
	return name + " (imported)"
}

// candidates returns all functions of the library that a kernel may be made of, in the order of the sources.
func (l *Library) candidates() (list []candidate) {
	for _, s := range l.sources {
		for _, f := range s.files {
			for _, d := range f.Decls {
				if d, ok := d.(*ast.FuncDecl); ok {
					list = append(list, l.of(s, d)...)
				}
			}
		}
	}
	return list
}

// of returns the candidates that a declared function makes: none, one, or two.
func (l *Library) of(s *source, d *ast.FuncDecl) []candidate {
	fn, ok := s.info.Defs[d.Name].(*types.Func)
	if !ok || d.Body == nil || len(d.Body.List) == 0 || d.Name.Name == "init" || d.Name.Name == "_" {
		return nil
	}
	c := candidate{source: s, node: d, fn: fn, copied: true}
	if !c.instantiate() {
		return nil
	}
	sig := c.fn.Signature()
	for i := range sig.Params().Len() {
		if !expressible(sig.Params().At(i).Type(), 0) {
			return nil
		}
	}
	if c.recv != nil && !expressible(c.recv, 0) {
		return nil
	}
	list := []candidate{c}
	named := receiver(fn)
	if fn.Exported() && l.importable(s.path) && s.types.Name() != "main" && (named == nil || named.Obj().Exported()) {
		c.copied = false
		list = append(list, c)
	}
	return list
}

// tried are the types that are tried for a type parameter, in this order.
var tried = []types.Type{
	types.Typ[types.Int32], types.Typ[types.Float64], types.Typ[types.Uint8], types.Typ[types.Int], types.Typ[types.Uint64], types.Typ[types.String],
}

// instantiate chooses type arguments if the function or its receiver is generic, and reports whether there are some.
func (c *candidate) instantiate() bool {
	sig := c.fn.Signature()
	if sig.Recv() == nil {
		args, ok := choose(sig.TypeParams())
		if !ok || len(args) == 0 {
			return ok
		}
		t, err := types.Instantiate(nil, sig, args, true)
		if err != nil {
			return false
		}
		c.args = args
		c.fn = types.NewFunc(c.fn.Pos(), c.fn.Pkg(), c.fn.Name(), t.(*types.Signature))
		return true
	}
	named := receiver(c.fn)
	if named == nil {
		return false
	}
	args, ok := choose(named.TypeParams())
	if c.recv = named; !ok || len(args) == 0 {
		return ok
	}
	t, err := types.Instantiate(nil, named, args, true)
	if err != nil {
		return false
	}
	o, _, _ := types.LookupFieldOrMethod(t, true, c.fn.Pkg(), c.fn.Name())
	if c.fn, ok = o.(*types.Func); !ok {
		return false
	}
	c.recv = t
	return true
}

// choose returns type arguments for type parameters. Those whose constraints depend on others, as in ~[]E, come last.
func choose(params *types.TypeParamList) ([]types.Type, bool) {
	args := make([]types.Type, params.Len())
	for range 2 {
		for i := range args {
			p := params.At(i)
			if args[i] != nil {
				continue
			}
			if elem := sliceOf(p); elem != nil {
				for j := range args {
					if params.At(j) == elem && args[j] != nil {
						args[i] = types.NewSlice(args[j])
					}
				}
				continue
			}
			for _, t := range tried {
				if types.Satisfies(t, p.Constraint().Underlying().(*types.Interface)) {
					args[i] = t
					break
				}
			}
		}
	}
	for _, t := range args {
		if t == nil {
			return nil, false
		}
	}
	return args, true
}

// sliceOf returns E if the constraint of p is ~[]E for a type parameter E, else nil.
func sliceOf(p *types.TypeParam) *types.TypeParam {
	constraint := p.Constraint().Underlying().(*types.Interface)
	if constraint.NumEmbeddeds() != 1 {
		return nil
	}
	union, ok := constraint.EmbeddedType(0).(*types.Union)
	if !ok || union.Len() != 1 {
		return nil
	}
	s, ok := union.Term(0).Type().(*types.Slice)
	if !ok {
		return nil
	}
	elem, _ := s.Elem().(*types.TypeParam)
	return elem
}

// deepest is the depth to which values are filled and hashed, through pointers, fields and elements.
const deepest = 4

// expressible reports whether a kernel can make a value of a type that is worth passing.
func expressible(t types.Type, depth int) bool {
	if depth > deepest {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() != types.Invalid && u.Kind() != types.UnsafePointer
	case *types.Slice:
		return expressible(u.Elem(), depth+1)
	case *types.Array:
		return u.Len() <= 4096 && expressible(u.Elem(), depth+1)
	case *types.Pointer:
		return expressible(u.Elem(), depth+1)
	case *types.Struct, *types.Signature:
		return true
	}
	return false
}
