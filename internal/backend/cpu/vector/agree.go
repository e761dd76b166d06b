package vector

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/layout"
	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/units"
	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/vasm"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// Most conditions on a thread's index hold for all lanes of a vector or for none, but at the ends of an array: a
// loop over vectors that takes that for granted has jumps in place of masks. There every comparison of a number
// that grows from lane to lane is made for the first lane and the last one. Where they differ, the vector is done
// again by the other loop, which masks lanes.

// agrees reports whether v is a comparison that all lanes may agree on.
func (p *plan) agrees(v *ir.Value) bool {
	if !p.agree || !isOrder(v) || p.e.Level[v.ID] < layout.PerThread || p.nodes[v.Block.ID] == nil {
		return false
	}
	x, y := p.shape(v.Args[0]), p.shape(v.Args[1])
	if x.kind == uniform {
		x, y = y, x
	}
	return x.kind == affine && y.kind == uniform && (p.assumed.knows(v) || p.clean(v) && -maxBehind < x.stride && x.stride < maxBehind)
}

// isOrder reports whether v compares integers of 64 bits by their order.
func isOrder(v *ir.Value) bool {
	switch v.Op {
	case ir.OpSLt, ir.OpSLe, ir.OpULt, ir.OpULe:
		return v.Args[0].Type.Kind == ir.KindI64
	}
	return false
}

// clean reports whether threads that come to v can begin again.
func (p *plan) clean(v *ir.Value) bool {
	if p.replays {
		return true
	}
	before := v.Block.Values[:slices.Index(v.Block.Values, v)]
	return !p.touched[v.Block.ID] && !slices.ContainsFunc(before, func(w *ir.Value) bool { return w.Op == ir.OpStore })
}

// storedBefore reports by block ID before which blocks any lane may have written. That a lane comes to a block only if it has written
// nothing is not enough: after a branch on which lanes part, vector code runs the blocks of both sides, so another lane may have
// written and even ended before.
func (p *plan) storedBefore() []bool {
	stored := slices.Clone(p.dirty)
	for changed := true; changed; {
		changed = false
		written, parted := false, false
		for i, n := range p.order {
			id := n.Block.ID
			if parted && written && !stored[id] {
				stored[id], changed = true, true
			}
			written = written || stored[id] || slices.ContainsFunc(n.Block.Values, func(v *ir.Value) bool { return v.Op == ir.OpStore })
			parted = parted || len(n.Succs) == 2 && p.e.Level[n.Block.Term().Args[0].ID] >= layout.PerThread
			for l := n.Loop; l != nil; l = l.Parent { // lanes that stay in a loop begin again at its header
				if last := i+1 == len(p.order) || !l.In[p.order[i+1]]; last && parted && written && !stored[l.Header.Block.ID] {
					stored[l.Header.Block.ID], changed = true, true
				}
			}
		}
	}
	return stored
}

// findAgreeing notes what has been taken for granted.
func (p *plan) findAgreeing() {
	if !p.agree {
		return
	}
	for _, n := range p.order {
		p.user = n
		for _, v := range n.Block.Values {
			if p.agrees(v) && !p.assumed.knows(v) {
				p.agreeing[v] = true
			}
		}
	}
}

// isDecided reports whether only branches and checks that are gone need v.
func (z *vectorizer) isDecided(v *ir.Value) bool {
	return z.assumed.knows(v) && z.Keep[v.ID] == layout.KeepNot && !slices.ContainsFunc(z.Users[v.ID], func(u *ir.Value) bool { return !z.assumed.drops(u) })
}

// compute writes what v, which depends on the thread's index alone, is in the first lane.
func (z *vectorizer) compute(v *ir.Value) {
	if z.vals[v] != nil || v.Op == ir.OpParam || len(v.Args) == 0 || z.Level[v.ID] < layout.PerThread {
		return
	}
	for _, a := range v.Args {
		z.compute(a)
	}
	z.integerOp(v, z.result(v).reg[0])
}

// agreement leaves the vector to the other loop where v does not hold for all lanes or for none: there is one end
// where it holds and one where it does not. So there is where the numbers wrap around.
func (z *vectorizer) agreement(v *ir.Value) {
	c := z.Code
	x, y := v.Args[0], v.Args[1]
	grows := z.shape(x).kind == affine
	if !grows {
		x, y = y, x
	}
	stride := z.shape(x).stride
	near, far, bound := z.integerOf(x), c.Reg(vasm.Integer), vasm.Imm(y.Imm)
	if !grows || !isShort(y) {
		bound = vasm.Use(z.integerOf(y))
	}
	c.Op("LEAQ", vasm.Mem(near, int64(z.Unit.Lanes()-1)*stride), vasm.Def(far))
	unsigned := v.Op == ir.OpULt || v.Op == ir.OpULe
	c.Op("CMPQ", vasm.Use(near), vasm.Use(far))
	c.Jump(map[[2]bool]string{{false, true}: "JGT", {false, false}: "JLT", {true, true}: "JHI", {true, false}: "JCS"}[[2]bool{unsigned, stride > 0}], z.part)
	likely, hard := near, far // where v holds if it does anywhere, and where it holds only if it does everywhere
	if grows != (stride > 0) {
		likely, hard = far, near
	}
	agreed := c.NewLabel()
	compare := func(at units.Vreg, no string) {
		if grows {
			c.Op("CMPQ", vasm.Use(at), bound)
		} else {
			c.Op("CMPQ", bound, vasm.Use(at))
		}
		c.Jump(jumpIf[v.Op][1], no)
	}
	compare(likely, agreed)
	compare(hard, z.part)
	c.Label(agreed)
}
