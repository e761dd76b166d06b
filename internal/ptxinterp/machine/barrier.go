package machine

import (
	"fmt"
	"math/bits"
)

// maxBarriers is the number of named barriers of a block.
const maxBarriers = 16

// barOp is a bar or barrier instruction.
type barOp struct {
	id      int32 // row
	count   int32 // row; -1 for all threads of the block
	aligned bool
	arrive  bool   // without waiting
	reduce  string // popc, and, or
	pred    int32  // what is reduced; -1 where nothing is
	negate  bool
	result  int32 // row of popc, predicate otherwise
}

// barrier is one of a block's barriers (section 9.7.13.1). Warps arrive at it as a whole: a
// warp has arrived when all its threads that live have come.
type barrier struct {
	used    bool
	count   uint64 // threads that take part; 0 for all
	arrived uint32 // warps
	ones    int    // threads whose predicate holds
	threads int    // that had a predicate
}

// arrive notes that the group, which is among the waiting ones, has come to the barrier.
func (b *block) arrive(w *warp, in *instr, g group) {
	op := in.bar
	l := bits.TrailingZeros32(g.mask)
	id, count := w.row(op.id)[l], uint64(0)
	if op.count >= 0 {
		count = w.row(op.count)[l]
	}
	for m := range lanes(g.mask) {
		if w.row(op.id)[m] != id || op.count >= 0 && w.row(op.count)[m] != count {
			w.failAt(g.pc, 1<<m, ErrUndefined, "threads of a warp at different barriers")
			return
		}
	}
	bar := &b.barriers[min(id, maxBarriers-1)]
	switch {
	case id >= maxBarriers:
		w.failAt(g.pc, g.mask, ErrUndefined, fmt.Sprintf("barrier %d of %d", id, maxBarriers))
	case op.count >= 0 && (count == 0 || count%warpSize != 0):
		w.failAt(g.pc, g.mask, ErrUndefined, fmt.Sprintf("barrier for %d threads, no multiple of %d", count, warpSize))
	case bar.used && bar.count != count:
		w.failAt(g.pc, g.mask, ErrUndefined, fmt.Sprintf("barrier %d for %d threads and for %d", id, bar.count, count))
	default:
		bar.used, bar.count = true, count
		bar.vote(w, op, g.mask)
		b.complete(w, id)
		b.release(id)
	}
}

// vote counts the predicates of a bar.red.
func (bar *barrier) vote(w *warp, op *barOp, mask uint32) {
	if op.pred < 0 {
		return
	}
	p := w.preds[op.pred]
	if op.negate {
		p = ^p
	}
	bar.ones += bits.OnesCount32(p & mask)
	bar.threads += bits.OnesCount32(mask)
}

// waits returns the threads of w that wait at a barrier, and the place of the first group.
func (w *warp) waits(id uint64) (mask uint32, groups []group) {
	for _, g := range w.waiting {
		op := w.prog.code[g.pc].bar
		if op != nil && w.row(op.id)[bits.TrailingZeros32(g.mask)] == id {
			mask |= g.mask
			groups = append(groups, g)
		}
	}
	return mask, groups
}

// complete counts the warp as arrived once all its living threads have come. Threads that
// came to an aligned barrier from different places are an error.
func (b *block) complete(w *warp, id uint64) {
	mask, groups := w.waits(id)
	bar := &b.barriers[id]
	if mask == 0 || mask != w.live || bar.arrived>>w.id&1 == 1 {
		return
	}
	for _, g := range groups[1:] {
		if first := groups[0]; g.pc != first.pc && (w.prog.code[g.pc].bar.aligned || w.prog.code[first.pc].bar.aligned) {
			w.failAt(g.pc, g.mask, ErrBarrier, fmt.Sprintf("other threads of the warp are at line %d", w.prog.positions[first.pc].line))
			return
		}
	}
	bar.arrived |= 1 << w.id
	for _, g := range groups {
		if w.prog.code[g.pc].bar.arrive {
			w.resume(g)
		}
	}
}

// resume makes a waiting group ready after its instruction.
func (w *warp) resume(g group) {
	for i, h := range w.waiting {
		if h == g {
			w.waiting = append(w.waiting[:i], w.waiting[i+1:]...)
			w.ready = append(w.ready, group{g.pc + 1, g.depth, g.mask})
			return
		}
	}
	panic("BUG: a group that does not wait is resumed")
}

// release lets the waiting threads go on if all that take part have arrived.
func (b *block) release(id uint64) {
	bar := &b.barriers[id]
	if !bar.used || !b.full(bar) {
		return
	}
	b.ordered(id, bar)
	for _, w := range b.warps {
		if bar.arrived>>w.id&1 == 0 {
			continue
		}
		_, groups := w.waits(id)
		for _, g := range groups {
			w.reduced(bar, g)
			w.resume(g)
		}
	}
	*bar = barrier{}
}

func (b *block) full(bar *barrier) bool {
	if bar.count > 0 {
		return uint64(bits.OnesCount32(bar.arrived)*warpSize) >= bar.count
	}
	for _, w := range b.warps {
		if w.live != 0 && bar.arrived>>w.id&1 == 0 {
			return false
		}
	}
	return bar.arrived != 0
}

// reduced stores the result of a bar.red.
func (w *warp) reduced(bar *barrier, g group) {
	op := w.prog.code[g.pc].bar
	switch op.reduce {
	case "popc":
		r := w.row(op.result)
		for l := range lanes(g.mask) {
			r[l] = uint64(bar.ones)
		}
	case "and":
		w.setPred(op.result, g.mask, bar.ones == bar.threads)
	case "or":
		w.setPred(op.result, g.mask, bar.ones > 0)
	}
}

func (w *warp) setPred(p int32, mask uint32, v bool) {
	if p < 0 {
		return
	}
	w.preds[p] &^= mask
	if v {
		w.preds[p] |= mask
	}
}

// exited looks again at the barriers after threads have exited: the rest of their warp may
// have come, or all other warps.
func (b *block) exited() {
	for id := range b.barriers {
		if !b.barriers[id].used {
			continue
		}
		for _, w := range b.warps {
			if w.live != 0 {
				b.complete(w, uint64(id))
			}
		}
		b.release(uint64(id))
	}
}
