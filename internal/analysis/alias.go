package analysis

import "github.com/gopherwarp/gopherwarp/internal/ir"

// MayAlias reports whether the pointers p and q may point into the same object. Pointers into
// different address spaces do not alias unless one of them is generic. Pointers to different
// variables do not alias. Nothing aliases constant memory, because it is never written.
func MayAlias(p, q *ir.Value) bool {
	a, b := p.Type.Space, q.Type.Space
	if a != b && a != ir.Generic && b != ir.Generic {
		return false
	}
	if a == ir.Constant || b == ir.Constant {
		return false // nothing writes there
	}
	x, y := Object(p), Object(q)
	return x == nil || y == nil || x == y || x.Op == ir.OpVar && x.Aux == y.Aux
}

// Object returns the alloca or var that p points into, or nil if it is not known.
func Object(p *ir.Value) *ir.Value {
	for p.Op == ir.OpOffset || p.Op == ir.OpIndex {
		p = p.Args[0]
	}
	if p.Op == ir.OpAlloca || p.Op == ir.OpVar {
		return p
	}
	return nil
}
