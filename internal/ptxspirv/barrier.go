package ptxspirv

import (
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
	"github.com/gopherwarp/gopherwarp/internal/spirv"
)

// barrier emits a barrier of the block.
func (t *translator) barrier() {
	semantics := spirv.SemanticsAcquireRelease | spirv.SemanticsUniformMemory | spirv.SemanticsWorkgroupMemory
	t.Emit(spirv.OpControlBarrier, t.word(spirv.ScopeWorkgroup), t.word(spirv.ScopeWorkgroup), t.word(uint32(semantics)))
}

// barriers translates bar.sync 0 and bar.red, which also combines a predicate of all threads.
func (t *translator) barriers() {
	t.barrier()
	if t.has("red") {
		t.clearVotes()
		t.barrier()
		t.addVote()
		t.barrier()
		t.readVotes()
	}
}

// votes returns a pointer to the word in which bar.red counts the threads of a block.
func (t *translator) votes() spirv.ID {
	if t.scratch == 0 {
		t.scratch = t.words(spirv.StorageWorkgroup, 4*t.blockCount())
	}
	return t.wordIn(spirv.StorageWorkgroup, t.scratch, t.rank())
}

// clearVotes begins bar.red. A barrier separates it from the last use of the word.
func (t *translator) clearVotes() {
	t.Emit(spirv.OpAtomicStore, t.votes(), t.word(spirv.ScopeWorkgroup), t.word(0), t.word(0))
}

// addVote counts the thread if its predicate holds or, to find whether that of all threads does, if it does not.
func (t *translator) addVote() {
	c := t.operand(t.in.Args[len(t.in.Args)-1], ptx.Pred)
	if t.has("and") {
		c = t.op(spirv.OpLogicalNot, ptx.Pred, c)
	}
	if t.gone != 0 { // shadows do not vote
		c = t.op(spirv.OpLogicalAnd, ptx.Pred, c, t.op(spirv.OpLogicalNot, ptx.Pred, t.isGone()))
	}
	one := t.choose(ptx.U32, c, t.word(1), t.word(0))
	t.op(spirv.OpAtomicIAdd, ptx.U32, t.votes(), t.word(spirv.ScopeWorkgroup), t.word(0), one)
}

// readVotes stores the result of bar.red.
func (t *translator) readVotes() {
	sum := t.op(spirv.OpAtomicLoad, ptx.U32, t.votes(), t.word(spirv.ScopeWorkgroup), t.word(0))
	switch {
	case t.has("popc"):
		t.result(ptx.U32, sum)
	case t.has("and"):
		t.result(ptx.Pred, t.test(spirv.OpIEqual, sum, t.word(0)))
	default:
		t.result(ptx.Pred, t.test(spirv.OpINotEqual, sum, t.word(0)))
	}
}
