package frontend

import (
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// closure is a function value that is known: a function, and where it was made with which captured
// variables.
type closure struct {
	fn   *ssa.Function
	made ssa.Value // the MakeClosure, or nil
	in   *lowerer  // where
}

// member is a result of a call.
type member struct {
	call ssa.Value
	i    int
}

// is reports whether c and d are the same function.
func (c *closure) is(d *closure) bool { return c != nil && d != nil && *c == *d }

// resolve returns the function that v is whenever the current instruction is executed, or nil.
func (l *lowerer) resolve(v ssa.Value) *closure {
	switch v := v.(type) {
	case *ssa.Function:
		return &closure{fn: v}
	case *ssa.MakeClosure:
		return &closure{fn: v.Fn.(*ssa.Function), made: v, in: l}
	case *ssa.ChangeType:
		return l.resolve(v.X)
	case *ssa.Parameter, *ssa.FreeVar:
		if l.frame != nil {
			if r, ok := l.frame.refs[v]; ok {
				return r.in.resolve(r.v)
			}
		}
	case *ssa.Call:
		return l.funcs[member{v, 0}]
	case *ssa.Extract:
		return l.funcs[member{v.Tuple, v.Index}]
	case *ssa.Phi:
		return l.resolvePhi(v)
	case *ssa.UnOp:
		if v.Op == token.MUL {
			return l.resolveCell(v.X)
		}
	}
	return nil
}

func (l *lowerer) resolvePhi(v *ssa.Phi) *closure {
	var first *closure
	for i, e := range v.Edges {
		if e == v || !l.live[v.Block().Preds[i]] {
			continue
		}
		c := l.resolve(e)
		if first == nil {
			first = c
		}
		if !first.is(c) {
			return nil
		}
	}
	return first
}

// resolveCell returns the function in the variable with the address p: there is one store to
// it, and it comes before.
func (l *lowerer) resolveCell(p ssa.Value) *closure {
	switch p := p.(type) {
	case *ssa.Parameter, *ssa.FreeVar:
		if l.frame != nil {
			if r, ok := l.frame.refs[p]; ok {
				return r.in.resolveCell(r.v)
			}
		}
	case *ssa.Alloc:
		stores, ok := storesTo(p)
		if ok && len(stores) == 1 && l.passed(stores[0]) {
			return l.resolve(stores[0].Val)
		}
	}
	return nil
}

// storesTo returns the stores to a variable of a function type. It reports false where there
// are others in functions that capture it.
func storesTo(p ssa.Value) (stores []*ssa.Store, ok bool) {
	for _, in := range referrers(p) {
		switch in := in.(type) {
		case *ssa.Store:
			if in.Addr != p {
				return nil, false
			}
			stores = append(stores, in)
		case *ssa.MakeClosure:
			i := slices.Index(in.Bindings, p)
			if inside, ok := storesTo(in.Fn.(*ssa.Function).FreeVars[i]); !ok || len(inside) > 0 {
				return nil, false
			}
		case *ssa.UnOp, *ssa.DebugRef:
		default:
			return nil, false
		}
	}
	return stores, true
}

// passed reports whether an instruction has been executed whenever the current one is.
func (l *lowerer) passed(in ssa.Instruction) bool {
	b := in.Block()
	if b != l.block {
		return b.Dominates(l.block)
	}
	return slices.Index(b.Instrs, in) < slices.Index(b.Instrs, l.in)
}
