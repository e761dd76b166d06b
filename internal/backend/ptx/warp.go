package ptx

import "github.com/gopherwarp/gopherwarp/internal/ir"

// allLanes is the member mask of every operation of a warp: all threads. From sm_70 on these
// operations wait for the threads of the mask that have not exited (ISA, shfl.sync, and likewise the
// others), so a thread that has left, or that a last warp does not have, is never waited
// for; and threads that branched apart meet again here, whatever way they came.
var allLanes = operand{text: "0xffffffff"}

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
		s.emit(inst{op: "bar.warp.sync", args: []operand{allLanes}})
	case ir.OpBallot:
		s.vals[v.ID] = s.placed("vote.sync.ballot.b32", b32, s.inReg(pred, s.operand(v.Args[0])), allLanes)
	case ir.OpMatch:
		c := classOf(v.Args[0].Type)
		s.vals[v.ID] = s.placed("match.any.sync.b"+bitsOfClass(c), b32, s.inReg(c, s.operand(v.Args[0])), allLanes)
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
	exchange := func(c class, x operand) operand { return s.placed("shfl.sync."+mode+".b32", c, x, by, limit, allLanes) }
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
