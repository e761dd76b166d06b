package vector

import (
	"math/bits"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/layout"
	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/units"
	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/vasm"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// Most threads of a row go the same way through a kernel: all but those at the ends of an array are in range, and a
// row as a whole is inside. For them there is a third loop, which asks nothing: it has no branches by conditions that the
// caller knows, or that compare an index that grows along the row and depends on nothing else. Before the loops, once
// for a row, that is turned into a range of threads for which all is as the loop takes it to be.

// A fastPath is the conditions whose outcome the fast path's loop assumes.
type fastPath struct {
	way   map[*ir.Block]int  // which successor its branch goes to
	holds map[*ir.Value]bool // whether a condition does
	users map[*ir.Value]bool // branches and checks that are gone for that
	idle  map[*ir.Value]bool // conditions without which no thread has anything to do
	conds []*ir.Value        // in the order in which they come
}

// ways returns which way branches go.
func (s *fastPath) ways() map[*ir.Block]int {
	if s == nil {
		return nil
	}
	return s.way
}

// knows reports whether v is taken to hold, or not to.
func (s *fastPath) knows(v *ir.Value) bool {
	if s == nil {
		return false
	}
	_, known := s.holds[v]
	return known
}

// drops reports whether u, a branch or a check, is gone.
func (s *fastPath) drops(u *ir.Value) bool { return s != nil && s.users[u] }

// fastPathPlan returns the plan of the loop that assumes what p tests, or nil if there is nothing to assume.
func (p *plan) fastPathPlan() *plan {
	if !p.agree {
		return nil
	}
	s := &fastPath{way: map[*ir.Block]int{}, holds: map[*ir.Value]bool{}, users: map[*ir.Value]bool{}, idle: map[*ir.Value]bool{}}
	defer func() { p.user = nil }()
	work := p.work()
	for _, n := range p.order {
		p.user = n
		if i, ok := p.likely(n, work); ok {
			cond := n.Block.Term().Args[0]
			if holds, known := s.holds[cond]; !known || holds == (i == 0) {
				s.way[n.Block], s.holds[cond], s.users[n.Block.Term()] = i, i == 0, true
				s.idle[cond] = s.idle[cond] || p.idles(n, n.Succs[1-i])
			}
		}
	}
	for _, n := range p.order {
		p.user = n
		for _, v := range n.Block.Values {
			if v.Op != ir.OpCheck {
				continue
			}
			if holds, known := s.holds[v.Args[0]]; known && holds || !known && p.ranges(v.Args[0], true) {
				s.holds[v.Args[0]], s.users[v] = true, true
			}
		}
	}
	if len(s.users) == 0 {
		return nil
	}
	q := newPlan(p.e, p.g, true, s)
	for _, n := range q.order {
		for _, v := range n.Block.Values {
			if s.users[v] && !slices.Contains(s.conds, v.Args[0]) {
				s.conds = append(s.conds, v.Args[0])
			}
		}
	}
	return q
}

// likely returns the way out of n that leads to more work, where that can be asked for the whole row.
func (p *plan) likely(n *layout.Node, accesses []int) (way int, ok bool) {
	if len(n.Succs) != 2 || n.Succs[0] == nil || n.Succs[1] == nil || n.Loop != nil && !(n.Loop.In[n.Succs[0]] && n.Loop.In[n.Succs[1]]) {
		return 0, false
	}
	work := [2]int{workOf(n.Succs[0], accesses), workOf(n.Succs[1], accesses)}
	if work[0] == work[1] {
		return 0, false
	}
	if work[1] > work[0] {
		way = 1
	}
	return way, p.ranges(n.Block.Term().Args[0], way == 0)
}

// work returns by rank how often memory is touched in what a block dominates.
func (p *plan) work() []int {
	count := make([]int, len(p.places))
	for _, x := range slices.Backward(p.order) { // what a block dominates is after it
		for _, v := range x.Block.Values {
			if v.Op == ir.OpLoad || v.Op == ir.OpStore {
				count[x.Rank]++
			}
		}
		if x.Idom != x {
			count[x.Idom.Rank] += count[x.Rank]
		}
	}
	return count
}

// workOf returns what accesses has for s, where all who come to it come from one block.
func workOf(s *layout.Node, accesses []int) int {
	switch {
	case isFault(s):
		return -1
	case len(s.Preds) > 1:
		return 0
	}
	return accesses[s.Rank]
}

// idles reports whether threads have nothing to do if those that come to n all go on to s.
func (p *plan) idles(n, s *layout.Node) bool {
	seen := map[*layout.Node]bool{nil: true}
	var busy func(m *layout.Node) bool
	busy = func(m *layout.Node) bool {
		if seen[m] {
			return false
		}
		seen[m] = true
		if m == n {
			return p.acts(m) || busy(s)
		}
		return p.acts(m) || m.Loop != nil || slices.ContainsFunc(m.Succs, busy)
	}
	return len(p.e.List) == 1 && !busy(p.order[0])
}

// acts reports whether threads do anything in n that anyone else may notice.
func (p *plan) acts(n *layout.Node) bool {
	return slices.ContainsFunc(n.Block.Values, func(v *ir.Value) bool {
		return !v.Op.Pure() && v.Op != ir.OpLoad && v.Op != ir.OpIf && v.Op != ir.OpJump && v.Op != ir.OpRet && v.Op != ir.OpPhi
	})
}

// ranges reports whether it can be asked for the whole row where cond holds, or does not.
func (p *plan) ranges(cond *ir.Value, holds bool) bool {
	if cond.Op == ir.OpConst {
		return false
	}
	if p.e.Level[cond.ID] < layout.PerThread {
		return true
	}
	if !isOrder(cond) || !holds && (cond.Op == ir.OpULt || cond.Op == ir.OpULe) {
		return false
	}
	x, y := cond.Args[0], cond.Args[1]
	if cond.Op == ir.OpSLt || cond.Op == ir.OpSLe {
		return p.rises(x) && p.known(y) || p.rises(y) && p.known(x)
	}
	return p.rises(x) && p.known(y)
}

// rises reports whether x grows along the row and depends on nothing else.
func (p *plan) rises(x *ir.Value) bool {
	s := p.shape(x)
	return x.Op != ir.OpParam && p.e.Level[x.ID] == layout.PerThread && s.kind == affine && s.stride > 0 && s.stride < 1<<31
}

// known reports whether the caller knows n.
func (p *plan) known(n *ir.Value) bool {
	return n.Op == ir.OpConst || n.Op == ir.OpParam || p.e.Level[n.ID] < layout.PerThread
}

// span is the threads for which all is as a loop takes it to be: from the first to that before the second.
type span struct {
	from, to vasm.Reg
	rest     vasm.Reg // how many threads there are in the row after the first
	loop     string
	none     string             // where there is no telling
	idle     string             // where the row has nothing to do
	asked    map[*ir.Value]bool // what has been found not to wrap around, or not to be negative
}

// find computes the threads for which z, a loop that takes things for granted, is right.
func (s *shared) find(z *vectorizer) *span {
	c := s.Code
	r := &span{c.Reg(vasm.Integer), c.Reg(vasm.Integer), c.Reg(vasm.Integer), c.NewLabel(), c.NewLabel(), c.NewLabel(), map[*ir.Value]bool{}}
	first := s.newVectorizer(z.Kernel, z.plan, c.Reg(vasm.Integer))
	c.Op("XORQ", vasm.Def(first.tx), vasm.Def(first.tx))
	c.Op("XORQ", vasm.Def(r.from), vasm.Def(r.from))
	c.Op("MOVQ", vasm.Use(s.row), vasm.Def(r.to))
	c.Op("LEAQ", vasm.Mem(s.row, -1), vasm.Def(r.rest))
	for _, cond := range z.assumed.conds {
		otherwise := r.none
		if z.assumed.idle[cond] {
			otherwise = r.idle
		}
		switch {
		case z.Level[cond.ID] >= layout.PerThread:
			first.narrow(cond, r)
		case z.assumed.holds[cond]:
			first.branch(cond, "", otherwise)
		default:
			first.branch(cond, otherwise, "")
		}
	}
	found := c.NewLabel()
	c.Jump("JMP", found)
	c.Label(r.idle)
	c.Op("MOVQ", vasm.Use(s.row), vasm.Def(z.tx))
	c.Jump("JMP", s.bail)
	c.Label(r.none)
	c.Op("XORQ", vasm.Def(r.to), vasm.Def(r.to))
	c.Label(found)
	return r
}

// narrow takes the threads from r for which cond is not as z takes it to be.
func (z *vectorizer) narrow(cond *ir.Value, r *span) {
	x, bound, less := cond.Args[0], cond.Args[1], z.assumed.holds[cond] // x is less than the bound, or no less
	plus := int64(0)
	if cond.Op == ir.OpSLe || cond.Op == ir.OpULe {
		plus = 1
	}
	if !z.rises(x) {
		x, bound, less, plus = bound, x, !less, 1-plus
	}
	z.risesSafely(x, r)
	limit := z.integerOf(bound)
	if cond.Op == ir.OpULt || cond.Op == ir.OpULe { // is as for numbers with a sign, where none is negative
		if bound.Op != ir.OpConst && !r.asked[bound] {
			z.Code.Op("TESTQ", vasm.Use(limit), vasm.Use(limit))
			z.Code.Jump("JLT", r.none)
		}
		r.asked[bound] = true
		zero := z.Code.Reg(vasm.Integer)
		z.Code.Op("XORQ", vasm.Def(zero), vasm.Def(zero))
		z.cut(r, false, zero, x)
	}
	if plus != 0 {
		next := z.Code.Reg(vasm.Integer)
		z.Code.Op("MOVQ", vasm.Use(limit), vasm.Def(next))
		z.Code.Op("ADDQ", vasm.Imm(plus), vasm.Mod(next))
		z.Code.Jump("JOS", r.none)
		limit = next
	}
	z.cut(r, less, limit, x)
}

// risesSafely computes x for the first thread, and jumps where it wraps around within the row.
func (z *vectorizer) risesSafely(x *ir.Value, r *span) {
	z.compute(x)
	if r.asked[x] {
		return
	}
	r.asked[x] = true
	last := z.Code.Reg(vasm.Integer)
	if stride := z.shape(x).stride; stride == 1 {
		z.Code.Op("MOVQ", vasm.Use(r.rest), vasm.Def(last))
	} else {
		z.Code.Op("IMUL3Q", vasm.Imm(stride), vasm.Use(r.rest), vasm.Def(last))
	}
	z.Code.Op("ADDQ", vasm.Use(z.integerOf(x)), vasm.Mod(last))
	z.Code.Jump("JOS", r.none)
}

// cut bounds an end of a range of threads by the first one whose index is no less than limit; at is that of the row's
// first. Where the stride is not a power of two the row is one as a whole, or there is no range.
func (z *vectorizer) cut(r *span, upper bool, limit units.Vreg, x *ir.Value) {
	c, stride := z.Code, z.shape(x).stride
	n := c.Reg(vasm.Integer)
	c.Op("MOVQ", vasm.Use(limit), vasm.Def(n))
	c.Op("SUBQ", vasm.Use(z.integerOf(x)), vasm.Mod(n))
	c.Jump("JOS", r.none)
	switch {
	case stride == 1:
	case stride&(stride-1) == 0:
		c.Op("ADDQ", vasm.Imm(stride-1), vasm.Mod(n))
		c.Jump("JOS", r.none)
		c.Op("SARQ", vasm.Imm(int64(bits.TrailingZeros64(uint64(stride)))), vasm.Mod(n))
	case upper:
		last := c.Reg(vasm.Integer)
		c.Op("IMUL3Q", vasm.Imm(stride), vasm.Use(r.rest), vasm.Def(last))
		c.Op("CMPQ", vasm.Use(last), vasm.Use(n))
		c.Jump("JGE", r.none)
		return
	default:
		c.Op("TESTQ", vasm.Use(n), vasm.Use(n))
		c.Jump("JGT", r.none)
		return
	}
	end, move := r.from, "CMOVQGT"
	if upper {
		end, move = r.to, "CMOVQLT"
	}
	c.Op("CMPQ", vasm.Use(n), vasm.Use(end))
	c.Op(move, vasm.Use(n), vasm.Mod(end))
}
