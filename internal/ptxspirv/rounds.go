package ptxspirv

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
	"github.com/gopherwarp/gopherwarp/internal/spirv"
)

// In Vulkan, either all threads of a block reach a barrier or none does; a thread that has ended is not excepted, as it is in PTX. A
// kernel in which some threads may end, or be elsewhere, while others reach a barrier therefore runs in rounds:
//
//	for {
//		// Each thread goes on where its state says, until its next barrier or its end.
//		barrier
//		if all threads have ended {
//			break
//		}
//	}
//
// So the kernel has one barrier, which threads that have ended also reach. States are the places after barriers, and the headers of loops
// with barriers: such a loop would have a second entry, the place after the barrier.
type rounds struct {
	*graph
	states  []int          // the block where a thread goes on, by state
	number  map[int]uint32 // of the state, by its block
	headers map[int]bool   // headers and other blocks with several predecessors that have a state
	root    int            // goes to the state's block
	done    int            // ends the thread
	over    int            // where a thread that has ended is in later rounds
	meet    int            // the barrier of all rounds
}

// round is what the threads keep about rounds.
type round struct {
	state  spirv.ID // variable: the thread's state
	parity spirv.ID // variable: that of the round's number
	before spirv.ID // variable: number of threads that have ended in rounds of the other parity
	ended  spirv.ID // shared variable: likewise for both parities; a thread reads one while others may change the other
}

// rounds makes a kernel whose first block is empty run in rounds. The function adds states.
func (g *graph) rounds(add func(*rounds)) error {
	old, first := len(g.blocks), g.blocks[0].next[0]
	g.countsArrivals = g.waitsInCluster()
	g.meets = g.meets || g.countsArrivals
	r := &rounds{graph: g, number: map[int]uint32{}, headers: map[int]bool{}}
	r.meet, r.root = r.plain(nil), r.plain(nil)
	r.addEnd()
	g.replace(g.end, r.done)
	r.state(first)
	add(r)
	for i := 1; i < old; i++ {
		if r.blocks[i].number >= 0 {
			r.cut(i)
		}
	}
	start := r.plain(nil, r.root)
	g.blocks[0] = block{guard: ptx.Guard{Reg: -1}, tail: (*translator).beginRounds, next: []int{start}}
	g.blocks[r.meet] = block{guard: ptx.Guard{Reg: -1}, test: (*translator).allEnded, next: []int{g.end, start}}
	g.blocks[r.root] = g.blocks[r.dispatch(0, len(r.states)+1)]
	g.inRounds = true
	return g.analyze()
}

// addEnd adds the blocks where threads end.
func (r *rounds) addEnd() {
	ended := func(t *translator) { setState(uint32(len(r.states)))(t); t.forgetArrivals() }
	if r.meets {
		r.over = r.plain((*translator).stayAway, r.meet)
		r.done = r.plain(ended, r.over)
		return
	}
	r.over = r.meet
	r.done = r.plain(func(t *translator) { ended(t); t.countEnd() }, r.meet)
}

// state returns the number of the state in which a thread goes on with a block.
func (r *rounds) state(i int) uint32 {
	n, ok := r.number[i]
	if !ok {
		n = uint32(len(r.states))
		r.number[i] = n
		r.states = append(r.states, i)
	}
	return n
}

// findHeaders makes states of the headers of loops with barriers.
func findHeaders(r *rounds) {
	for _, i := range r.order {
		if !r.blocks[i].barrier() {
			continue
		}
		for l := r.blocks[i].loop; l >= 0; l = r.blocks[l].outer {
			r.addState(l)
		}
	}
}

// addState makes a state of a block that control enters otherwise, too.
func (r *rounds) addState(i int) {
	r.headers[i] = true
	r.state(i)
}

// edge returns the block that an edge to block i leads to: if that has a state, another one, which sets it.
func (r *rounds) edge(i int) int {
	if r.headers[i] {
		return r.plain(setState(r.state(i)), r.root)
	}
	return i
}

// setState returns what makes the thread go on in a state.
func setState(n uint32) func(*translator) {
	return func(t *translator) { t.Emit(spirv.OpStore, t.round.state, t.word(n)) }
}

// cut ends the round in a block with a barrier, and in one before a header that has a state begins anew.
func (r *rounds) cut(i int) {
	b := &r.blocks[i]
	if b.barrier() {
		r.wait(i)
		return
	}
	for k, n := range slices.Clone(b.next) {
		to := r.edge(n) // which moves the blocks
		r.blocks[i].next[k] = to
	}
}

// wait replaces the barrier of a block by the end of a round. The barrier bar.red takes three rounds.
func (r *rounds) wait(i int) {
	in, next := r.blocks[i].code[0], r.blocks[i].next[0]
	if r.meets || in.Mods[0] == "red" {
		next = r.edge(next)
	}
	switch {
	case meetsInWarp(in):
		next = r.plain(of(in, (*translator).collect), next)
		next = r.await(next, of(in, (*translator).waitInWarp), func(t *translator) spirv.ID {
			t.in, t.mods = in, in.Mods
			return t.warpWaits()
		})
	case isClusterWait(in):
		next = r.await(next, func(*translator) {}, (*translator).clusterWaits)
	case in.Mods[0] == "red":
		next = r.plain(of(in, (*translator).readVotes), next)
		next = r.plain(of(in, (*translator).addVote), r.pause(next))
		next = r.plain(of(in, (*translator).clearVotes), r.pause(next))
		next = r.pause(next)
	default:
		next = r.pause(next)
	}
	b := &r.blocks[i]
	b.code, b.meeting, b.next = nil, false, []int{next}
}

// pause returns a block that waits for the other threads of the block and goes on with another one.
func (r *rounds) pause(next int) int {
	if r.meets {
		return r.await(next, (*translator).waitInBlock, (*translator).blockWaits)
	}
	return r.plain(setState(r.state(next)), r.meet)
}

// await returns a block that ends the round after a part. It goes on with another block after the first round at whose end a condition held;
// until then, a copy of the block ends each round. With a copy, no code is nested in a construct for each block that control enters from two.
func (r *rounds) await(next int, part func(*translator), held func(*translator) spirv.ID) int {
	check := r.add(block{guard: ptx.Guard{Reg: -1}, test: held})
	set := setState(r.state(check))
	wait := func(t *translator) { part(t); set(t) }
	r.blocks[check].next = []int{next, r.plain(wait, r.meet)}
	return r.plain(wait, r.meet)
}

// of returns what emits a part of an instruction.
func of(in *ptx.Instr, part func(*translator)) func(*translator) {
	return func(t *translator) {
		t.in, t.mods = in, in.Mods
		part(t)
	}
}

// dispatch returns a block that goes on in the states from low up to high. The state after the last one is that of threads that have ended.
func (r *rounds) dispatch(low, high int) int {
	if high-low == 1 {
		if low == len(r.states) {
			return r.over
		}
		return r.states[low]
	}
	middle := (low + high) / 2
	return r.add(block{
		guard: ptx.Guard{Reg: -1},
		next:  []int{r.dispatch(low, middle), r.dispatch(middle, high)},
		test: func(t *translator) spirv.ID {
			return t.test(spirv.OpULessThan, t.Value(spirv.OpLoad, t.u32(), t.round.state), t.word(uint32(middle)))
		},
	})
}

// beginRounds is what a thread does first.
func (t *translator) beginRounds() {
	u32 := t.pointer(spirv.StorageFunction, t.u32())
	if t.meets {
		t.round.state = t.Local(u32)
		t.Emit(spirv.OpStore, t.round.state, t.word(0))
		return
	}
	t.round = round{state: t.Local(u32), parity: t.Local(u32), before: t.Local(u32), ended: t.words(spirv.StorageWorkgroup, 8)}
	for _, v := range []spirv.ID{t.round.state, t.round.parity, t.round.before} {
		t.Emit(spirv.OpStore, v, t.word(0))
	}
	for parity := range uint32(2) {
		t.Emit(spirv.OpAtomicStore, t.endedIn(t.word(parity)), t.word(spirv.ScopeWorkgroup), t.word(0), t.word(0))
	}
	t.barrier()
}

// endedIn returns a pointer to the number of threads that have ended in rounds of a parity.
func (t *translator) endedIn(parity spirv.ID) spirv.ID {
	return t.wordIn(spirv.StorageWorkgroup, t.round.ended, parity)
}

// countEnd counts a thread that ends.
func (t *translator) countEnd() {
	parity := t.Value(spirv.OpLoad, t.u32(), t.round.parity)
	t.op(spirv.OpAtomicIAdd, ptx.U32, t.endedIn(parity), t.word(spirv.ScopeWorkgroup), t.word(0), t.word(1))
}

// allEnded ends a round and returns whether all threads have ended.
func (t *translator) allEnded() spirv.ID {
	if t.meets {
		t.endTurn()
		return t.haveEnded()
	}
	t.barrier()
	r := &t.round
	parity, before := t.Value(spirv.OpLoad, t.u32(), r.parity), t.Value(spirv.OpLoad, t.u32(), r.before)
	now := t.op(spirv.OpAtomicLoad, ptx.U32, t.endedIn(parity), t.word(spirv.ScopeWorkgroup), t.word(0))
	t.Emit(spirv.OpStore, r.before, now)
	t.Emit(spirv.OpStore, r.parity, t.op(spirv.OpBitwiseXor, ptx.U32, parity, t.word(1)))
	return t.test(spirv.OpIEqual, t.op(spirv.OpIAdd, ptx.U32, now, before), t.word(uint32(t.threads()*t.blockCount())))
}
