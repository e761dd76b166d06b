package ptx

import (
	"math"

	"github.com/gopherwarp/gopherwarp/device/driver"
)

// gridBarrier selects a barrier of all blocks, for which PTX has no instruction: one thread of
// each block counts it in the environment and waits for the others. The first block adds what
// makes the sum of all 1<<31, so that the top bit changes when the last has come, and the bits below
// are 0 again. A thread that waits looks for a fault of any thread of the grid, which might never come;
// then its block leaves the kernel.
func (s *selector) gridBarrier() {
	env := s.hidden(b64, driver.HiddenEnv)
	leader := s.elect()
	arrive, spin, poll, join, stop, done := &block{}, &block{}, &block{}, &block{}, &block{}, &block{}
	stops := []operand{imm(0), imm(0), imm(1)}

	s.reach(leader, arrive, join)
	s.open(arrive)
	old := operand{reg: s.out.newReg(b32)}
	s.emit(inst{op: "atom.acq_rel.gpu.global.add.u32", form: access, dst: old.reg, args: []operand{env, s.blockShare()}, offset: driver.EnvGrid})
	s.reach(operand{}, spin)

	s.open(spin)
	now := s.load("ld.acquire.gpu.global.u32", b32, address{env, driver.EnvGrid})
	s.reach(s.def(pred, "setp.lt.s32", s.def(b32, "xor.b32", now, old), imm(0)), join, poll)

	s.open(poll)
	claim := s.load("ld.relaxed.gpu.global.u32", b32, address{env, driver.EnvClaim})
	s.reach(s.def(pred, "setp.eq.u32", claim, imm(0)), spin, join)

	s.open(join)
	stopped := s.out.newReg(pred)
	join.phis = []phi{{dst: stopped, args: stops}}
	s.reach(s.placed("bar.red.or.pred", pred, imm(0), operand{reg: stopped}), stop, done)
	s.open(stop)
	stop.end, stop.pos = toExit, s.pos
	s.open(done)
}

// blockShare returns what this block adds to the count.
func (s *selector) blockShare() operand {
	special := func(name string) operand { return s.def(b32, "mov.u32", operand{text: name}) }
	blocks := s.def(b32, "mul.lo.s32", special("%nctaid.x"), special("%nctaid.y"))
	blocks = s.def(b32, "mul.lo.s32", blocks, special("%nctaid.z"))
	rest := s.def(b32, "sub.s32", imm(math.MinInt32+1), blocks)
	index := s.def(b32, "or.b32", s.def(b32, "or.b32", special("%ctaid.x"), special("%ctaid.y")), special("%ctaid.z"))
	first := s.def(pred, "setp.eq.u32", index, imm(0))
	return s.def(b32, "selp.b32", rest, imm(1), first)
}

// elect waits for all threads of the block that have not left, and returns whether this thread is
// the one that was chosen: the lowest of the first warp that has threads.
func (s *selector) elect() operand {
	special := func(name string) operand { return s.def(b32, "mov.u32", operand{text: name}) }
	row := s.def(b32, "mad.lo.s32", special("%tid.z"), special("%ntid.y"), special("%tid.y"))
	thread := s.def(b32, "mad.lo.s32", row, special("%ntid.x"), special("%tid.x"))
	warp := s.def(b32, "shr.u32", thread, imm(5))
	lanes := s.placed("vote.sync.ballot.b32", b32, s.inReg(pred, imm(1)), allLanes)
	lowest := s.def(pred, "setp.eq.u32", s.def(b32, "and.b32", lanes, special("%lanemask_lt")), imm(0))
	zero := s.inReg(b32, imm(0))

	head, loop, done := s.at, &block{}, &block{}
	s.jump(loop)
	s.open(loop)
	w := operand{reg: s.out.newReg(b32)}
	chosen := s.def(pred, "and.pred", s.def(pred, "setp.eq.u32", warp, w), lowest)
	found := s.placed("bar.red.or.pred", pred, imm(0), chosen)
	next := s.def(b32, "add.s32", w, imm(1))
	loop.phis = []phi{{dst: w.reg, args: []operand{zero, next}}}
	loop.preds = []*block{head, loop}
	s.branch(found, done, loop)
	done.preds = []*block{loop}
	s.open(done)
	return chosen
}
