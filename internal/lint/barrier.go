package lint

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// barriers finds branches that diverge between threads and after which some threads reach a
// different barrier first than others. A thread that reaches no barrier exits, and barriers do not
// wait for it.
func (k *kernel) barriers() {
	first := k.firstBarriers()
	for _, b := range k.dom.Order() {
		t := b.Term()
		if t.Op != ir.OpIf || !k.uniform.Varying(t.Args[0]) {
			continue
		}
		x, y := first[b.Succs[0].ID], first[b.Succs[1].ID]
		if len(x) == 0 || len(y) == 0 {
			continue
		}
		for _, v := range slices.Concat(x, y) {
			if slices.Contains(x, v) != slices.Contains(y, v) {
				k.report(Finding{
					Pos: v.Pos, Category: Barrier, Other: t.Args[0].Pos, Says: "the condition",
					Message: "only some threads of the block reach this barrier, while others wait at another one",
				})
			}
		}
	}
}

// firstBarriers returns, by block ID, the barriers of the block or the grid that a thread may reach
// first from the start of each basic block.
func (k *kernel) firstBarriers() [][]*ir.Value {
	first := make([][]*ir.Value, k.f.NumBlocks())
	for changed := true; changed; {
		changed = false
		for _, b := range slices.Backward(k.dom.Order()) {
			found := first[b.ID]
			if i := slices.IndexFunc(b.Values, waits); i >= 0 {
				found = []*ir.Value{b.Values[i]}
			} else {
				for _, s := range b.Succs {
					for _, v := range first[s.ID] {
						if !slices.Contains(found, v) {
							found = append(found, v)
						}
					}
				}
			}
			changed = changed || len(found) != len(first[b.ID])
			first[b.ID] = found
		}
	}
	return first
}

func waits(v *ir.Value) bool {
	switch v.Op {
	case ir.OpBarrier, ir.OpBarrierCount, ir.OpBarrierAnd, ir.OpBarrierOr, ir.OpGridBarrier, ir.OpClusterBarrier:
		return true
	}
	return false
}
