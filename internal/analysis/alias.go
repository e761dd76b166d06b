package analysis

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

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

// MayOverlap reports whether the accesses v and w, loads or stores of one thread, may touch the same bytes: addresses that are
// constants apart from one value do so only if they are close enough. Values that the addresses have in common must be the
// same when v and w execute.
func MayOverlap(v, w *ir.Value) bool {
	p, q := v.Args[0], w.Args[0]
	if !MayAlias(p, q) || apart(v, w) {
		return false
	}
	p, from := constantPart(p)
	q, to := constantPart(q)
	if p != q {
		if p.Op != ir.OpIndex || q.Op != ir.OpIndex || p.Args[0] != q.Args[0] || p.Imm != q.Imm {
			return true
		}
		i, m := constantTerm(p.Args[1])
		j, n := constantTerm(q.Args[1])
		if i != j {
			return true
		}
		from, to = from+m*p.Imm, to+n*q.Imm
	}
	distance := to - from // modulo 1<<64, as addresses are
	return distance > -Accessed(w).Size() && distance < Accessed(v).Size()
}

// constantPart returns the address that p is a constant number of bytes after, and that number.
func constantPart(p *ir.Value) (*ir.Value, int64) {
	n := int64(0)
	for p.Op == ir.OpOffset {
		n += p.Imm
		p = p.Args[0]
	}
	return p, n
}

// constantTerm returns the 64-bit value that i is a constant greater than, and the constant.
func constantTerm(i *ir.Value) (*ir.Value, int64) {
	if i.Op == ir.OpAdd && i.Type.Size() == 8 && i.Args[1].Op == ir.OpConst {
		return i.Args[0], i.Args[1].Imm
	}
	return i, 0
}

// Accessed returns the type of what a load or store moves.
func Accessed(v *ir.Value) *ir.Type {
	if v.Op == ir.OpStore {
		return v.Args[1].Type
	}
	return v.Type
}

// apart reports whether accesses are known to be in different slices, one of which the kernel writes.
func apart(v, w *ir.Value) bool {
	if !v.Block.Apart || !w.Block.Apart {
		return false
	}
	p, q := SliceOf(v), SliceOf(w)
	return p != nil && q != nil && p.Imm != q.Imm
}

// SliceOf returns the parameter with the address of the slice that a load or store accesses, or nil if it is not known.
func SliceOf(v *ir.Value) *ir.Value {
	p := v.Args[0]
	for p.Op == ir.OpOffset || p.Op == ir.OpIndex {
		p = p.Args[0]
	}
	f := v.Block.Func
	if p.Op == ir.OpParam && f.Kernel && slices.ContainsFunc(f.Slices, func(s ir.SliceParam) bool { return s.Offset == p.Imm }) {
		return p
	}
	return nil
}

// MayReload reports whether a load in the blocks may read what a store in them, before or after it, has written.
func MayReload(blocks []*ir.Block) bool {
	var loads, stores []*ir.Value
	for _, b := range blocks {
		for _, v := range b.Values {
			switch v.Op {
			case ir.OpLoad:
				loads = append(loads, v.Args[0])
			case ir.OpStore:
				stores = append(stores, v.Args[0])
			}
		}
	}
	return slices.ContainsFunc(loads, func(p *ir.Value) bool {
		return slices.ContainsFunc(stores, func(q *ir.Value) bool { return MayAlias(p, q) })
	})
}
