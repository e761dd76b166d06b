package machine

import (
	"fmt"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/race"
)

// mbarrier is a barrier in shared memory (section "mbarrier"): it is kept beside the memory, whose contents
// the manual calls opaque.
type mbarrier struct {
	want, lack int // arrivals of a phase; those that it still lacks
	bytes      int // that it still lacks
	phase      uint64
	coming     []bulkFetch // copies that tell the barrier of their bytes
	sent       []sentWord  // stores of threads of other blocks that do
}

// settle begins the next phase where nothing lacks in this one.
func (m *mbarrier) settle(b *block) {
	if m.lack == 0 && m.bytes == 0 {
		m.lack, m.phase = m.want, m.phase+1
		b.phaseOver()
	}
}

// barrierAt returns the barrier at the address that thread l names, or nil after a fault.
func (w *warp) barrierAt(in *instr, l int, address uint64) *mbarrier {
	if w.bytes(in, l, address) == nil {
		return nil
	}
	return w.barrierOf(w.block, in, l, address)
}

// barrierOf returns the barrier of a block of the cluster at an address, or nil after a fault.
func (w *warp) barrierOf(b *block, in *instr, l int, address uint64) *mbarrier {
	m := b.mbarriers[address]
	if m == nil {
		w.fail(in, 1<<l, ErrUndefined, "no mbarrier.init made a barrier of byte "+decimal(address-spaceBase)+" of shared memory")
	}
	return m
}

// mbarrier decodes mbarrier.init, .arrive, .test_wait and .try_wait. Only arrivals are possible at barriers of other blocks of the
// cluster.
func (d *decoder) mbarrier() {
	what := d.m.oneOf("init", "arrive", "test_wait", "try_wait")
	expect, parity := d.m.has("expect_tx"), d.m.has("parity")
	d.need(!d.m.has("shared::cluster") || what == "arrive" && !expect)
	d.m.drop(func(s string) bool { return s == "shared::cta" || s == "shared" || s == "cta" || s == "cluster" })
	d.need(what != "" && d.m.has("b64") && parity == (what == "test_wait" || what == "try_wait"))
	x := &access{space: ptx.Shared, size: 8, count: 1, total: 8, near: d.near(), rows: [4]int32{-1}, strong: what != "init", each: true}
	switch what {
	case "init":
		x.write = true
		d.mbarrierInit(x)
	case "arrive":
		d.m.has("release")
		x.reads, x.write, x.release = true, true, true
		d.mbarrierArrive(x, expect)
	default:
		d.m.has("acquire")
		x.reads, x.acquire, x.polls = true, true, true
		d.mbarrierWait(x, what)
	}
}

func (d *decoder) mbarrierInit(x *access) {
	if !d.args(2, 2) {
		return
	}
	in := instr{mem: x, b: d.src(1, ptx.U32)}
	in.a, in.imm, x.space = d.place(0, ptx.Shared)
	in.exec = func(w *warp, in *instr, mask uint32) {
		a, n := w.row(in.a), w.row(in.b)
		for l := range lanes(mask) {
			at := a[l] + in.imm
			if w.bytes(in, l, at) == nil {
				return
			}
			if n[l] < 1 || n[l] >= 1<<20 {
				w.fail(in, 1<<l, ErrUndefined, fmt.Sprintf("barrier for %d arrivals", n[l]))
				return
			}
			w.block.mbarriers[at] = &mbarrier{want: int(n[l]), lack: int(n[l])}
		}
	}
	d.emit(in)
}

func (d *decoder) mbarrierArrive(x *access, expect bool) {
	operands := 2
	if expect {
		operands++
	}
	if !d.args(operands, operands) {
		return
	}
	d.need(d.arg(0).Kind == ptx.SinkOperand)
	in := instr{mem: x, b: d.constant(0)}
	in.a, in.imm, x.space = d.place(1, ptx.Shared)
	if expect {
		in.b = d.src(2, ptx.U32)
	}
	in.exec = func(w *warp, in *instr, mask uint32) {
		a, n := w.row(in.a), w.row(in.b)
		for l := range lanes(mask) {
			if w.bytes(in, l, a[l]+in.imm) == nil {
				return
			}
			b, at := w.peer(in, l, a[l]+in.imm)
			if b == nil {
				return
			}
			m := w.barrierOf(b, in, l, at)
			if m == nil {
				return
			}
			if m.lack == 0 {
				w.fail(in, 1<<l, ErrUndefined, fmt.Sprintf("more than the %d arrivals of a phase", m.want))
				return
			}
			m.lack, m.bytes = m.lack-1, m.bytes+int(n[l])
			m.settle(b)
		}
	}
	d.emit(in)
}

func (d *decoder) mbarrierWait(x *access, what string) {
	if !d.args(3, 3) {
		return
	}
	in := instr{mem: x, b: d.src(2, ptx.U32), p: d.predDst(d.arg(0))}
	in.a, in.imm, x.space = d.place(1, ptx.Shared)
	if what == "test_wait" {
		in.exec = func(w *warp, in *instr, mask uint32) {
			over, ok := w.phasesOver(in, mask)
			if ok {
				w.setPred(in.p, mask, false)
				w.setPred(in.p, over, true)
				w.polled = true
			}
		}
	} else {
		in.kind = phaseWait
	}
	d.emit(in)
}

// phasesOver returns the threads whose phase is over. A test brings copies home.
func (w *warp) phasesOver(in *instr, mask uint32) (over uint32, ok bool) {
	a, n := w.row(in.a), w.row(in.b)
	for l := range lanes(mask) {
		m := w.barrierAt(in, l, a[l]+in.imm)
		if m == nil {
			return 0, false
		}
		if n[l] > 1 {
			w.fail(in, 1<<l, ErrUndefined, fmt.Sprintf("parity %d of a phase", n[l]))
			return 0, false
		}
		w.block.deliver(m, a[l]+in.imm)
		if w.fault != nil {
			return 0, false
		}
		if m.phase&1 != n[l] {
			over |= 1 << l
			w.acquirePhase(l, a[l]+in.imm)
		}
	}
	return over, true
}

// acquirePhase orders what made the phase end before what the thread does now.
func (w *warp) acquirePhase(l int, at uint64) {
	if w.block.order != nil {
		w.block.order.Synchronise(race.Sync{Thread: w.id*warpSize + l, Address: at, Shared: true, Reads: true, Acquire: true})
	}
}

// waitPhase executes a try_wait, at which threads wait until a phase is over or, where nobody else can go
// on, the time is up.
func (w *warp) waitPhase(in *instr, g group) {
	over, ok := w.phasesOver(in, g.mask)
	if !ok {
		return
	}
	if over == 0 {
		w.waiting = append(w.waiting, g)
		return
	}
	w.setPred(in.p, g.mask, false)
	w.setPred(in.p, over, true)
	w.ready = append(w.ready, group{g.pc + 1, g.depth, g.mask})
}

// phaseOver has all threads look again that wait for a phase.
func (b *block) phaseOver() {
	b.patience = 0
	for _, w := range b.warps {
		w.wakeWaiters(phaseWait, 0)
	}
}

// timeUp lets the threads that wait for phases go on, whose phase is not over, unless they have
// come back after the last time without that anything has happened. It reports whether there were any.
func (b *block) timeUp() bool {
	if b.patience++; b.patience > 1 {
		return false
	}
	any := false
	for _, w := range b.warps {
		any = w.wakeWaiters(phaseWait, 1) || any
	}
	return any
}

// awaitsPhase reports whether a thread waits for a phase.
func (w *warp) awaitsPhase() bool {
	return slices.ContainsFunc(w.waiting, func(g group) bool { return w.prog.code[g.pc].kind == phaseWait })
}

// wakeWaiters makes the groups ready that wait at instructions of a kind, and advances
// them by some instructions, from which they continue.
func (w *warp) wakeWaiters(k kind, ahead int32) bool {
	kept, any := w.waiting[:0], false
	for _, g := range w.waiting {
		in := &w.prog.code[g.pc]
		if in.kind != k {
			kept = append(kept, g)
			continue
		}
		if ahead > 0 {
			w.setPred(in.p, g.mask, false)
		}
		w.ready, any = append(w.ready, group{g.pc + ahead, g.depth, g.mask}), true
	}
	w.waiting = kept
	return any
}
