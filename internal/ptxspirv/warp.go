package ptxspirv

import (
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
	"github.com/gopherwarp/gopherwarp/internal/spirv"
)

// warpLanes is the number of lanes of a warp, of which a subgroup must have as many.
const warpLanes = 32

// warp declares that the kernel uses operations of warps.
func (t *translator) warp(capability uint32) bool {
	if t.options.Subgroup != warpLanes {
		t.fail("%s needs subgroups of %d lanes, the device has %d", t.in, warpLanes, t.options.Subgroup)
		return false
	}
	t.Capability(spirv.CapabilityGroupNonUniform)
	t.Capability(capability)
	return true
}

func (t *translator) subgroup() spirv.ID { return t.word(spirv.ScopeSubgroup) }

// lane returns the thread's number in its subgroup.
func (t *translator) lane() spirv.ID {
	return t.op(spirv.OpBitwiseAnd, ptx.U32, t.linear(), t.word(warpLanes-1))
}

// shuffle translates shfl.sync: it reads a register of another lane (section 9.7.9.6 of the manual of PTX).
func (t *translator) shuffle() {
	if !t.warp(spirv.CapabilityGroupNonUniformShuffle) {
		return
	}
	value := t.arg(1, ptx.B32)
	from, inside := t.source()
	t.shuffled(t.op(spirv.OpGroupNonUniformShuffle, ptx.U32, t.subgroup(), value, from), inside)
}

// source returns the lane that shfl.sync reads, and whether that is the lane that the operands select. Otherwise it is the thread's own.
func (t *translator) source() (from, inside spirv.ID) {
	u := func(op spirv.Op, a, b spirv.ID) spirv.ID { return t.op(op, ptx.U32, a, b) }
	by, clamp := u(spirv.OpBitwiseAnd, t.arg(2, ptx.B32), t.word(31)), t.arg(3, ptx.B32)
	lane := t.lane()
	segment := u(spirv.OpBitwiseAnd, u(spirv.OpShiftRightLogical, clamp, t.word(8)), t.word(31))
	low := u(spirv.OpBitwiseAnd, lane, segment)
	rest := u(spirv.OpBitwiseAnd, clamp, u(spirv.OpBitwiseAnd, t.op(spirv.OpNot, ptx.U32, segment), t.word(31)))
	last := u(spirv.OpBitwiseOr, low, rest)
	switch {
	case t.has("up"):
		from = u(spirv.OpISub, lane, by)
		inside = t.test(spirv.OpSGreaterThanEqual, from, last)
	case t.has("down"):
		from = u(spirv.OpIAdd, lane, by)
		inside = t.test(spirv.OpSLessThanEqual, from, last)
	case t.has("bfly"):
		from = u(spirv.OpBitwiseXor, lane, by)
		inside = t.test(spirv.OpSLessThanEqual, from, last)
	default:
		from = u(spirv.OpBitwiseOr, low, u(spirv.OpBitwiseAnd, by, t.op(spirv.OpNot, ptx.U32, segment)))
		inside = t.test(spirv.OpSLessThanEqual, from, last)
	}
	return t.choose(ptx.U32, inside, from, lane), inside
}

// shuffled stores the results of shfl.sync.
func (t *translator) shuffled(v, inside spirv.ID) {
	to := t.in.Args[0]
	if to.Kind == ptx.PairOperand {
		t.assign(to.Elems[1], ptx.Pred, inside)
		to = to.Elems[0]
	}
	t.assign(to, ptx.B32, v)
}

// vote translates vote.sync. The lanes that take part are those of its mask, of which all have arrived.
func (t *translator) vote() {
	if !t.warp(spirv.CapabilityGroupNonUniformBallot) {
		return
	}
	mask := t.operand(t.in.Args[2], ptx.B32)
	t.voted(t.op(spirv.OpBitwiseAnd, ptx.U32, t.ballot(t.operand(t.in.Args[1], ptx.Pred)), mask), mask)
}

// voted stores the result of vote.sync for the lanes whose conditions hold, of those that take part.
func (t *translator) voted(votes, mask spirv.ID) {
	switch {
	case t.has("ballot"):
		t.result(ptx.B32, votes)
	case t.has("any"):
		t.result(ptx.Pred, t.test(spirv.OpINotEqual, votes, t.word(0)))
	case t.has("all"):
		t.result(ptx.Pred, t.test(spirv.OpIEqual, votes, mask))
	default:
		t.fail("%s", t.in)
	}
}

// ballot returns the lanes for which a condition holds.
func (t *translator) ballot(c spirv.ID) spirv.ID {
	vector := t.Type(spirv.OpTypeVector, t.u32(), 4)
	return t.Value(spirv.OpCompositeExtract, t.u32(), t.Value(spirv.OpGroupNonUniformBallot, vector, t.subgroup(), c), 0)
}

// activeMask translates activemask.
func (t *translator) activeMask() {
	if t.warp(spirv.CapabilityGroupNonUniformBallot) {
		t.result(ptx.B32, t.ballot(t.Global(spirv.OpConstantTrue, t.boolean())))
	}
}

// reduce translates redux.sync.
func (t *translator) reduce() {
	if !t.warp(spirv.CapabilityGroupNonUniformArithmetic) {
		return
	}
	op, _ := t.reduction()
	typ := t.typ(0)
	t.result(typ, t.op(op, typ, t.subgroup(), spirv.GroupReduce, t.arg(1, typ)))
}

// reduction returns the operation of a subgroup for redux.sync, and what emits it for two values.
func (t *translator) reduction() (group spirv.Op, pair func(a, b spirv.ID) spirv.ID) {
	signed := t.typ(0).Class() == ptx.Signed
	of := func(op uint32) func(a, b spirv.ID) spirv.ID {
		return func(a, b spirv.ID) spirv.ID { return t.Extended(op, t.u32(), a, b) }
	}
	plain := func(op spirv.Op) func(a, b spirv.ID) spirv.ID {
		return func(a, b spirv.ID) spirv.ID { return t.op(op, ptx.U32, a, b) }
	}
	switch {
	case t.has("add"):
		return spirv.OpGroupNonUniformIAdd, plain(spirv.OpIAdd)
	case t.has("min") && signed:
		return spirv.OpGroupNonUniformSMin, of(spirv.GLSLSMin)
	case t.has("min"):
		return spirv.OpGroupNonUniformUMin, of(spirv.GLSLUMin)
	case t.has("max") && signed:
		return spirv.OpGroupNonUniformSMax, of(spirv.GLSLSMax)
	case t.has("max"):
		return spirv.OpGroupNonUniformUMax, of(spirv.GLSLUMax)
	case t.has("and"):
		return spirv.OpGroupNonUniformBitwiseAnd, plain(spirv.OpBitwiseAnd)
	case t.has("or"):
		return spirv.OpGroupNonUniformBitwiseOr, plain(spirv.OpBitwiseOr)
	}
	return spirv.OpGroupNonUniformBitwiseXor, plain(spirv.OpBitwiseXor)
}

// match translates match.any.sync: it returns the lanes that have the same value, by asking for each distinct one.
func (t *translator) match() {
	if !t.has("any") {
		t.fail("%s", t.in)
		return
	}
	if !t.warp(spirv.CapabilityGroupNonUniformBallot) {
		return
	}
	typ := t.typ(0)
	v := t.arg(1, typ)
	found := t.Local(t.pointer(spirv.StorageFunction, t.u32()))
	t.repeat(variable{found, ptx.U32}, func() spirv.ID {
		first := t.op(spirv.OpGroupNonUniformBroadcastFirst, typ, t.subgroup(), v)
		same := t.test(spirv.OpIEqual, first, v)
		t.Emit(spirv.OpStore, found, t.ballot(same))
		return t.op(spirv.OpLogicalNot, ptx.Pred, same)
	})
	t.result(ptx.B32, t.op(spirv.OpBitwiseAnd, ptx.U32, t.Value(spirv.OpLoad, t.u32(), found), t.arg(2, ptx.B32)))
}

// warpBarrier translates bar.warp.sync.
func (t *translator) warpBarrier() {
	if t.options.Subgroup != warpLanes {
		t.fail("%s needs subgroups of %d lanes, the device has %d", t.in, warpLanes, t.options.Subgroup)
		return
	}
	semantics := spirv.SemanticsAcquireRelease | spirv.SemanticsUniformMemory | spirv.SemanticsWorkgroupMemory
	t.Emit(spirv.OpControlBarrier, t.subgroup(), t.subgroup(), t.word(uint32(semantics)))
}

// copyAsync translates cp.async of 4, 8 or 16 bytes as a copy that is done at once. Bytes past a size that is given as the last operand
// become 0.
func (t *translator) copyAsync() {
	if t.has("commit_group") || t.has("wait_group") || t.has("wait_all") {
		return
	}
	if t.has("bulk") || len(t.in.Args) < 3 {
		t.fail("%s", t.in)
		return
	}
	to, from := t.placeIn(0, ptx.Shared), t.placeIn(1, ptx.Global)
	n, ok := t.in.Args[2].As(ptx.U32)
	if !ok || n%4 != 0 || n > 16 {
		t.fail("%s of %d bytes", t.in, n)
		return
	}
	if len(t.in.Args) == 3 {
		t.storeAll(to, 4, t.loadAll(from, ptx.B32, int(n/4)))
		return
	}
	for at := 0; at < int(n); at += 4 {
		t.write(t.beyond(to, at), 4, t.loadPart(t.beyond(from, at), t.arg(3, ptx.U32), at))
	}
}

// loadPart returns the word at an offset in a piece of memory of a size, without the bytes past its end.
func (t *translator) loadPart(p place, size spirv.ID, at int) spirv.ID {
	word := t.Local(t.pointer(spirv.StorageFunction, t.u32()))
	t.Emit(spirv.OpStore, word, t.word(0))
	t.when(t.test(spirv.OpUGreaterThan, size, t.word(uint32(at))), func() bool {
		left := t.op(spirv.OpISub, ptx.U32, size, t.word(uint32(at)))
		bits := t.op(spirv.OpShiftLeftLogical, ptx.U32, t.Extended(spirv.GLSLUMin, t.u32(), left, t.word(4)), t.word(3))
		v := t.loadAll(p, ptx.B32, 1)[0]
		t.Emit(spirv.OpStore, word, t.op(spirv.OpBitFieldUExtract, ptx.U32, v, t.word(0), bits))
		return true
	}, nil)
	return t.Value(spirv.OpLoad, t.u32(), word)
}
