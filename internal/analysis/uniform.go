package analysis

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// Uniformity holds which values are equal in all threads of a group (a block, a warp or a row) that compute
// them together, and which blocks are executed by all threads of the group that have not left the kernel.
//
// A thread leaves when it branches to code that does not reach a barrier while other threads may
// still reach one. Barriers do not wait for threads that have left. Such a branch therefore only
// separates the threads that leave from those that stay.
type Uniformity struct {
	dom            *ir.Dom
	control        *Control
	varying        []bool                // by value ID
	divergent      []bool                // by block ID
	reachesBarrier []bool                // by block ID: a barrier may follow
	leaves         map[[2]*ir.Block]bool // edges
	stored         [][]*ir.Value         // by block ID: addresses written since a barrier, at the entry
	users          [][]*ir.Block         // by value ID: blocks with values that use it
	separated      []int                 // by block ID: the epoch in which separate has last seen it
	epoch          int                   // number of changes of leaves and of control
	region         set                   // of the branch at hand
	of             unit                  // the threads
	changed        bool
}

// unit is the threads that are compared.
type unit int

const (
	block unit = iota
	row        // along x
	warp
)

// NewUniformity analyses the function that dom belongs to, for the threads of a block.
func NewUniformity(dom *ir.Dom) *Uniformity { return newUniformity(dom, block) }

// NewRowUniformity is like NewUniformity, for the threads of a row, which differ only in their
// index along x.
func NewRowUniformity(dom *ir.Dom) *Uniformity { return newUniformity(dom, row) }

// NewWarpUniformity is like NewUniformity, for the threads of a warp. Exchanges between these threads also
// count as barriers.
func NewWarpUniformity(dom *ir.Dom) *Uniformity { return newUniformity(dom, warp) }

func newUniformity(dom *ir.Dom, of unit) *Uniformity {
	f := dom.Order()[0].Func
	u := &Uniformity{
		dom: dom, of: of, varying: make([]bool, f.NumValues()), divergent: make([]bool, f.NumBlocks()),
		reachesBarrier: make([]bool, f.NumBlocks()), leaves: map[[2]*ir.Block]bool{}, stored: make([][]*ir.Value, f.NumBlocks()),
		users: make([][]*ir.Block, f.NumValues()), separated: make([]int, f.NumBlocks()), region: set{in: make([]int, f.NumBlocks())},
	}
	u.findBarriers()
	u.findStores()
	u.findUsers()
	cuts := -1 // the edges that control ignores
	for u.changed = true; u.changed; {
		u.changed = false
		if cuts != len(u.leaves) {
			cuts = len(u.leaves)
			u.control = NewControl(dom, u.Leaves)
			u.epoch++
		}
		for _, b := range dom.Order() {
			u.block(b)
		}
	}
	return u
}

// Varying reports whether v may differ between threads.
func (u *Uniformity) Varying(v *ir.Value) bool { return u.varying[v.ID] }

// Divergent reports whether only some of the threads may run b.
func (u *Uniformity) Divergent(b *ir.Block) bool { return u.divergent[b.ID] }

// Leaves reports whether a thread that takes the edge leaves other threads that may reach a barrier.
func (u *Uniformity) Leaves(from, to *ir.Block) bool { return u.leaves[[2]*ir.Block{from, to}] }

// ReachesBarrier reports whether b contains a barrier or has a path to one.
func (u *Uniformity) ReachesBarrier(b *ir.Block) bool { return u.reachesBarrier[b.ID] }

// Control returns the control dependences without the edges along which threads leave.
func (u *Uniformity) Control() *Control { return u.control }

func (u *Uniformity) findBarriers() {
	var work []*ir.Block
	for _, b := range u.dom.Order() {
		if slices.ContainsFunc(b.Values, func(v *ir.Value) bool { return BlockBarrier(v.Op) || u.of == warp && WarpOp(v.Op) }) {
			work = append(work, b)
		}
	}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		if !u.reachesBarrier[b.ID] {
			u.reachesBarrier[b.ID] = true
			work = append(work, b.Preds...)
		}
	}
}

// findStores solves which stores may have happened since the last barrier.
func (u *Uniformity) findStores() {
	for changed := true; changed; {
		changed = false
		for _, b := range u.dom.Order() {
			end := u.storedAt(b, len(b.Values))
			for _, s := range b.Succs {
				for _, p := range end {
					if !slices.Contains(u.stored[s.ID], p) {
						u.stored[s.ID], changed = append(u.stored[s.ID], p), true
					}
				}
			}
		}
	}
}

// storedAt returns the addresses written since a barrier before value i of b.
func (u *Uniformity) storedAt(b *ir.Block, i int) []*ir.Value {
	list := slices.Clone(u.stored[b.ID])
	for _, v := range b.Values[:i] {
		switch {
		case BlockBarrier(v.Op):
			list = nil
		case v.Op.Writes() && len(v.Args) > 0:
			list = append(list, v.Args[0])
		}
	}
	return list
}

func (u *Uniformity) block(b *ir.Block) {
	for i, v := range b.Values {
		if !u.varying[v.ID] && u.varies(v, i) {
			u.vary(v)
		}
	}
	t := b.Term()
	if t.Op != ir.OpIf || !u.varying[t.Args[0].ID] {
		return
	}
	x, y := b.Succs[0], b.Succs[1]
	if u.reachesBarrier[x.ID] != u.reachesBarrier[y.ID] {
		if u.reachesBarrier[x.ID] {
			x = y
		}
		u.leave(b, x)
		return
	}
	u.separate(b)
}

func (u *Uniformity) vary(v *ir.Value) {
	if !u.varying[v.ID] {
		u.varying[v.ID], u.changed = true, true
	}
}

// varies reports whether v, value i of its block, differs between threads because its
// arguments do or because of what it is.
func (u *Uniformity) varies(v *ir.Value, i int) bool {
	switch v.Op {
	case ir.OpConst, ir.OpZero, ir.OpVar, ir.OpNTid, ir.OpCtaid, ir.OpNCtaid, ir.OpDynamicBytes,
		ir.OpClusterid, ir.OpNClusterCtaid, ir.OpClusterCtaid, ir.OpClusterRank, ir.OpClusterSize,
		ir.OpBarrierCount, ir.OpBarrierAnd, ir.OpBarrierOr: // of all threads that have not left
		return false
	case ir.OpTid:
		return u.of == block || v.Imm == 0 || u.of == warp && !rowsHoldWarps(v.Block.Func)
	case ir.OpBallot, ir.OpWarpReduce:
		return u.of != warp || v.Lanes() != nil
	case ir.OpShuffle:
		return u.of != warp || v.Lanes() != nil || u.varying[v.Args[1].ID]
	case ir.OpLoad:
		return u.varying[v.Args[0].ID] || u.divergent[v.Block.ID] || u.mayChange(v, i)
	case ir.OpPhi:
	default:
		if !v.Op.Pure() || len(v.Args) == 0 {
			return true
		}
		if u.of == warp && sameInWarp(v) {
			return false
		}
	}
	return slices.ContainsFunc(v.Args, func(a *ir.Value) bool { return u.varying[a.ID] })
}

// mayChange reports whether a thread may have written what v loads before another loads it.
func (u *Uniformity) mayChange(v *ir.Value, i int) bool {
	return slices.ContainsFunc(u.storedAt(v.Block, i), func(p *ir.Value) bool { return MayAlias(p, v.Args[0]) })
}

// findUsers finds the blocks that use each value.
func (u *Uniformity) findUsers() {
	for _, b := range u.dom.Order() {
		for _, v := range b.Values {
			for _, a := range v.Args {
				if list := u.users[a.ID]; len(list) == 0 || list[len(list)-1] != b {
					u.users[a.ID] = append(list, b)
				}
			}
		}
	}
}

// leave notes that some threads go from b to code without barriers.
func (u *Uniformity) leave(b, to *ir.Block) {
	if u.Leaves(b, to) {
		return
	}
	u.leaves[[2]*ir.Block{b, to}], u.changed = true, true
	u.epoch++
	u.region.reset()
	u.between(to, nil)
	u.diverge()
}

// separate notes that b sends some threads one way and some the other, until they meet again. That does not depend on
// which values vary, so that it is done once in an epoch: a region can have most blocks of the function.
func (u *Uniformity) separate(b *ir.Block) {
	if u.separated[b.ID] == u.epoch {
		return
	}
	u.separated[b.ID] = u.epoch
	meet := u.control.After(b)
	u.region.reset()
	for _, s := range b.Succs {
		u.between(s, meet)
	}
	u.diverge()
	if meet != nil {
		u.join(meet, b)
	}
	for _, x := range u.region.list {
		u.join(x, b)
		for _, v := range x.Values { // threads leave a loop with what it was in their last iteration
			if !u.varying[v.ID] && slices.ContainsFunc(u.users[v.ID], func(y *ir.Block) bool { return !u.region.has(y) }) {
				u.vary(v)
			}
		}
	}
}

// set is a set of blocks that can be emptied without a look at each block.
type set struct {
	in    []int // by block ID: the round in which the block was added last
	round int
	list  []*ir.Block
	added int // in all rounds
}

func (s *set) reset() { s.round, s.list = s.round+1, s.list[:0] }

func (s *set) has(b *ir.Block) bool { return s.in[b.ID] == s.round }

func (s *set) add(b *ir.Block) {
	s.in[b.ID], s.list = s.round, append(s.list, b)
	s.added++
}

// join notes that threads come to b from several blocks of the region or from the branch that begins it.
func (u *Uniformity) join(b, branch *ir.Block) {
	for _, phi := range b.Phis() {
		var first *ir.Value
		for i, a := range phi.Args {
			switch p := b.Preds[i]; {
			case p != branch && !u.region.has(p) || a == first:
			case first == nil:
				first = a
			default:
				u.vary(phi)
			}
		}
	}
}

// diverge notes that only some threads run the blocks of the region.
func (u *Uniformity) diverge() {
	for _, b := range u.region.list {
		if !u.divergent[b.ID] {
			u.divergent[b.ID], u.changed = true, true
		}
	}
}

// between adds to the region the blocks from one on, up to but without the other.
func (u *Uniformity) between(from, to *ir.Block) {
	work := []*ir.Block{from}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		if b == to || u.region.has(b) {
			continue
		}
		u.region.add(b)
		for _, s := range b.Succs {
			if !u.Leaves(b, s) {
				work = append(work, s)
			}
		}
	}
}
