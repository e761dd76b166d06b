package pass

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

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
