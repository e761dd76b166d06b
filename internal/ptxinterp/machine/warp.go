package machine

import (
	"fmt"
	"iter"
	"math"
	"math/bits"
)

// warp is 32 threads and their registers.
type warp struct {
	block *block
	prog  *program
	id    int
	regs  []uint64
	preds []uint32
	carry uint32 // the carry flag of each thread
	local []byte // of all threads, one after another

	copies   *asyncCopies // nil, as stores are, where the program makes none
	stores   *bulkStores
	products products

	localMarks byteSet // of all threads; nil unless unwritten memory is looked for
	own        region  // the local memory of the thread that accesses its own

	all     uint32  // threads of the block
	live    uint32  // of those, the ones that have not exited
	ready   []group // that can run
	waiting []group // at a barrier or for other threads of the warp
	polled  bool    // an instruction read what other threads may write: a loop may wait for them
	yields  bool    // such a loop has gone round once
	fault   error

	arrived uint32 // threads that have come to the cluster's barrier in this phase
	passed  uint32 // that have in one that is over, and not waited for it yet
	awaited uint32 // threads that have waited for the preceding launch

	spare *exchange // of an earlier operation, for the next one
}

// group is threads that stand at the same place, equally deep in calls. Where they came
// from does not matter: each thread knows its own return.
type group struct {
	pc, depth int32
	mask      uint32
}

func newWarp(b *block, id int) *warp {
	p, free := b.launch.prog, &b.launch.free
	w := &warp{
		block: b, prog: p, id: id,
		regs:  cut(&free.registers, p.rows*warpSize),
		preds: make([]uint32, p.preds),
		local: cut(&free.local, p.local*warpSize),
	}
	if b.launch.mem.checks.Unwritten {
		w.localMarks = cut(&free.marks, p.localMarks())
	}
	if p.copies {
		w.copies, w.stores = &asyncCopies{}, &bulkStores{}
	}
	w.preds[predTrue] = allLanes
	for _, s := range p.specials {
		if !s.perBlock { // others: start
			w.fill(s)
		}
	}
	return w
}

// fill stores the values of a special register.
func (w *warp) fill(s specialRow) {
	r := w.row(s.row)
	if !s.perThread {
		repeat(r, s.value(w.block, w.id, 0))
		return
	}
	for l := range r {
		r[l] = s.value(w.block, w.id, l)
	}
}

// start makes the warp one of the block at its index: all threads at the entry.
func (w *warp) start() {
	n := w.block.launch.threads() - w.id*warpSize
	w.live = allLanes
	if n < warpSize {
		w.live = 1<<n - 1
	}
	w.all, w.arrived, w.passed, w.awaited = w.live, 0, 0, 0
	for _, s := range w.prog.specials {
		if s.perBlock {
			w.fill(s)
		}
	}
	poison(w.local)
	if w.prog.copies {
		w.copies.start()
		w.stores.start()
	}
	w.products = products{}
	clear(w.localMarks)
	w.ready = append(w.ready[:0], group{mask: w.live})
	w.waiting = w.waiting[:0]
}

// row returns the register that starts at place at.
func (w *warp) row(at int32) *row { return (*row)(w.regs[at : at+warpSize]) }

// lanes yields the threads of a mask, lowest first.
func lanes(mask uint32) iter.Seq[int] {
	return func(yield func(int) bool) {
		for m := mask; m != 0; m &= m - 1 {
			if !yield(bits.TrailingZeros32(m) & (warpSize - 1)) {
				return
			}
		}
	}
}

func (w *warp) clock() uint64 { return w.block.launch.stats.Instructions }

// run executes until the warp blocks, ends, fails or yields, or about budget instructions of
// the warp are done. With fair set, the group that has waited longest starts, not the one that
// the usual rule prefers: threads that wait for others in a loop must not starve them.
func (w *warp) run(budget int, fair bool) {
	if r := w.block.launch.random; r != nil && r.IntN(4) == 0 && len(w.ready) > 0 {
		w.runPart(r.Uint32(), budget)
	}
	for budget > 0 && len(w.ready) > 0 && w.fault == nil {
		g, limit := w.pick(fair)
		budget -= w.runGroup(g, limit, budget)
		fair = w.yields
		if w.yields && len(w.ready) == 1 {
			budget = 0 // what it waits for is in another warp
		}
		w.yields = false
	}
}

// runPart lets only the chosen threads of a group run for a while: threads of a warp need not
// go together, and a program that relies on it without synchronising them is wrong.
func (w *warp) runPart(chosen uint32, budget int) {
	g, _ := w.pick(true)
	part := g.mask & chosen
	if part == 0 {
		part = g.mask
	}
	w.runGroup(group{g.pc, g.depth, part}, math.MaxInt32, budget)
	if rest := g.mask &^ part; rest != 0 {
		w.ready = append(w.ready, group{g.pc, g.depth, rest})
	}
}

// pick takes the group to run, with all others at its place: the deepest in calls, then the
// lowest in the code, or where fair is set the first. It may run up to limit before it meets
// another one.
func (w *warp) pick(fair bool) (g group, limit int32) {
	best := 0
	for i, h := range w.ready {
		if b := w.ready[best]; !fair && (h.depth > b.depth || h.depth == b.depth && h.pc < b.pc) {
			best = i
		}
	}
	g, limit = w.ready[best], math.MaxInt32
	kept := w.ready[:0]
	for i, h := range w.ready {
		switch {
		case i == best:
		case h.depth == g.depth && h.pc == g.pc:
			g.mask |= h.mask
		default:
			kept = append(kept, h)
			if h.depth == g.depth && h.pc > g.pc {
				limit = min(limit, h.pc)
			}
		}
	}
	w.ready = kept
	return g, limit
}

// runGroup executes the group until it branches apart, blocks, ends, reaches limit, or has
// used the budget, and returns the number of instructions that it executed.
func (w *warp) runGroup(g group, limit int32, budget int) int {
	code := w.prog.code
	stats := &w.block.launch.stats
	pc, mask := g.pc, g.mask
	for n := 0; ; n++ {
		if pc >= limit || n >= budget {
			w.ready = append(w.ready, group{pc, g.depth, mask})
			return n
		}
		in := &code[pc]
		m := mask
		if in.guard >= 0 {
			p := w.preds[in.guard]
			if in.negate {
				p = ^p
			}
			m &= p
		}
		stats.Instructions += uint64(bits.OnesCount32(mask))
		switch {
		case m == 0:
			pc++
		case in.kind == plain:
			in.exec(w, in, m)
			if w.fault != nil {
				return n
			}
			pc++
		case in.kind == branch:
			rest := mask &^ m
			if rest == 0 && (in.target > pc || !w.polled) {
				pc = in.target
				continue
			}
			if rest != 0 {
				w.ready = append(w.ready, group{pc + 1, g.depth, rest})
			}
			w.ready = append(w.ready, group{in.target, g.depth, m})
			w.yields, w.polled = in.target <= pc && w.polled, false
			return n + 1
		default:
			if rest := mask &^ m; rest != 0 {
				w.ready = append(w.ready, group{pc + 1, g.depth, rest})
			}
			w.transfer(in, group{pc, g.depth, m})
			return n + 1
		}
	}
}

// transfer executes an instruction after which the group is somewhere else, or nowhere.
func (w *warp) transfer(in *instr, g group) {
	switch in.kind {
	case indexBranch:
		w.indexBranch(in, g)
	case call:
		back := w.row(in.a)
		for l := range lanes(g.mask) {
			back[l] = uint64(g.pc + 1)
		}
		w.ready = append(w.ready, group{in.target, g.depth + 1, g.mask})
	case ret:
		w.ret(in, g)
	case exit:
		w.exit(g.mask)
	case trap:
		w.failAt(g.pc, g.mask, ErrTrap, "")
	case blockBarrier:
		w.waiting = append(w.waiting, g)
		w.block.arrive(w, in, g)
	case warpSync:
		w.waiting = append(w.waiting, g)
		w.meet(in, g)
	case phaseWait:
		w.waitPhase(in, g)
	case clusterWait:
		w.waitCluster(g)
	}
}

// ret sends each thread to where it was called from; from the kernel itself it exits.
func (w *warp) ret(in *instr, g group) {
	if g.depth == 0 {
		w.exit(g.mask)
		return
	}
	w.scatter(g.mask, g.depth-1, w.row(in.a))
}

// scatter makes threads ready at the places that a row holds.
func (w *warp) scatter(mask uint32, depth int32, places *row) {
	for mask != 0 {
		pc := places[bits.TrailingZeros32(mask)]
		var same uint32
		for l := range lanes(mask) {
			if places[l] == pc {
				same |= 1 << l
			}
		}
		w.ready = append(w.ready, group{int32(pc), depth, same})
		mask &^= same
	}
}

func (w *warp) indexBranch(in *instr, g group) {
	index := w.row(in.a)
	var places row
	for l := range lanes(g.mask) {
		if index[l] >= uint64(len(in.list)) {
			w.failAt(g.pc, 1<<l, ErrUndefined, fmt.Sprintf("index %d in a table of %d targets", index[l], len(in.list)))
			return
		}
		places[l] = uint64(in.list[index[l]])
	}
	w.scatter(g.mask, g.depth, &places)
}

// exit ends threads. Others may have waited for them only.
func (w *warp) exit(mask uint32) {
	w.live &^= mask
	if w.prog.copies {
		w.finishAllCopies(mask)
		w.finishAllStores(mask)
	}
	w.block.patience = 0
	w.block.live -= bits.OnesCount32(mask)
	w.meetAll()
	w.block.exited()
	w.block.cluster.exited()
}

// fail records what went wrong in a plain instruction, in the lowest thread of the mask.
func (w *warp) fail(in *instr, mask uint32, err error, text string) {
	for pc := range w.prog.code {
		if &w.prog.code[pc] == in {
			w.failAt(int32(pc), mask, err, text)
			return
		}
	}
}

func (w *warp) failAt(pc int32, mask uint32, err error, text string) {
	if w.fault != nil {
		return
	}
	e := w.errorAt(pc, mask)
	e.Err, e.Text = err, text
	w.fault = e
}

// errorAt returns an error at a place, in the lowest thread of a mask.
func (w *warp) errorAt(pc int32, mask uint32) *Error {
	at := w.prog.positions[pc]
	return &Error{
		Kernel: w.prog.name, Instruction: at.name, Line: at.line,
		File: w.prog.files[at.loc.File], FileLine: at.loc.Line,
		Block: w.block.index, Thread: w.threadOf(mask),
	}
}
