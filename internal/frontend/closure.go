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
	r := resolver{seen: map[ref]bool{}}
	if !r.value(v, l) {
		return nil
	}
	return r.found
}

// resolver looks for the one function that a value can be. It looks at each phi once: those of loops depend on each other, and
// there are twice as many ways to a value with each between that is used twice.
type resolver struct {
	found *closure // so far
	seen  map[ref]bool
}

// value adds what v is in l. It reports false if that is unknown, or another function than the one found.
func (r *resolver) value(v ssa.Value, l *lowerer) bool {
	switch v := v.(type) {
	case *ssa.Function:
		return r.add(&closure{fn: v})
	case *ssa.MakeClosure:
		return r.add(&closure{fn: v.Fn.(*ssa.Function), made: v, in: l})
	case *ssa.ChangeType:
		return r.value(v.X, l)
	case *ssa.Parameter, *ssa.FreeVar:
		if l.frame != nil {
			if is, ok := l.frame.refs[v]; ok {
				return r.value(is.v, is.in)
			}
		}
	case *ssa.Call:
		return r.add(l.funcs[member{v, 0}])
	case *ssa.Extract:
		return r.add(l.funcs[member{v.Tuple, v.Index}])
	case *ssa.Phi:
		return r.phi(v, l)
	case *ssa.UnOp:
		if v.Op == token.MUL {
			return r.cell(v.X, l)
		}
	}
	return false
}

func (r *resolver) add(c *closure) bool {
	if r.found == nil {
		r.found = c
	}
	return r.found.is(c)
}

func (r *resolver) phi(v *ssa.Phi, l *lowerer) bool {
	if r.seen[ref{v, l}] {
		return true
	}
	r.seen[ref{v, l}] = true
	for i, e := range v.Edges {
		if l.live[v.Block().Preds[i]] && !r.value(e, l) {
			return false
		}
	}
	return true
}

// cell adds the function in the variable with the address p: there is one store to it, and it comes before.
func (r *resolver) cell(p ssa.Value, l *lowerer) bool {
	switch p := p.(type) {
	case *ssa.Parameter, *ssa.FreeVar:
		if l.frame != nil {
			if is, ok := l.frame.refs[p]; ok {
				return r.cell(is.v, is.in)
			}
		}
	case *ssa.Alloc:
		stores, ok := storesTo(p)
		return ok && len(stores) == 1 && l.passed(stores[0]) && r.value(stores[0].Val, l)
	}
	return false
}

// storesTo returns the stores to a variable of a function type. It reports false if there
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
