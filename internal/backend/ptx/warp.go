package ptx

import "github.com/gopherwarp/gopherwarp/internal/ir"

// allLanes is the member mask of the operations of a warp that name no set of lanes: all threads. From sm_70 on these
// operations wait for the threads of the mask that have not exited (ISA, shfl.sync, and likewise the
// others), so a thread that has left, or that a last warp does not have, is never waited
// for; and threads that branched apart meet again here, whatever way they came.
var allLanes = operand{text: "0xffffffff"}

// members returns the mask of the threads that v waits for.
func (s *selector) members(v *ir.Value) operand {
	if set := v.Lanes(); set != nil {
		return s.operand(set)
	}
	return allLanes
}

// barrier selects a barrier of the block. Without a count it waits for the threads that have
// not exited (ISA, bar).
func (s *selector) barrier(v *ir.Value) {
	op, c := "", pred
	switch v.Op {
	case ir.OpBarrier:
		s.emit(inst{op: "bar.sync", args: []operand{imm(0)}})
		return
	case ir.OpBarrierCount:
		op, c = "bar.red.popc.u32", b32
	case ir.OpBarrierAnd:
		op = "bar.red.and.pred"
	case ir.OpBarrierOr:
		op = "bar.red.or.pred"
	}
	s.vals[v.ID] = s.placed(op, c, imm(0), s.inReg(pred, s.operand(v.Args[0])))
}

// placed adds an operation that must stay in its place, and returns its result.
func (s *selector) placed(op string, c class, args ...operand) operand {
	r := s.out.newReg(c)
	s.emit(inst{op: op, dst: r, args: args})
	return operand{reg: r}
}

// lane reads the index in the warp. In a block of one dimension it is that in the block, modulo
// 32; threads are numbered with x counting fastest.
func (s *selector) lane() operand {
	if d := s.f.Block; d[0] > 0 && d[1] <= 1 && d[2] <= 1 {
		return s.def(b32, "and.b32", s.def(b32, "mov.u32", operand{text: "%tid.x"}), imm(31))
	}
	return s.def(b32, "mov.u32", operand{text: "%laneid"})
}

// warp selects an operation of the threads of a warp.
func (s *selector) warp(v *ir.Value) {
	switch v.Op {
	case ir.OpWarpBarrier:
		s.emit(inst{op: "bar.warp.sync", args: []operand{s.members(v)}})
	case ir.OpBallot:
		s.vals[v.ID] = s.placed("vote.sync.ballot.b32", b32, s.inReg(pred, s.operand(v.Args[0])), s.members(v))
	case ir.OpMatch:
		c := classOf(v.Args[0].Type)
		s.vals[v.ID] = s.placed("match.any.sync.b"+bitsOfClass(c), b32, s.inReg(c, s.operand(v.Args[0])), s.members(v))
	default:
		s.vals[v.ID] = s.shuffle(v)
	}
}

// shuffle selects an exchange of values. Those of 64 bits go in two halves.
func (s *selector) shuffle(v *ir.Value) operand {
	mode := map[ir.Op]string{ir.OpShuffle: "idx", ir.OpShuffleUp: "up", ir.OpShuffleDown: "down", ir.OpShuffleXor: "bfly"}[v.Op]
	limit := imm(31) // the highest lane that is read
	if v.Op == ir.OpShuffleUp {
		limit = imm(0) // the lowest one
	}
	c := classOf(v.Type)
	x, by := s.inReg(c, s.operand(v.Args[0])), s.operand(v.Args[1])
	exchange := func(c class, x operand) operand {
		return s.placed("shfl.sync."+mode+".b32", c, x, by, limit, s.members(v))
	}
	if c == b32 || c == f32 {
		return exchange(c, x)
	}
	if c == f64 {
		x = s.def(b64, "mov.b64", x)
	}
	low := exchange(b32, s.def(b32, "cvt.u32.u64", x))
	high := exchange(b32, s.def(b32, "cvt.u32.u64", s.def(b64, "shr.u64", x, imm(32))))
	r := s.out.newReg(c)
	s.emit(inst{op: "mov.b64", form: pack, pure: true, dst: r, args: []operand{low, high}})
	return operand{reg: r}
}

// reductions are the names of the operations that combine numbers of 32 bits.
var reductions = [...]string{
	ir.ReduceAdd: "add.s32", ir.ReduceSMin: "min.s32", ir.ReduceUMin: "min.u32", ir.ReduceSMax: "max.s32", ir.ReduceUMax: "max.u32",
	ir.ReduceAnd: "and.b32", ir.ReduceOr: "or.b32", ir.ReduceXor: "xor.b32",
}

// warpReduce selects a reduction: an instruction from sm_80 on. Without it each thread of a full warp combines its
// number with that of a partner, five times; where threads are missing, with those that are there.
func (s *selector) warpReduce(v *ir.Value) operand {
	op, x, members := reductions[v.Imm], s.inReg(b32, s.operand(v.Args[0])), s.members(v)
	if atLeast(s.target, better[ir.OpWarpReduce]) {
		return s.placed("redux.sync."+op, b32, x, members)
	}
	shuffled := func(mode string, x, by operand) operand {
		return s.placed("shfl.sync."+mode+".b32", b32, x, by, imm(31), members)
	}
	lowest := func(set operand) operand { return s.def(b32, "clz.b32", s.def(b32, "brev.b32", set)) }
	without := func(set operand) operand {
		return s.def(b32, "and.b32", set, s.def(b32, "sub.s32", set, imm(1)))
	}
	lanes := s.placed("vote.sync.ballot.b32", b32, s.inReg(pred, imm(1)), members)
	full, part, test, next, done := &block{}, &block{}, &block{}, &block{}, &block{}
	s.reach(s.def(pred, "setp.eq.s32", lanes, imm(-1)), full, part)

	s.open(full)
	all := x
	for distance := int64(16); distance > 0; distance /= 2 {
		all = s.def(b32, op, all, shuffled("bfly", all, imm(distance)))
	}
	s.reach(operand{}, done)

	s.open(part)
	first, rest := shuffled("idx", x, lowest(lanes)), without(lanes)
	s.reach(operand{}, test)
	s.open(test)
	sum, left := operand{reg: s.out.newReg(b32)}, operand{reg: s.out.newReg(b32)}
	s.reach(s.def(pred, "setp.eq.s32", left, imm(0)), done, next)
	s.open(next)
	more := s.def(b32, op, sum, shuffled("idx", x, lowest(left)))
	fewer := without(left)
	s.reach(operand{}, test)
	test.phis = []phi{{dst: sum.reg, args: []operand{first, more}}, {dst: left.reg, args: []operand{rest, fewer}}}

	s.open(done)
	result := operand{reg: s.out.newReg(b32)}
	done.phis = []phi{{dst: result.reg, args: []operand{all, sum}}}
	return result
}
