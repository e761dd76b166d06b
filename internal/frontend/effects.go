package frontend

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// effects holds the variables that each call may change, and the calls that change something.
type effects struct {
	info    *types.Info
	exposed map[types.Object]bool // local variables whose address is taken, or that closures share
	decls   map[types.Object]*ast.FuncDecl
	known   map[types.Object]bool // what function says, of those that are decided or in question
}

func newEffects(files []*ast.File, info *types.Info) *effects {
	x := &effects{info: info, exposed: map[types.Object]bool{}, decls: map[types.Object]*ast.FuncDecl{}, known: map[types.Object]bool{}}
	for _, f := range files {
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil {
				x.decls[info.Defs[d.Name]] = d
			}
		}
		ast.Inspect(f, x.expose)
	}
	return x
}

func (x *effects) expose(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			x.addressed(n.X)
		}
	case *ast.SliceExpr:
		x.addressedArray(n.X)
	case *ast.SelectorExpr:
		s := x.info.Selections[n]
		if s != nil && s.Kind() != types.FieldVal {
			if m, ok := s.Obj().(*types.Func); ok {
				if _, pointer := types.Unalias(m.Signature().Recv().Type()).(*types.Pointer); pointer {
					x.addressed(n.X)
				}
			}
		}
	case *ast.FuncLit:
		ast.Inspect(n, func(m ast.Node) bool {
			if id, ok := m.(*ast.Ident); ok {
				if v, ok := x.info.Uses[id].(*types.Var); ok && (v.Pos() < n.Pos() || v.Pos() >= n.End()) {
					x.exposed[v] = true
				}
			}
			return true
		})
	}
	return true
}

// addressed notes that the address of e, or of a part of it, is taken.
func (x *effects) addressed(e ast.Expr) {
	switch e := e.(type) {
	case *ast.Ident:
		x.exposed[x.info.Uses[e]] = true
	case *ast.ParenExpr:
		x.addressed(e.X)
	case *ast.SelectorExpr:
		if s := x.info.Selections[e]; s != nil && !s.Indirect() {
			x.addressed(e.X)
		}
	case *ast.IndexExpr:
		x.addressedArray(e.X)
	}
}

// addressedArray is addressed where e is an array, and not a slice.
func (x *effects) addressedArray(e ast.Expr) {
	if t := x.info.TypeOf(e); t != nil {
		if _, array := t.Underlying().(*types.Array); array {
			x.addressed(e)
		}
	}
}

// writes reports whether a call, which is no conversion, may change what others read.
func (x *effects) writes(call *ast.CallExpr) bool {
	fun := ast.Unparen(call.Fun)
	switch f := fun.(type) {
	case *ast.IndexExpr:
		fun = f.X
	case *ast.IndexListExpr:
		fun = f.X
	}
	var id *ast.Ident
	switch f := fun.(type) {
	case *ast.Ident:
		id = f
	case *ast.SelectorExpr:
		id = f.Sel
	default:
		return true
	}
	switch obj := x.info.Uses[id].(type) {
	case *types.Builtin:
		return obj.Name() == "copy" || obj.Name() == "append" || obj.Name() == "clear"
	case *types.Func:
		return x.function(obj.Origin())
	}
	return true
}

// function is writes for a function that is known.
func (x *effects) function(f *types.Func) bool {
	d := x.decls[f]
	if d == nil {
		return !hasNoEffects(f)
	}
	writes, ok := x.known[f]
	if !ok {
		x.known[f] = false // recursion, which kernels have not
		writes = x.body(d)
		x.known[f] = writes
	}
	return writes
}

// hasNoEffects reports whether a function of another package changes nothing.
func hasNoEffects(f *types.Func) bool {
	if f.Pkg() == nil {
		return false
	}
	switch f.Pkg().Path() {
	case "math", "math/bits", "cmp", math32Path, dtypePath:
		return true
	case gpuPath:
		recv := f.Signature().Recv()
		return recv != nil && isThread(recv.Type()) && !strings.HasPrefix(f.Name(), "Sync")
	}
	return false
}

// body reports whether a function changes anything but variables of its own.
func (x *effects) body(d *ast.FuncDecl) bool {
	writes := false
	own := func(e ast.Expr) bool {
		for {
			switch t := ast.Unparen(e).(type) {
			case *ast.IndexExpr:
				if _, array := x.info.TypeOf(t.X).Underlying().(*types.Array); !array {
					return false
				}
				e = t.X
			case *ast.SelectorExpr:
				if s := x.info.Selections[t]; s == nil || s.Indirect() {
					return false
				}
				e = t.X
			case *ast.Ident:
				v := x.info.ObjectOf(t)
				return t.Name == "_" || v != nil && v.Pos() >= d.Pos() && v.Pos() < d.End()
			default:
				return false
			}
		}
	}
	ast.Inspect(d.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				writes = writes || !own(e)
			}
		case *ast.IncDecStmt:
			writes = writes || !own(n.X)
		case *ast.RangeStmt:
			writes = writes || n.Key != nil && !own(n.Key) || n.Value != nil && !own(n.Value)
		case *ast.CallExpr:
			writes = writes || !x.info.Types[n.Fun].IsType() && x.writes(n)
		case *ast.FuncLit, *ast.GoStmt, *ast.DeferStmt, *ast.SendStmt:
			writes = true
		}
		return !writes
	})
	return writes
}
