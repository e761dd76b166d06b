package frontend

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// Go allows x*y+z to be rounded once, but not float32(x*y)+z: an explicit conversion
// rounds. go/ssa drops a conversion of a float to its own type, so it is looked up in the
// syntax. Where its operand is a product, that product is marked. Where it is something else (a
// variable, the result of a call) the product may be anywhere: then no product of any kernel
// that reaches the conversion fuses.

// rounding finds the conversions of floats to their own type in one function.
type rounding struct {
	unit     *unit
	scope    *types.Scope // of the package
	products map[token.Pos]bool
	changes  map[token.Pos]bool // conversions that go/ssa kept and that round by themselves
}

// roundedProducts returns the positions of the operators of the products in u that are
// rounded explicitly.
func roundedProducts(u *unit) map[token.Pos]bool {
	r := rounding{unit: u, products: map[token.Pos]bool{}, changes: map[token.Pos]bool{}}
	syntax := u.fn.Syntax()
	if syntax == nil || len(u.fn.Blocks) == 0 {
		return r.products
	}
	origin := u.fn
	if o := origin.Origin(); o != nil {
		origin = o
	}
	if origin.Pkg != nil {
		r.scope = origin.Pkg.Pkg.Scope()
	}
	r.keptConversions(u.fn)
	ast.Inspect(syntax, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok && len(c.Args) == 1 && !r.changes[c.Lparen] && r.isFloatType(c.Fun) {
			r.operand(c.Args[0])
		}
		return true
	})
	return r.products
}

func (r *rounding) keptConversions(fn *ssa.Function) {
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			if c, ok := in.(*ssa.Convert); ok {
				r.changes[c.Pos()] = true
			}
		}
	}
	for _, f := range fn.AnonFuncs {
		r.keptConversions(f)
	}
}

// operand looks at what is rounded.
func (r *rounding) operand(e ast.Expr) {
	switch e := ast.Unparen(e).(type) {
	case *ast.BinaryExpr:
		if e.Op == token.MUL {
			r.products[e.OpPos] = true
		}
	case *ast.UnaryExpr:
		r.operand(e.X)
	case *ast.BasicLit:
	case *ast.CallExpr:
		if !r.isFloatType(e.Fun) && !r.isConstant(e.Fun) { // a conversion is looked at by itself
			r.unit.rounds = true
		}
	default:
		r.unit.rounds = r.unit.rounds || !r.isConstant(e)
	}
}

// isFloatType reports whether e may name a type whose values are floats.
func (r *rounding) isFloatType(e ast.Expr) bool {
	obj, ok := r.object(e)
	if !ok {
		return false
	}
	t, ok := obj.(*types.TypeName)
	if !ok {
		return obj == nil
	}
	_, param := types.Unalias(t.Type()).(*types.TypeParam)
	return param || isFloat(t.Type())
}

// isConstant reports whether e names a constant or a built-in function.
func (r *rounding) isConstant(e ast.Expr) bool {
	switch obj, _ := r.object(e); obj.(type) {
	case *types.Const, *types.Builtin:
		return true
	}
	return false
}

// object returns what e names: nil if that is unknown. It reports false if e is no name.
func (r *rounding) object(e ast.Expr) (obj types.Object, ok bool) {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return r.lookup(e), true
	case *ast.IndexExpr:
		return r.object(e.X)
	case *ast.IndexListExpr:
		return r.object(e.X)
	case *ast.SelectorExpr:
		x, ok := ast.Unparen(e.X).(*ast.Ident)
		if !ok {
			return nil, false
		}
		p, ok := r.lookup(x).(*types.PkgName)
		if !ok {
			return nil, false
		}
		return p.Imported().Scope().Lookup(e.Sel.Name), true
	}
	return nil, false
}

func (r *rounding) lookup(id *ast.Ident) types.Object {
	if r.scope == nil {
		return nil
	}
	scope := r.scope.Innermost(id.Pos())
	if scope == nil {
		scope = r.scope
	}
	_, obj := scope.LookupParent(id.Name, id.Pos())
	return obj
}

// forbidFusion marks all products in the functions that a kernel reaches, where one of them
// rounds what may be a product of another.
func (b *builder) forbidFusion() {
	for _, k := range b.kernels {
		reached := k.reach(map[*unit]bool{})
		for u := range reached {
			if u.rounds {
				for u := range reached {
					markProducts(u.ir)
				}
				break
			}
		}
	}
}

// reach adds u and all that it calls.
func (u *unit) reach(seen map[*unit]bool) map[*unit]bool {
	if !seen[u] {
		seen[u] = true
		for _, c := range u.calls {
			c.reach(seen)
		}
	}
	return seen
}

func markProducts(f *ir.Func) {
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			if v.Op == ir.OpFMul {
				v.Imm = 1
			}
		}
	}
}
