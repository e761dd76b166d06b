package pass

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// maxZeroStores is the number of leaves up to which a local is cleared by a store each.
const maxZeroStores = 64

// hoistAllocas moves all allocas to the entry, where back ends want them. One in a loop is
// cleared by stores where it stood, since it is a new variable in every iteration.
func hoistAllocas(f *ir.Func, _ *Options) {
	var moved []*ir.Value
	entry := f.Blocks[0]
	for _, b := range slices.Clone(f.Blocks) {
		for _, v := range slices.Clone(b.Values) {
			if v.Op != ir.OpAlloca {
				continue
			}
			if inCycle(b) {
				clearAlloca(v)
			}
			i := slices.Index(v.Block.Values, v)
			v.Block.Values = slices.Delete(v.Block.Values, i, i+1)
			v.Block = entry
			moved = append(moved, v)
		}
	}
	entry.Values = append(moved, entry.Values...)
}

// inCycle reports whether b can run again after it has run.
func inCycle(b *ir.Block) bool {
	seen := make([]bool, b.Func.NumBlocks())
	work := slices.Clone(b.Succs)
	for len(work) > 0 {
		s := work[len(work)-1]
		work = work[:len(work)-1]
		if s == b {
			return true
		}
		if !seen[s.ID] {
			seen[s.ID] = true
			work = append(work, s.Succs...)
		}
	}
	return false
}

// clearAlloca stores zeros to the local v where it stands.
func clearAlloca(v *ir.Value) {
	t := v.Aux.(*ir.Type)
	if v.Imm == 1 {
		return
	}
	v.Imm = 1
	if countLeaves(t) > maxZeroStores {
		b := v.Block
		clearLeaves(b.Values[slices.Index(b.Values, v)+1], t, v)
		return
	}
	b := v.Block
	e := &editor{b: b, pos: v.Pos}
	for _, l := range leavesOf(t, 0, nil) {
		zero := e.constant(l.t, 0)
		e.make(ir.OpStore, ir.Void, e.offset(v, l.off), zero)
	}
	b.Values = slices.Insert(b.Values, slices.Index(b.Values, v)+1, e.out...)
}
