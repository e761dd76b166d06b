package cpu

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/vasm"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// Most conditions on a thread's index hold for all lanes of a vector or for none, but at the ends of an array: a
// loop over vectors that takes that for granted has jumps in place of masks. There every comparison of a number
// that grows from lane to lane is made for the first lane and the last one. Where they differ, the vector is done
// again by the other loop, which masks lanes.
//
// A check of an index that grows along the row and depends on nothing else is made once for the first
// thread of the row and the last: where both are in range, all are.

// agrees reports whether v is a comparison that all lanes may agree on.
func (p *plan) agrees(v *ir.Value) bool {
	if !p.agree || !isOrder(v) || p.e.level[v.ID] < perThread || p.nodes[v.Block] == nil {
		return false
	}
	x, y := p.shape(v.Args[0]).kind, p.shape(v.Args[1]).kind
	return (x == affine && y == uniform || x == uniform && y == affine) && p.clean(v)
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
	return !p.dirty[v.Block] && !slices.ContainsFunc(before, func(w *ir.Value) bool { return w.Op == ir.OpStore })
}

// findAgreeing notes what has been taken for granted, and checks that can be made for the row.
func (p *plan) findAgreeing() {
	if !p.agree {
		return
	}
	for _, n := range p.order {
		for _, v := range n.block.Values {
			switch {
			case v.Op == ir.OpCheck && p.provable(v.Args[0]):
				p.proved[v] = true
			case p.agrees(v):
				p.agreeing[v] = true
			}
		}
	}
}

// provable reports whether cond compares an index that grows along the row with a length.
func (p *plan) provable(cond *ir.Value) bool {
	if cond.Op != ir.OpULt || cond.Args[0].Type.Kind != ir.KindI64 {
		return false
	}
	x, n := cond.Args[0], cond.Args[1]
	s := p.shape(x)
	return p.e.level[x.ID] == perThread && s.kind == affine && s.stride > 0 && s.stride < 1<<31 &&
		(n.Op == ir.OpConst || n.Op == ir.OpParam || p.e.level[n.ID] < perThread)
}

// forChecks reports whether only checks that are proved need v.
func (z *vectorizer) forChecks(v *ir.Value) bool {
	return isOrder(v) && z.keep[v.ID] == keepNot && len(z.users[v.ID]) > 0 &&
		!slices.ContainsFunc(z.users[v.ID], func(u *ir.Value) bool { return !z.proved[u] })
}

// prove makes the checks of z for the row, and jumps where one fails.
func (s *shared) prove(z *vectorizer, fails string) {
	c := s.code
	first := s.newVectorizer(z.emitter, z.plan, c.Reg(vasm.Integer))
	c.Op("XORQ", vasm.Def(first.tx), vasm.Def(first.tx))
	rest := c.Reg(vasm.Integer) // how many threads there are behind the first
	c.Op("LEAQ", vasm.Mem(s.row, -1), vasm.Def(rest))
	for _, n := range z.order {
		for _, v := range n.block.Values {
			if !z.proved[v] {
				continue
			}
			x, length := v.Args[0].Args[0], v.Args[0].Args[1]
			first.compute(x)
			at, n := first.integerOf(x), first.integerOf(length)
			last := c.Reg(vasm.Integer)
			if stride := z.shape(x).stride; stride == 1 {
				c.Op("LEAQ", vasm.Indexed(at, rest, 1), vasm.Def(last))
			} else {
				c.Op("IMUL3Q", vasm.Imm(stride), vasm.Use(rest), vasm.Def(last))
				c.Op("ADDQ", vasm.Use(at), vasm.Mod(last))
			}
			c.Op("CMPQ", vasm.Use(at), vasm.Use(n))
			c.Jump("JCC", fails)
			c.Op("CMPQ", vasm.Use(last), vasm.Use(n)) // less than 2^63, as all lengths: then none between has wrapped around
			c.Jump("JCC", fails)
		}
	}
}

// compute writes what v, which depends on the thread's index alone, is in the first lane.
func (z *vectorizer) compute(v *ir.Value) {
	if z.vals[v] != nil || v.Op == ir.OpParam || len(v.Args) == 0 || z.level[v.ID] < perThread {
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
	c := z.code
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
	c.Op("LEAQ", vasm.Mem(near, (vectorLanes-1)*stride), vasm.Def(far))
	unsigned := v.Op == ir.OpULt || v.Op == ir.OpULe
	c.Op("CMPQ", vasm.Use(near), vasm.Use(far))
	c.Jump(map[[2]bool]string{{false, true}: "JGT", {false, false}: "JLT", {true, true}: "JHI", {true, false}: "JCS"}[[2]bool{unsigned, stride > 0}], z.part)
	likely, hard := near, far // where v holds if it does anywhere, and where it holds only if it does everywhere
	if grows != (stride > 0) {
		likely, hard = far, near
	}
	agreed := c.NewLabel()
	compare := func(at vreg, no string) {
		if grows {
			c.Op("CMPQ", vasm.Use(at), bound)
		} else {
			c.Op("CMPQ", bound, vasm.Use(at))
		}
		c.Jump(jumpIf[v.Op][1], no)
	}
	compare(likely, agreed)
	compare(hard, z.part)
	c.Place(agreed)
}
