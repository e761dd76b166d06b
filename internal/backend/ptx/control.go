package ptx

import "github.com/gopherwarp/gopherwarp/internal/ir"

// leave selects a terminator.
func (s *selector) leave(v *ir.Value) {
	if s.polls[v.Block.ID] && len(s.sites.sites) > 0 { // without sites nobody faults
		s.poll()
	}
	succs := v.Block.Succs
	switch v.Op {
	case ir.OpJump:
		s.jump(s.first[succs[0].ID])
	case ir.OpIf:
		cond, yes, no := v.Args[0], s.first[succs[0].ID], s.first[succs[1].ID]
		for isNot(cond) { // the targets change places instead
			cond, yes, no = cond.Args[0], no, yes
		}
		s.branch(s.inReg(pred, s.operand(cond)), yes, no)
	case ir.OpRet:
		s.at.end, s.at.pos = toExit, s.pos
	case ir.OpFault:
		s.at.end, s.at.pos = toFault, s.pos
		s.at.stub = s.newStub(v, v.Args)
		for _, a := range v.Args {
			if r := s.operand(a).reg; r != 0 {
				s.at.stubRegs = append(s.at.stubRegs, r)
			}
		}
	}
}

// isNot reports whether v is the opposite of its first argument.
func isNot(v *ir.Value) bool {
	return v.Op == ir.OpXor && v.Type.Kind == ir.KindI1 && v.Args[1].Op == ir.OpConst && v.Args[1].Imm != 0
}

// jump ends the block with a jump.
func (s *selector) jump(to *block) {
	s.at.end, s.at.succs, s.at.pos = toNext, []*block{to}, s.pos
}

// branch ends the block with a branch.
func (s *selector) branch(cond operand, yes, no *block) {
	s.at.end, s.at.succs, s.at.pos = branch, []*block{yes, no}, s.pos
	s.at.cond = cond
}
