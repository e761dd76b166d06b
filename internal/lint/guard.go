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
	var list guards
	for ; b != nil; b = k.dom.Idom(b) {
		c, holds, ok := analysis.Branch(b)
		if !ok {
			continue
		}
		for _, f := range analysis.Implied(analysis.Fact{Cond: c, Holds: holds}) {
			if u.Varying(f.Cond) && f.Cond.Op != ir.OpAnd && f.Cond.Op != ir.OpOr && f.Cond.Op != ir.OpXor {
				list = append(list, guard{f.Cond, f.Holds})
			}
		}
	}
	return list
}
