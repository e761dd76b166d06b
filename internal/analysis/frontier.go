package analysis

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// Frontiers returns, by block ID, the dominance frontier of each reachable block.
func Frontiers(dom *ir.Dom) [][]*ir.Block {
	order := dom.Order()
	list := make([][]*ir.Block, order[0].Func.NumBlocks())
	for _, b := range order {
		if len(b.Preds) < 2 {
			continue
		}
		for _, p := range b.Preds {
			if dom.Rank(p) < 0 {
				continue
			}
			for r := p; r != dom.Idom(b); r = dom.Idom(r) {
				if !slices.Contains(list[r.ID], b) {
					list[r.ID] = append(list[r.ID], b)
				}
			}
		}
	}
	return list
}
