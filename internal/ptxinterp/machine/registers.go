package machine

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
)

// registers makes rows and predicates for the registers of f, and returns their places. Registers of one size whose values no thread
// needs at the same time share a row: most code has a register for each result, and with as many rows, those of a warp would not
// fit into the processor's caches.
func (d *decoder) registers(f *ptx.Func) []int32 {
	places, lives := make([]int32, len(f.Regs)), livesOf(f)
	var sharing []int
	for i, r := range f.Regs {
		switch {
		case r.Type == ptx.Pred:
			places[i] = d.pred()
		case r.Type.Size() > 8:
			d.fail("register %s of type %v is not supported", r.Name, r.Type)
		case lives[i].own:
			places[i] = d.row(r.Type.Size())
		case lives[i].used:
			sharing = append(sharing, i)
		}
	}
	d.share(f, lives, sharing, places)
	return places
}

// share gives registers rows in the order in which their lives begin. A row is free again after the last instruction of a life: the
// results of an instruction have other rows than its operands.
func (d *decoder) share(f *ptx.Func, lives []life, sharing []int, places []int32) {
	ending := slices.Clone(sharing)
	slices.SortStableFunc(sharing, func(a, b int) int { return lives[a].first - lives[b].first })
	slices.SortStableFunc(ending, func(a, b int) int { return lives[a].last - lives[b].last })
	var free [9][]int32 // by size
	for _, r := range sharing {
		for ; lives[ending[0]].last < lives[r].first; ending = ending[1:] {
			size := f.Regs[ending[0]].Type.Size()
			free[size] = append(free[size], places[ending[0]])
		}
		rows := &free[f.Regs[r].Type.Size()]
		if n := len(*rows); n > 0 {
			places[r], *rows = (*rows)[n-1], (*rows)[:n-1]
		} else {
			places[r] = d.row(f.Regs[r].Type.Size())
		}
	}
}
