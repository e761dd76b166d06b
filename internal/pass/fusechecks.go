package pass

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// fuseChecks makes one branch of checks that follow each other with nothing but pure values
// in between: where not all conditions hold, a block that runs only then finds out which one.
func fuseChecks(f *ir.Func, _ *Options) {
	for i := 0; i < len(f.Blocks); i++ { // fuse adds blocks, with the rest of the checks in them
		b := f.Blocks[i]
		if first, last := adjacentChecks(b); first < last {
			fuse(b, first, last)
		}
	}
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

func fuse(b *ir.Block, first, last int) {
	rest := splitBlock(b, last+1)
	slow := b.Func.NewBlock()
	e := &editor{b: b, out: b.Values[:first:first]}
	var checks []*ir.Value
	var all *ir.Value
	for _, v := range b.Values[first : last+1] {
		e.pos = v.Pos
		if v.Op != ir.OpCheck {
			e.out = append(e.out, v)
			continue
		}
		checks = append(checks, v)
		if all == nil {
			all = v.Args[0]
		} else {
			all = e.make(ir.OpAnd, ir.I1, all, v.Args[0])
		}
	}
	e.make(ir.OpIf, ir.Void, all)
	b.Values = e.out
	b.AddEdge(rest)
	b.AddEdge(slow)
	explain(slow, checks)
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
