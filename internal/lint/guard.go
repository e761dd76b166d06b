package lint

import (
	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// guard is a condition that diverges between threads and has the given value in the threads that
// reach a block.
type guard struct {
	cond  *ir.Value
	holds bool
}

type guards []guard

// guards returns the guards of b, for the threads that u describes.
func (k *kernel) guards(b *ir.Block, u *analysis.Uniformity) guards {
	return k.conditions(b, u.Varying)
}

// conditions returns the conditions under which b is entered and that is selects.
func (k *kernel) conditions(b *ir.Block, is func(*ir.Value) bool) guards {
	var list guards
	for ; b != nil; b = k.dom.Idom(b) {
		c, holds, ok := k.entered(b)
		if !ok {
			continue
		}
		for _, f := range analysis.Implied(analysis.Fact{Cond: c, Holds: holds}) {
			if is(f.Cond) && f.Cond.Op != ir.OpAnd && f.Cond.Op != ir.OpOr && f.Cond.Op != ir.OpXor {
				list = append(list, guard{f.Cond, f.Holds})
			}
		}
	}
	return list
}

// entered is analysis.Branch that knows loops, too: what held where one was entered holds in all its iterations.
func (k *kernel) entered(b *ir.Block) (cond *ir.Value, holds, ok bool) {
	var from *ir.Block
	for _, p := range b.Preds {
		switch {
		case k.dom.Dominates(b, p):
		case from != nil:
			return nil, false, false
		default:
			from = p
		}
	}
	if from == nil || from.Term().Op != ir.OpIf {
		return nil, false, false
	}
	return from.Term().Args[0], from.Succs[0] == b, true
}
