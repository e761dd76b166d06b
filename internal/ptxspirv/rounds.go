package ptxspirv

import (
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
	headers map[int]int    // for each header that has a state, the block that sets it
	root    int            // goes to the state's block
	done    int            // ends the thread
	meet    int            // the barrier of all rounds
}

// round is what the threads keep about rounds.
type round struct {
	state  spirv.ID // variable: the thread's state
	parity spirv.ID // variable: that of the round's number
	before spirv.ID // variable: number of threads that have ended in rounds of the other parity
	ended  spirv.ID // shared variable: likewise for both parities; a thread reads one while others may change the other
}

// rounds makes a kernel whose first block is empty run in rounds.
func (g *graph) rounds() error {
	old, first := len(g.blocks), g.blocks[0].next[0]
	r := &rounds{graph: g, number: map[int]uint32{}, headers: map[int]int{}}
	r.meet, r.root = r.plain(nil), r.plain(nil)
	r.done = r.plain(func(t *translator) { t.endThread(uint32(len(r.states))) }, r.meet)
	g.replace(g.end, r.done)
	r.state(first)
	r.findHeaders()
	for i := 1; i < old; i++ {
		if r.blocks[i].number >= 0 {
			r.cut(i)
		}
	}
	start := r.plain(nil, r.root)
	g.blocks[0] = block{guard: ptx.Guard{Reg: -1}, tail: (*translator).beginRounds, next: []int{start}}
	g.blocks[r.meet] = block{guard: ptx.Guard{Reg: -1}, test: (*translator).allEnded, next: []int{g.end, start}}
	g.blocks[r.root] = g.blocks[r.dispatch(0, len(r.states)+1)]
	return g.analyze()
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
func (r *rounds) findHeaders() {
	for _, i := range r.order {
		if !r.blocks[i].barrier() {
			continue
		}
		for l := r.blocks[i].loop; l >= 0; l = r.blocks[l].outer {
			if _, ok := r.headers[l]; !ok {
				r.headers[l] = r.plain(setState(r.state(l)), r.root)
			}
		}
	}
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
	for k, n := range b.next {
		if h, ok := r.headers[n]; ok {
			b.next[k] = h
		}
	}
}

// wait replaces the barrier of a block by the end of a round. The barrier bar.red takes three rounds.
func (r *rounds) wait(i int) {
	in, next := r.blocks[i].code[0], r.blocks[i].next[0]
	if in.Mods[0] == "red" {
		if h, ok := r.headers[next]; ok {
			next = h
		}
		next = r.plain(of(in, (*translator).readVotes, nil), next)
		next = r.plain(of(in, (*translator).addVote, setState(r.state(next))), r.meet)
		next = r.plain(of(in, (*translator).clearVotes, setState(r.state(next))), r.meet)
	}
	b := &r.blocks[i]
	b.code, b.tail, b.next = nil, setState(r.state(next)), []int{r.meet}
}

// of returns what emits a part of an instruction, and then what follows, unless it is nil.
func of(in *ptx.Instr, part, then func(*translator)) func(*translator) {
	return func(t *translator) {
		t.in, t.mods = in, in.Mods
		part(t)
		if then != nil {
			then(t)
		}
	}
}

// dispatch returns a block that goes on in the states from low up to high. The state after the last one is that of threads that have ended.
func (r *rounds) dispatch(low, high int) int {
	if high-low == 1 {
		if low == len(r.states) {
			return r.meet
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
	return t.Value(spirv.OpAccessChain, t.pointer(spirv.StorageWorkgroup, t.u32()), t.round.ended, parity)
}

// endThread ends a thread: its state is the given one from now on.
func (t *translator) endThread(state uint32) {
	t.Emit(spirv.OpStore, t.round.state, t.word(state))
	parity := t.Value(spirv.OpLoad, t.u32(), t.round.parity)
	t.op(spirv.OpAtomicIAdd, ptx.U32, t.endedIn(parity), t.word(spirv.ScopeWorkgroup), t.word(0), t.word(1))
}

// allEnded ends a round and returns whether all threads have ended.
func (t *translator) allEnded() spirv.ID {
	t.barrier()
	r := &t.round
	parity, before := t.Value(spirv.OpLoad, t.u32(), r.parity), t.Value(spirv.OpLoad, t.u32(), r.before)
	now := t.op(spirv.OpAtomicLoad, ptx.U32, t.endedIn(parity), t.word(spirv.ScopeWorkgroup), t.word(0))
	t.Emit(spirv.OpStore, r.before, now)
	t.Emit(spirv.OpStore, r.parity, t.op(spirv.OpBitwiseXor, ptx.U32, parity, t.word(1)))
	b := t.options.Block
	return t.test(spirv.OpIEqual, t.op(spirv.OpIAdd, ptx.U32, now, before), t.word(uint32(b[0]*b[1]*b[2])))
}
