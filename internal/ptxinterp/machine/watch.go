package machine

import (
	"math/bits"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/race"
)

// Checks are the checks of a memory in addition to bounds, alignment and lifetime. They report
// Findings, which do not stop the kernel.
type Checks struct {
	Races     bool // conflicting accesses of several threads that are not ordered
	Unwritten bool // reads of uninitialized memory
}

// begin makes a launch come after all others, or overlap with the preceding one.
func (m *Memory) begin(overlaps bool) {
	if m.order == nil || m.order.Launch(overlaps) {
		return
	}
	m.order = race.NewOrder()
	m.order.Launch(false)
	for _, r := range m.regions {
		if r.shadow != nil {
			r.shadow = &race.Shadow{}
		}
	}
}

// Written notes that n bytes at an address, which lie in one allocation, have been written.
func (m *Memory) Written(address uint64, n int) {
	r := m.find(address)
	switch {
	case r.window(address, uint64(n)) == nil || r.written == nil:
	case uint64(n) == r.size: // the marks are needed no more
		r.written, r.watched = nil, r.shadow != nil
	default:
		r.written.set(address-r.base, uint64(n))
	}
}

// Copied records that n bytes have been copied from one address to another.
func (m *Memory) Copied(to, from uint64, n int) {
	d, s := m.find(to), m.find(from)
	if d.window(to, uint64(n)) != nil && s.window(from, uint64(n)) != nil && d.written != nil {
		d.written.copy(to-d.base, s.written, from-s.base, uint64(n))
	}
}

// Trust stops checking the allocation at address for more than bounds: it is the runtime's. Atomic
// operations on it still order accesses to other memory.
func (m *Memory) Trust(address uint64) {
	if r := m.find(address); r != nil {
		r.shadow, r.written, r.watched = nil, nil, m.order != nil
	}
}

// watch gives shared memory and the block what the checks of its memory need.
func (b *block) watch() {
	m := b.launch.mem
	if m.checks.Races && b.launch.prog.proxies {
		b.unfenced, b.shared.watched = make([]uint16, (len(b.shared.data)+proxyGrain-1)/proxyGrain), true
	}
	if m.checks.Unwritten {
		b.shared.written, b.shared.watched = newByteSet(len(b.shared.data)), true
	}
	if m.order != nil {
		b.shared.shadow, b.shared.watched = &race.Shadow{Shared: true}, true
		b.order = m.order.NewBlock(b.launch.threads(), !b.launch.prog.fineGrained)
		b.from, b.to = make([]uint32, len(b.warps)), make([]uint32, len(b.warps))
	}
}

// settle notes the place of the instruction, and what sort of access it is.
func (x *access) settle(place uint32) {
	x.place, x.each = place, x.strong || x.space == ptx.Local || x.space == ptx.Generic
	if x.write {
		x.kind |= race.Write
	}
	if x.strong {
		x.kind |= race.Strong
	}
}

// fineGrained reports whether the instruction may order some threads of a block and not others.
func (in *instr) fineGrained() bool {
	return in.fence || in.sync != nil && in.sync.orders || in.bar != nil && (in.bar.count >= 0 || in.bar.arrive)
}

// localStride returns the marks of a thread's local memory, in whole words.
func (p *program) localStride() int { return align(p.local, bytesPerWord) }

// localMarks returns the words of marks of a warp's local memory.
func (p *program) localMarks() int { return warpSize * p.localStride() / bytesPerWord }

// watch looks at an access of thread l to a region: at is its address within the space.
func (w *warp) watch(in *instr, l int, r *region, at uint64) {
	w.watchOf(w.block, memoryAccess{in, l, r, at})
}

// watchOf is watch for a region that is a block's of the cluster. Races are looked for in the thread's own only.
func (w *warp) watchOf(owner *block, t memoryAccess) {
	t.at += w.within(t.in, t.lane)
	in, l, r, at := t.in, t.lane, t.region, t.at
	if r.written != nil {
		w.watchWrites(in, l, r, at)
	}
	x := in.mem
	if x.write && r == &w.block.shared && w.block.unfenced != nil && !x.strong {
		w.block.wrote(w.id*warpSize+l, at-r.base, x.total)
	}
	if r.shadow != nil && owner == w.block {
		if w.block.launch.Overlaps && w.awaited>>l&1 == 0 && !r.shadow.Shared {
			w.watchEarly(t)
		}
		w.watchOrder(in, l, r, at)
	}
	if x.strong && w.block.order != nil {
		w.block.order.Synchronise(race.Sync{
			Thread: w.id*warpSize + l, Address: at, Shared: r == &owner.shared, Of: owner.order,
			Reads: x.reads, Writes: x.write, Acquire: x.acquire, Release: x.release,
		})
	}
}

// watchOrder notes an access, and finds others that are not ordered before it.
func (w *warp) watchOrder(in *instr, l int, r *region, at uint64) {
	x := in.mem
	a := race.Access{Thread: uint32(w.id*warpSize + l), Kind: x.kind, Place: x.place}
	if f := w.block.order.Access(r.shadow, race.Range{Offset: at - r.base, Size: x.meant()}, a); f != nil {
		w.raced(memoryAccess{in, l, r, at}, f)
	}
}

// watchEarly finds an access that conflicts with one of an earlier launch, by a thread that has not waited for it.
func (w *warp) watchEarly(t memoryAccess) {
	x := t.in.mem
	if !w.block.order.Unfinished(t.region.shadow, race.Range{Offset: t.at - t.region.base, Size: x.meant()}, x.kind) {
		return
	}
	s := findingKey{-1, int32(x.place)}
	if w.block.launch.seen(s) {
		return
	}
	e := w.errorAt(int32(x.place), 1<<t.lane)
	e.Err, e.Text, e.Count = ErrEarly, w.where(t), 1
	w.block.launch.report(s, e)
}

// execAwait waits for the preceding launch, which is done.
func execAwait(w *warp, _ *instr, mask uint32) { w.awaited |= mask }

// watchWrites notes a write, and finds a read of what has not been written.
func (w *warp) watchWrites(in *instr, l int, r *region, at uint64) {
	x, offset := in.mem, at-r.base
	if x.reads && r.written.firstMissing(offset, x.meant()) != offset+x.meant() {
		w.unwritten(memoryAccess{in, l, r, at})
	}
	if x.write {
		r.written.set(offset, x.meant())
	}
}

// execFence is a fence of any kind and scope.
func execFence(w *warp, _ *instr, mask uint32) {
	if w.block.order == nil {
		return
	}
	for l := range lanes(mask) {
		w.block.order.Fence(w.id*warpSize + l)
	}
}

// ordered notes that a barrier orders what its threads do. Warps take part as a whole, with threads that
// have exited.
func (b *block) ordered(id uint64, bar *barrier) {
	if b.order == nil {
		return
	}
	for i, w := range b.warps {
		b.from[i], b.to[i] = 0, 0
		switch {
		case bar.arrived>>w.id&1 == 1:
			b.from[i] = w.all
			b.to[i], _ = w.waits(id)
		case bar.count == 0 && w.live == 0:
			b.from[i] = w.all
		}
	}
	b.order.Meet(b.from, b.to)
}

// silent reports whether a store, which an atomic operation or an asynchronous copy is not, leaves memory as it is.
func (w *warp) silent(t memoryAccess) bool {
	x, p := t.in.mem, t.region.data[t.at-t.region.base:]
	if x.reads || x.rows[0] < 0 {
		return false
	}
	for i := range x.count {
		n := x.size
		if read(p[uint64(i)*n:], n) != w.regs[int(x.rows[i])+t.lane]&(^uint64(0)>>(64-8*n)) {
			return false
		}
	}
	return true
}

// threadOf returns the index of the lowest thread of a mask.
func (w *warp) threadOf(mask uint32) [3]int {
	return w.block.launch.thread(w.id*warpSize + bits.TrailingZeros32(mask))
}
