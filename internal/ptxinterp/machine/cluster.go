package machine

import (
	"fmt"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/race"
)

// cluster is blocks that run side by side (section 2.2.2): they reach each other's shared memory and meet at a
// barrier (section "barrier.cluster").
type cluster struct {
	blocks []*block // by rank
}

// peerShift is where an address in shared memory says in the bits above whose it is: the rank in the cluster
// plus 1. An address without that is the block's own.
const peerShift = 24

// clusterDim returns the number of blocks in a cluster along each axis.
func (l *launch) clusterDim() [3]int {
	d := l.Cluster
	for i := range d {
		d[i] = max(1, d[i])
	}
	return d
}

func (l *launch) clusterSize() int { d := l.clusterDim(); return d[0] * d[1] * d[2] }

// indexOf returns the index of a block of the n-th cluster, x counting fastest.
func (l *launch) indexOf(n, rank int) [3]int {
	d := l.clusterDim()
	across := [2]int{l.Grid[0] / d[0], l.Grid[1] / d[1]}
	first := [3]int{n % across[0], n / across[0] % across[1], n / across[0] / across[1]}
	at := [3]int{rank % d[0], rank / d[0] % d[1], rank / d[0] / d[1]}
	for i := range at {
		at[i] += first[i] * d[i]
	}
	return at
}

// rank returns the block's number in its cluster.
func (b *block) rank() int {
	d, at := b.launch.clusterDim(), b.inCluster()
	return at[0] + d[0]*(at[1]+d[1]*at[2])
}

func (b *block) inCluster() (at [3]int) {
	for i, n := range b.launch.clusterDim() {
		at[i] = b.index[i] % n
	}
	return at
}

// idle reports whether no block of the cluster runs.
func (c *cluster) idle() bool {
	return !slices.ContainsFunc(c.blocks, func(b *block) bool { return b.running })
}

// start makes c the n-th cluster of the grid, x counting fastest.
func (c *cluster) start(n int) {
	for rank, b := range c.blocks {
		b.start(b.launch.indexOf(n, rank))
	}
}

// canProgress reports whether a warp of the cluster can continue, for which this block may wait.
func (c *cluster) canProgress() bool {
	for _, b := range c.blocks {
		for _, w := range b.warps {
			if b.running && (len(w.ready) > 0 || b.patience < 1 && w.awaitsPhase()) {
				return true
			}
		}
	}
	return false
}

// peer returns the memory that an address in shared memory is in, and the address there. Where thread l reaches
// for a block that is not there any more, it faults.
func (w *warp) peer(in *instr, l int, at uint64) (*block, uint64) {
	rank := at >> peerShift
	if rank == 0 || rank > uint64(len(w.block.cluster.blocks)) {
		return w.block, at
	}
	b := w.block.cluster.blocks[rank-1]
	if !b.running {
		w.fail(in, 1<<l, ErrFreed, fmt.Sprintf("shared memory of block %v of the cluster, which has ended", b.index))
		return nil, 0
	}
	return b, at & (1<<peerShift - 1)
}

// mapa decodes mapa (section "mapa"): the address of the same place in another block. Where the cluster has no such block, the address is not in
// shared memory: the compiler may compute it before the check that the block exists.
func (d *decoder) mapa() {
	space := d.m.space()
	t := d.m.typ()
	d.need((space == ptx.Shared || space == ptx.Generic) && (t == ptx.U32 || t == ptx.U64))
	if !d.args(3, 3) {
		return
	}
	base := uint64(0)
	if space == ptx.Generic {
		base = sharedWindow
	}
	in := instr{d: d.dst(0, t), a: d.src(1, t), b: d.src(2, ptx.U32)}
	in.exec = func(w *warp, in *instr, mask uint32) {
		to, a, rank := w.row(in.d), w.row(in.a), w.row(in.b)
		for l := range lanes(mask) {
			at := a[l] - base
			if at>>32 != 0 {
				w.fail(in, 1<<l, ErrAddress, hex(a[l])+" is not in shared memory")
				return
			}
			to[l] = base + min(rank[l]+1, uint64(len(w.block.cluster.blocks))+1)<<peerShift + at&(1<<peerShift-1)
		}
	}
	d.emit(in)
}

// clusterBarrier decodes barrier.cluster.arrive and .wait.
func (d *decoder) clusterBarrier() {
	what := d.m.oneOf("arrive", "wait")
	d.m.drop(func(s string) bool { return s == "release" || s == "relaxed" || s == "acquire" || s == "aligned" })
	d.need(what != "")
	if !d.args(0, 0) {
		return
	}
	if what == "wait" {
		d.emit(instr{kind: clusterWait})
		return
	}
	d.emit(instr{exec: func(w *warp, in *instr, mask uint32) {
		if twice := mask & (w.arrived | w.passed); twice != 0 {
			w.fail(in, twice, ErrUndefined, "a second arrival without a wait")
			return
		}
		w.arrived |= mask
		w.block.cluster.complete()
	}})
}

// waitCluster executes a barrier.cluster.wait.
func (w *warp) waitCluster(g group) {
	if wrong := g.mask &^ (w.arrived | w.passed); wrong != 0 {
		w.failAt(g.pc, wrong, ErrUndefined, "a wait without an arrival")
		return
	}
	if over := g.mask & w.passed; over != 0 { // the others may be a phase ahead
		w.passed &^= over
		w.ready = append(w.ready, group{g.pc + 1, g.depth, over})
		g.mask &^= over
	}
	if g.mask != 0 {
		w.waiting = append(w.waiting, g)
	}
}

// complete ends a phase of the barrier where all threads have arrived that live.
func (c *cluster) complete() {
	any := uint32(0)
	for _, b := range c.blocks {
		for _, w := range b.warps {
			if b.running && w.live&^w.arrived != 0 {
				return
			}
			any |= w.arrived & w.live
		}
	}
	if any == 0 {
		return
	}
	var orders []*race.Block
	for _, b := range c.blocks {
		if !b.running {
			continue
		}
		if b.order != nil {
			orders = append(orders, b.order)
		}
		b.patience = 0
		for _, w := range b.warps {
			w.passed |= w.arrived & w.live
			w.arrived = 0
			w.wakeWaiters(clusterWait, 0)
		}
	}
	race.MeetBlocks(orders)
}

// exited looks again at what others may have waited for, after threads have exited.
func (c *cluster) exited() {
	for _, other := range c.blocks {
		other.patience = 0
	}
	c.complete()
}
