package ptxspirv

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
	"github.com/gopherwarp/gopherwarp/internal/spirv"
)

// On a device whose subgroups do not have 32 lanes, and in a kernel with operations of some lanes, an operation of a warp is a barrier: the
// threads publish their operands in shared memory, meet at a barrier of the block, and read what the others of their warp have published. The
// time between two barriers is a turn. If blocks form clusters, the barrier is that of the cluster.
//
// In a kernel that runs in rounds, each round is a turn. A thread waits at an operation, round after round, until all threads of
// its warp do so or have ended, and at a barrier until all threads of the block do. At an operation of some lanes, it waits until all of
// these have published the same set of lanes: others of the warp may wait elsewhere. It publishes again in each round that it waits.
//
// A turn's memory is cleared in the turn before, and read in the turn after, so there are three copies. The operands are overwritten and not
// cleared, so they need two.
type meeting struct {
	words  spirv.ID // shared variable: three copies of the words of the warps and of the block
	slots  spirv.ID // shared variable: two copies of the operands, in parts of 32 bits
	turn   spirv.ID // variable: which copy of the words is this turn's
	parity spirv.ID // variable: which copy of the slots is
	// Arrivals at the barrier of the cluster, in kernels that run in rounds.
	arrived spirv.ID // shared variable: the arrivals of all threads of the cluster that have not ended
	phases  spirv.ID // variable: those of the thread
}

// The words of a warp, with a bit for each lane.
const (
	laneWaits = iota // is at an operation, or has ended
	laneVotes        // has a condition that holds
	laneEnded
	laneWords
)

// The words of the block, after those of the warps.
const (
	threadsWait  = iota // number of threads that are at a barrier or have ended
	threadsEnded        // number of threads of the cluster that have ended; only in the words of its first block
	blockWords
)

// The words of a slot.
const (
	slotValue = iota
	slotUpper // of a value of 64 bits
	slotLanes // the lanes that take part; only in kernels with operations of some lanes
	slotParts
)

// meetsInWarp reports whether the threads of a warp meet at an instruction.
func meetsInWarp(in *ptx.Instr) bool {
	return in.Op == "bar" && slices.Contains(in.Mods, "warp") || slices.Contains([]string{"shfl", "vote", "match", "redux"}, in.Op)
}

// ofSomeLanes reports whether the instruction is an operation of some threads of a warp.
func ofSomeLanes(in *ptx.Instr) bool {
	if !meetsInWarp(in) {
		return false
	}
	members, ok := in.Args[len(in.Args)-1].As(ptx.U32)
	return !ok || uint32(members) != 1<<warpLanes-1
}

// hasMasked reports whether a kernel has operations of some lanes.
func hasMasked(f *ptx.Func) bool {
	return slices.ContainsFunc(f.Code, func(in ptx.Instr) bool { return ofSomeLanes(&in) })
}

// warps returns the number of warps of a block.
func (t *translator) warps() int { return (t.threads() + warpLanes - 1) / warpLanes }

// beginMeetings declares what the kernel needs for the operations of warps and clears it.
func (t *translator) beginMeetings() {
	m, u32 := &t.meeting, t.pointer(spirv.StorageFunction, t.u32())
	m.turn, m.parity = t.Local(u32), t.Local(u32)
	m.words = t.words(spirv.StorageWorkgroup, 4*3*t.turnWords())
	m.slots = t.words(spirv.StorageWorkgroup, 4*2*t.slotWords()*t.threads()*t.blockCount())
	t.Emit(spirv.OpStore, m.turn, t.word(0))
	t.Emit(spirv.OpStore, m.parity, t.word(0))
	for turn := range uint32(3) {
		t.clearTurn(t.word(turn))
	}
	t.beginArrivals()
	t.barrier()
}

// turnWords returns the number of words of a turn.
func (t *translator) turnWords() int { return (laneWords*t.warps() + blockWords) * t.blockCount() }

// slotWords returns the number of words of a slot that the kernel uses.
func (t *translator) slotWords() int {
	if t.masked {
		return slotParts
	}
	return slotLanes
}

// after returns the number of the copy that is used some turns later.
func (t *translator) after(turns uint32) spirv.ID {
	n := t.op(spirv.OpIAdd, ptx.U32, t.Value(spirv.OpLoad, t.u32(), t.meeting.turn), t.word(turns))
	return t.choose(ptx.U32, t.test(spirv.OpULessThan, n, t.word(3)), n, t.op(spirv.OpISub, ptx.U32, n, t.word(3)))
}

// warpWord returns a pointer to a word of the thread's warp in a turn.
func (t *translator) warpWord(turn spirv.ID, kind int) spirv.ID {
	warp := t.op(spirv.OpShiftRightLogical, ptx.U32, t.linear(), t.word(5))
	return t.turnWord(turn, t.op(spirv.OpIAdd, ptx.U32, warp, t.ofBlock(laneWords*t.warps(), kind*t.warps())))
}

// ofBlock returns the number of a word, if each block of the cluster has n of them and that of the first block has a number.
func (t *translator) ofBlock(n, first int) spirv.ID {
	if t.blockCount() == 1 {
		return t.word(uint32(first))
	}
	return t.op(spirv.OpIAdd, ptx.U32, t.op(spirv.OpIMul, ptx.U32, t.rank(), t.word(uint32(n))), t.word(uint32(first)))
}

// blockWord returns a pointer to a word of the block in a turn.
func (t *translator) blockWord(turn spirv.ID, kind int) spirv.ID {
	first := laneWords * t.warps() * t.blockCount()
	if kind == threadsEnded {
		return t.turnWord(turn, t.word(uint32(first+kind)))
	}
	return t.turnWord(turn, t.ofBlock(blockWords, first+kind))
}

func (t *translator) turnWord(turn, i spirv.ID) spirv.ID {
	first := t.op(spirv.OpIMul, ptx.U32, turn, t.word(uint32(t.turnWords())))
	return t.wordIn(spirv.StorageWorkgroup, t.meeting.words, t.op(spirv.OpIAdd, ptx.U32, first, i))
}

// clearTurn clears the words of a turn.
func (t *translator) clearTurn(turn spirv.ID) {
	clear := func(p spirv.ID) { t.Emit(spirv.OpAtomicStore, p, t.word(spirv.ScopeWorkgroup), t.word(0), t.word(0)) }
	t.when(t.test(spirv.OpIEqual, t.lane(), t.word(0)), func() bool {
		for kind := range laneWords {
			clear(t.warpWord(turn, kind))
		}
		return true
	}, nil)
	t.when(t.test(spirv.OpIEqual, t.linear(), t.word(0)), func() bool {
		for kind := range blockWords {
			clear(t.blockWord(turn, kind))
		}
		return true
	}, nil)
}

// endTurn is where all threads of the block meet.
func (t *translator) endTurn() {
	m := &t.meeting
	next := t.after(1)
	t.clearTurn(next)
	t.barrier()
	t.Emit(spirv.OpStore, m.turn, next)
	t.Emit(spirv.OpStore, m.parity, t.op(spirv.OpBitwiseXor, ptx.U32, t.Value(spirv.OpLoad, t.u32(), m.parity), t.word(1)))
}

// mark sets the lane's bit in a word of its warp if a condition holds, or always if that is 0.
func (t *translator) mark(kind int, c spirv.ID) {
	bit := t.op(spirv.OpShiftLeftLogical, ptx.U32, t.word(1), t.lane())
	if c != 0 {
		bit = t.choose(ptx.U32, c, bit, t.word(0))
	}
	t.op(spirv.OpAtomicOr, ptx.U32, t.warpWord(t.after(0), kind), t.word(spirv.ScopeWorkgroup), t.word(0), bit)
}

// count adds 1 to a word of the block.
func (t *translator) count(kind int) {
	t.op(spirv.OpAtomicIAdd, ptx.U32, t.blockWord(t.after(0), kind), t.word(spirv.ScopeWorkgroup), t.word(0), t.word(1))
}

// seen returns what a word was at the end of the last turn.
func (t *translator) seen(word func(turn spirv.ID, kind int) spirv.ID, kind int) spirv.ID {
	return t.op(spirv.OpAtomicLoad, ptx.U32, word(t.after(2), kind), t.word(spirv.ScopeWorkgroup), t.word(0))
}

// slot returns a pointer to a part of the slot of a thread of the block, in this turn or in the last one.
func (t *translator) slot(last bool, thread spirv.ID, part int) spirv.ID {
	parity := t.Value(spirv.OpLoad, t.u32(), t.meeting.parity)
	if last {
		parity = t.op(spirv.OpBitwiseXor, ptx.U32, parity, t.word(1))
	}
	n := t.threads() * t.blockCount()
	first := t.op(spirv.OpIMul, ptx.U32, parity, t.word(uint32(t.slotWords()*n)))
	i := t.op(spirv.OpIAdd, ptx.U32, first, t.op(spirv.OpIAdd, ptx.U32, thread, t.ofBlock(t.threads(), part*n)))
	return t.wordIn(spirv.StorageWorkgroup, t.meeting.slots, i)
}

// publish stores the operands of an operation for the other threads of the warp. Those of shadows do not count.
func (t *translator) publish() {
	if t.gone != 0 {
		t.mark(laneEnded, t.isGone())
	}
	if t.masked {
		t.Emit(spirv.OpStore, t.slot(false, t.linear(), slotLanes), t.members())
	}
	switch t.in.Op {
	case "shfl", "redux":
		t.Emit(spirv.OpStore, t.slot(false, t.linear(), slotValue), t.arg(1, ptx.B32))
	case "match":
		typ := t.typ(0)
		v := t.arg(1, typ)
		if typ.Size() == 8 {
			low, high := t.halves(v)
			t.Emit(spirv.OpStore, t.slot(false, t.linear(), slotUpper), high)
			v = low
		}
		t.Emit(spirv.OpStore, t.slot(false, t.linear(), slotValue), v)
	case "vote":
		c := t.operand(t.in.Args[1], ptx.Pred)
		if t.gone != 0 {
			c = t.op(spirv.OpLogicalAnd, ptx.Pred, c, t.op(spirv.OpLogicalNot, ptx.Pred, t.isGone()))
		}
		t.mark(laneVotes, c)
	}
}

// collect computes the result of an operation from what was published in the last turn.
func (t *translator) collect() {
	switch t.in.Op {
	case "shfl":
		from, inside := t.source()
		t.shuffled(t.Value(spirv.OpLoad, t.u32(), t.slot(true, t.inWarp(from), slotValue)), inside)
	case "vote":
		party := t.party()
		t.voted(t.op(spirv.OpBitwiseAnd, ptx.U32, t.seen(t.warpWord, laneVotes), party), party)
	case "match":
		t.collectMatch()
	case "redux":
		t.collectSum()
	}
}

// firstOfWarp returns the number of the first thread of the warp in the block.
func (t *translator) firstOfWarp() spirv.ID {
	return t.op(spirv.OpBitwiseAnd, ptx.U32, t.linear(), t.op(spirv.OpNot, ptx.U32, t.word(warpLanes-1)))
}

// allLanes returns the lanes of the warp that have threads.
func (t *translator) allLanes() spirv.ID {
	rest := t.threads() % warpLanes
	if rest == 0 {
		return t.word(^uint32(0))
	}
	last := t.test(spirv.OpUGreaterThanEqual, t.linear(), t.word(uint32(t.threads()-rest)))
	return t.choose(ptx.U32, last, t.word(1<<rest-1), t.word(^uint32(0)))
}

// members returns the lanes of the operation that have threads.
func (t *translator) members() spirv.ID {
	if !ofSomeLanes(t.in) {
		return t.allLanes()
	}
	return t.op(spirv.OpBitwiseAnd, ptx.U32, t.allLanes(), t.operand(t.in.Args[len(t.in.Args)-1], ptx.B32))
}

// party returns the lanes of the operation whose threads took part in it in the last turn.
func (t *translator) party() spirv.ID {
	return t.op(spirv.OpBitwiseAnd, ptx.U32, t.members(), t.op(spirv.OpNot, ptx.U32, t.seen(t.warpWord, laneEnded)))
}

// collectMatch finds the lanes that have published the same value.
func (t *translator) collectMatch() {
	parts := max(1, t.typ(0).Size()/4)
	bits := t.Local(t.pointer(spirv.StorageFunction, t.u32()))
	t.Emit(spirv.OpStore, bits, t.word(0))
	var own [slotParts]spirv.ID
	for part := range parts {
		own[part] = t.Value(spirv.OpLoad, t.u32(), t.slot(true, t.linear(), part))
	}
	for lane := range uint32(min(warpLanes, t.threads())) {
		thread := t.inWarp(t.word(lane))
		same := t.Global(spirv.OpConstantTrue, t.boolean())
		for part := range parts {
			v := t.Value(spirv.OpLoad, t.u32(), t.slot(true, thread, part))
			same = t.op(spirv.OpLogicalAnd, ptx.Pred, same, t.test(spirv.OpIEqual, v, own[part]))
		}
		set := t.choose(ptx.U32, same, t.word(1<<lane), t.word(0))
		t.Emit(spirv.OpStore, bits, t.op(spirv.OpBitwiseOr, ptx.U32, t.Value(spirv.OpLoad, t.u32(), bits), set))
	}
	t.result(ptx.B32, t.op(spirv.OpBitwiseAnd, ptx.U32, t.Value(spirv.OpLoad, t.u32(), bits), t.party()))
}

// inWarp returns the number of the thread with a lane of the warp, or that of the last thread of the block if that is less.
func (t *translator) inWarp(lane spirv.ID) spirv.ID {
	return t.Extended(spirv.GLSLUMin, t.u32(), t.op(spirv.OpBitwiseOr, ptx.U32, t.firstOfWarp(), lane), t.word(uint32(t.threads()-1)))
}

// collectSum reduces the values that the lanes of redux.sync have published.
func (t *translator) collectSum() {
	typ := t.typ(0)
	_, pair := t.reduction()
	party := t.op(spirv.OpBitwiseAnd, ptx.U32, t.party(), t.laneMask("ne"))
	sum := t.Value(spirv.OpLoad, t.u32(), t.slot(true, t.linear(), slotValue))
	for lane := range uint32(min(warpLanes, t.threads())) {
		v := t.Value(spirv.OpLoad, t.u32(), t.slot(true, t.inWarp(t.word(lane)), slotValue))
		takes := t.test(spirv.OpINotEqual, t.op(spirv.OpBitwiseAnd, ptx.U32, party, t.word(1<<lane)), t.word(0))
		sum = t.choose(typ, takes, pair(sum, v), sum)
	}
	t.result(typ, sum)
}

// meet translates an operation of a warp at which all threads of the block meet.
func (t *translator) meet() {
	t.publish()
	t.endTurn()
	t.collect()
}

// What follows is for kernels that run in rounds.

// waitInWarp is what a thread does in each round that it waits for its warp at an operation.
func (t *translator) waitInWarp() {
	t.publish()
	t.mark(laneWaits, 0)
}

// warpWaits returns whether all lanes of an operation waited at it in the last round, or had ended.
func (t *translator) warpWaits() spirv.ID {
	waits := t.seen(t.warpWord, laneWaits)
	if !t.masked {
		return t.test(spirv.OpIEqual, waits, t.allLanes())
	}
	members := t.members()
	left := t.Local(t.pointer(spirv.StorageFunction, t.u32())) // lanes that may wait elsewhere
	t.Emit(spirv.OpStore, left, members)
	all := t.test(spirv.OpIEqual, t.op(spirv.OpBitwiseAnd, ptx.U32, waits, members), members)
	t.when(all, func() bool {
		t.Emit(spirv.OpStore, left, t.party())
		t.repeat(variable{left, ptx.U32}, func() spirv.ID {
			old := t.Value(spirv.OpLoad, t.u32(), left)
			rest := t.op(spirv.OpBitwiseAnd, ptx.U32, old, t.op(spirv.OpISub, ptx.U32, old, t.word(1)))
			lane := t.Extended(spirv.GLSLFindUMsb, t.u32(), t.op(spirv.OpBitwiseXor, ptx.U32, old, rest))
			theirs := t.Value(spirv.OpLoad, t.u32(), t.slot(true, t.inWarp(lane), slotLanes))
			same := t.test(spirv.OpIEqual, theirs, members)
			t.Emit(spirv.OpStore, left, t.choose(ptx.U32, same, rest, old))
			return t.op(spirv.OpLogicalAnd, ptx.Pred, same, t.test(spirv.OpINotEqual, rest, t.word(0)))
		})
		return true
	}, nil)
	return t.test(spirv.OpIEqual, t.Value(spirv.OpLoad, t.u32(), left), t.word(0))
}

// waitInBlock is what a thread does in each round that it waits for its block at a barrier.
func (t *translator) waitInBlock() { t.count(threadsWait) }

// blockWaits returns whether all threads of the block waited at a barrier in the last round, or had ended.
func (t *translator) blockWaits() spirv.ID {
	return t.test(spirv.OpIEqual, t.seen(t.blockWord, threadsWait), t.word(uint32(t.threads())))
}

// haveEnded returns whether all threads of the cluster had ended in the last round.
func (t *translator) haveEnded() spirv.ID {
	return t.test(spirv.OpIEqual, t.seen(t.blockWord, threadsEnded), t.word(uint32(t.threads()*t.blockCount())))
}

// stayAway is what a thread that has ended does in each round.
func (t *translator) stayAway() {
	t.mark(laneWaits, 0)
	t.mark(laneEnded, 0)
	t.count(threadsWait)
	t.count(threadsEnded)
}
