package pass

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// sink moves pure values that are wanted only where a thread faults into the block that does
// so. Back ends put such blocks last; the others then compute only what they need. Values that only one
// edge needs move to that edge.
func sink(f *ir.Func, _ *Options) {
	sinkToEdges(f)
	users := uses(f)
	for _, b := range slices.Backward(ir.Dominators(f).Order()) {
		for i, v := range slices.Backward(b.Values) {
			if to := coldUser(v, users.of(v)); to != nil && to != b && v.Op.Pure() {
				b.Values = slices.Delete(b.Values, i, i+1)
				v.Block = to
				to.Values = slices.Insert(to.Values, len(to.Phis()), v)
			}
		}
	}
}

// coldUser returns the one block that faults and holds all users of v, or nil.
func coldUser(v *ir.Value, users []*ir.Value) *ir.Block {
	var to *ir.Block
	for _, u := range users {
		if u.Op == ir.OpPhi || to != nil && u.Block != to {
			return nil
		}
		to = u.Block
	}
	if to == nil || to.Term().Op != ir.OpFault {
		return nil
	}
	return to
}
