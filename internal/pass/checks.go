package pass

import (
	"iter"
	"math"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// subsumeChecks compares only the lowest and the highest of several indices into one slice with
// its length, such as those of a stencil, where the sums and products of values that are known not
// to be negative show which these are. The checks move up, as in hoistChecks, and become one
// branch, as in fuseChecks. After it, all the indices are known to fit 32 bits where the length
// does.
//
//	%3 = add i64 %1, 1                %3 = add i64 %1, 1
//	check ult %1, %n                  %5 = add i64 %1, %2
//	%4 = load %a + 4*%1               %8 = and (ult %1, %n), (ult %5, %n)
//	check ult %3, %n              ->  if %8 b1 b2
//	%6 = load %a + 4*%3               b1: the loads
//	%5 = add i64 %1, %2               b2 cold: the checks, in their order
//	check ult %5, %n
//	%7 = load %a + 4*%5               where %2 is known to be at least 1
func subsumeChecks(f *ir.Func, _ *Options) {
	dom := ir.Dominators(f)
	c := &subsumer{dom: dom, ranges: analysis.NewRanges(dom)}
	for _, b := range dom.Order() {
		c.block = b
		for rest := b; rest != nil; {
			rest = c.one(rest)
		}
	}
}

// A subsumer handles the checks of one function.
type subsumer struct {
	dom    *ir.Dom
	ranges *analysis.Ranges
	block  *ir.Block // that is being taken apart, as it was
}

// minSubsumed is how many checks must be saved for the others to be worth computing early.
const minSubsumed = 2

// one handles the first group of checks in b for which that is worth it. It returns the block that
// follows, or nil if there is no such group.
func (c *subsumer) one(b *ir.Block) *ir.Block {
	for stretch := range stretches(b) {
		m := &checkHoister{early: map[*ir.Value]bool{}}
		order := m.order(stretch)
		checks := slices.DeleteFunc(slices.Clone(order), func(v *ir.Value) bool { return v.Op != ir.OpCheck || !m.early[v] })
		if implied, members := c.subsume(checks); len(implied) >= minSubsumed {
			copy(stretch, order)
			u := &fuser{ranges: c.ranges, at: c.at(), implied: implied}
			rest := u.fuse(b, slices.Index(b.Values, checks[0]), slices.Index(b.Values, checks[len(checks)-1]))
			c.truncate(rest, members)
			return rest
		}
	}
	return nil
}

func (c *subsumer) at() analysis.Point { return analysis.Point{Block: c.block} }

// An element is a check that an index is in range, as the polynomial that the index is.
type element struct {
	check *ir.Value
	at    analysis.Polynomial
}

// subsume returns the checks that others imply, and the indices of all groups that have such.
func (c *subsumer) subsume(checks []*ir.Value) (implied map[*ir.Value]bool, members []*ir.Value) {
	groups := map[*ir.Value][]element{}
	var lengths []*ir.Value
	for _, v := range checks {
		cond := v.Args[0]
		if cond.Op != ir.OpULt || cond.Args[0].Type.Bits() != 64 || c.ranges.At(cond.Args[1], c.at()).Lo < 0 {
			continue
		}
		if p, ok := analysis.NewPolynomial(cond.Args[0]); ok {
			length := cond.Args[1]
			if groups[length] == nil {
				lengths = append(lengths, length)
			}
			groups[length] = append(groups[length], element{v, p})
		}
	}
	implied = map[*ir.Value]bool{}
	for _, length := range lengths {
		g := groups[length]
		lowest, highest := c.extremes(g)
		if lowest < 0 || highest < 0 {
			continue
		}
		for i, e := range g {
			if i != lowest && i != highest {
				implied[e.check] = true
			}
			if c.ranges.At(length, c.at()).Hi <= math.MaxUint32 {
				members = append(members, e.check.Args[0].Args[0])
			}
		}
	}
	return implied, members
}

// extremes returns the elements with the lowest and the highest index, or -1 where that is not
// known. They are so close that neither their distance nor the sum with an index in range
// overflows: what lies between two indices in range did not wrap.
func (c *subsumer) extremes(g []element) (lowest, highest int) {
	lowest, highest = -1, -1
	for i := range g {
		if !slices.ContainsFunc(g, func(e element) bool { return !c.atMost(g[i], e) }) {
			lowest = i
			break
		}
	}
	for i := range g {
		if !slices.ContainsFunc(g, func(e element) bool { return !c.atMost(e, g[i]) }) {
			highest = i
			break
		}
	}
	return lowest, highest
}

// atMost reports whether x is known not to exceed y.
func (c *subsumer) atMost(x, y element) bool {
	d, ok := y.at.Minus(x.at)
	if !ok {
		return false
	}
	r, ok := d.Range(c.ranges, c.at())
	return ok && r.Lo >= 0
}

// truncate computes the indices that have been checked in 32 bits, in rest and in the blocks that follow.
func (c *subsumer) truncate(rest *ir.Block, members []*ir.Value) {
	e := &editor{b: rest, pos: rest.Values[0].Pos}
	s := &indexShortener{dom: c.dom}
	half := &halver{e: e, made: map[*ir.Value]*ir.Value{}}
	with := map[*ir.Value]*ir.Value{}
	for _, x := range members {
		with[x] = s.short(half, x)
	}
	rest.Values = slices.Concat(e.out, rest.Values)
	replaceIndices(rest.Values, with)
	for _, b := range c.dom.Order() {
		if b != c.block && c.dom.Dominates(c.block, b) {
			replaceIndices(b.Values, with)
		}
	}
}

// hoistChecks moves checks and the computation of their conditions up in their blocks, before
// loads and stores: the loads of an unrolled body then start together, and no store waits between
// two checks (1.4 times faster, measured). A store that precedes a fault cannot be observed, so it
// need not happen.
func hoistChecks(f *ir.Func, _ *Options) {
	for _, b := range f.Blocks {
		if b.Cold {
			continue
		}
		m := &checkHoister{early: map[*ir.Value]bool{}}
		for stretch := range stretches(b) {
			copy(stretch, m.order(stretch))
		}
	}
}

// stretches returns the parts of b.Values between phis, observable values and the terminator. Checks do not part them.
func stretches(b *ir.Block) iter.Seq[[]*ir.Value] {
	return func(yield func([]*ir.Value) bool) {
		start := len(b.Phis())
		for i, v := range b.Values {
			if i < start || !v.Op.Terminator() && (!observable(v) || v.Op == ir.OpCheck) {
				continue
			}
			if !yield(b.Values[start:i]) {
				return
			}
			start = i + 1
		}
	}
}

// A checkHoister reorders a stretch of values in which only checks are observable.
type checkHoister struct {
	early map[*ir.Value]bool // values of the stretch that move up
	in    map[*ir.Value]bool
	known map[*ir.Value]bool // what free has said
}

// order returns the values of the stretch, first the checks that depend on none of its loads.
func (m *checkHoister) order(stretch []*ir.Value) []*ir.Value {
	if !slices.ContainsFunc(stretch, func(v *ir.Value) bool { return v.Op == ir.OpCheck }) {
		return stretch
	}
	m.in, m.known = map[*ir.Value]bool{}, map[*ir.Value]bool{}
	for _, v := range stretch {
		m.in[v] = true
	}
	for _, v := range stretch {
		if v.Op == ir.OpCheck {
			if !m.free(v) {
				break // later ones must not pass it
			}
			m.mark(v)
		}
	}
	var front, back []*ir.Value
	for _, v := range stretch {
		if m.early[v] {
			front = append(front, v)
		} else {
			back = append(back, v)
		}
	}
	return append(front, back...)
}

// free reports whether v can be computed at the start of the stretch. It visits each value once:
// the number of paths to the first of a chain of values that are used twice each is exponential in
// the chain's length.
func (m *checkHoister) free(v *ir.Value) bool {
	free, ok := m.known[v]
	if !ok {
		free = !slices.ContainsFunc(v.Args, func(a *ir.Value) bool {
			return m.in[a] && !m.early[a] && !(a.Op.Pure() && m.free(a))
		})
		m.known[v] = free
	}
	return free
}

// mark notes that v and what it depends on move up.
func (m *checkHoister) mark(v *ir.Value) {
	if !m.in[v] || m.early[v] {
		return
	}
	m.early[v] = true
	for _, a := range v.Args {
		m.mark(a)
	}
}

// fuseChecks makes one branch of checks that follow each other with nothing but pure values
// in between: where not all conditions hold, a block that runs only then finds out which one.
// Of indices that differ by constants, only the lowest and the highest need to be compared.
func fuseChecks(f *ir.Func, _ *Options) {
	u := &fuser{ranges: analysis.NewRanges(ir.Dominators(f))}
	for _, b := range slices.Clone(f.Blocks) {
		if b.Cold {
			continue
		}
		u.at = analysis.Point{Block: b}
		for rest := b; rest != nil; {
			first, last := adjacentChecks(rest)
			if first == last {
				break
			}
			rest = u.fuse(rest, first, last)
		}
	}
}

type fuser struct {
	ranges *analysis.Ranges
	at     analysis.Point // the start of the block that is taken apart
	// implied are checks that hold where others of their group do.
	implied map[*ir.Value]bool
}

// adjacentChecks returns the positions of the first and the last check of the first group of
// at least two; equal positions where there is none.
func adjacentChecks(b *ir.Block) (first, last int) {
	first = -1
	for i, v := range b.Values {
		switch {
		case v.Op == ir.OpCheck && first < 0:
			first, last = i, i
		case v.Op == ir.OpCheck:
			last = i
		case first >= 0 && !v.Op.Pure():
			if first < last {
				return first, last
			}
			first = -1
		}
	}
	return 0, 0
}

// fuse joins the checks of b from first to last and returns the block with what follows.
func (u *fuser) fuse(b *ir.Block, first, last int) *ir.Block {
	rest := b.Split(last + 1)
	slow := b.Func.NewBlock()
	slow.Cold = true
	e := &editor{b: b, out: b.Values[:first:first]}
	var checks []*ir.Value
	for _, v := range b.Values[first : last+1] {
		if v.Op == ir.OpCheck {
			checks = append(checks, v)
		} else {
			e.out = append(e.out, v)
		}
	}
	var all *ir.Value
	for _, c := range u.needed(checks) {
		e.pos = c.Pos
		if all == nil {
			all = c.Args[0]
		} else {
			all = e.make(ir.OpAnd, ir.I1, all, c.Args[0])
		}
	}
	e.make(ir.OpIf, ir.Void, all)
	b.Values = e.out
	b.AddEdge(rest)
	b.AddEdge(slow)
	explain(slow, checks)
	return rest
}

// A family is indices that differ by constants and are compared with one length.
type family struct{ base, length *ir.Value }

// needed returns the checks that imply all of them.
func (u *fuser) needed(checks []*ir.Value) []*ir.Value {
	lowest, highest := map[family]int64{}, map[family]int64{}
	for _, c := range checks {
		if f, at, ok := u.member(c); ok && !u.implied[c] {
			if _, known := lowest[f]; !known {
				lowest[f], highest[f] = at, at
			}
			lowest[f], highest[f] = min(lowest[f], at), max(highest[f], at)
		}
	}
	return slices.DeleteFunc(slices.Clone(checks), func(c *ir.Value) bool {
		f, at, ok := u.member(c)
		return u.implied[c] || ok && lowest[f] < at && at < highest[f]
	})
}

// member returns the family of the check's index and its constant. The constants are so small
// that what lies between two indices in range did not wrap, as no length is negative.
func (u *fuser) member(c *ir.Value) (family, int64, bool) {
	cond := c.Args[0]
	if cond.Op != ir.OpULt || cond.Args[0].Type.Bits() != 64 || u.ranges.At(cond.Args[1], u.at).Lo < 0 {
		return family{}, 0, false
	}
	base, at := plus(cond.Args[0])
	const small = 1 << 30
	return family{base, cond.Args[1]}, at, base != nil && at > -small && at < small
}

// explain makes slow find the first check that fails, one of which does.
func explain(slow *ir.Block, checks []*ir.Value) {
	n := len(checks) - 1
	for _, c := range checks[:n] {
		c.Block = slow
		slow.Values = append(slow.Values, c)
	}
	fault := slow.Append(ir.OpFault, ir.Void, slices.Clone(checks[n].Args[1:])...)
	fault.Aux, fault.Pos = checks[n].Aux, checks[n].Pos
}
