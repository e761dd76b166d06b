package ptx

import "github.com/gopherwarp/gopherwarp/internal/ir"

// Clearing a variable by its leaves keeps stores and loads alike, so that ptxas can turn
// it into registers; larger ones are cleared 16 bytes at a time, the largest in a loop.
const (
	maxLeaves  = 64
	maxUnwound = 32 // stores of 16 bytes
)

// alloca selects the address of a variable of the thread, and clears it unless Imm is 1.
func (s *selector) alloca(v *ir.Value) {
	t := v.Aux.(*ir.Type)
	name := s.vars.newLocal(t)
	if v.Imm != 1 {
		s.clear(operand{text: name}, t)
	}
	s.symbol(v, address{base: operand{text: name}}, ir.Local)
}

func clearsWide(t *ir.Type) bool { return leafCount(t) > maxLeaves }

func leafCount(t *ir.Type) int64 {
	switch {
	case t.IsScalar():
		return 1
	case t.Kind == ir.KindArray:
		return t.Len * leafCount(t.Elem)
	}
	var n int64
	for _, f := range t.Fields {
		n += leafCount(f)
	}
	return n
}

// clear stores zeros to a local variable of type t.
func (s *selector) clear(name operand, t *ir.Type) {
	if !clearsWide(t) {
		s.clearLeaves(address{base: name}, t)
		return
	}
	wide := t.Size() / 16
	if wide > maxUnwound {
		s.clearLoop(name, wide)
	} else {
		for i := range wide {
			s.clear16(address{name, 16 * i})
		}
	}
	for at := 16 * wide; at < t.Size(); at++ {
		s.store("st.local.u8", address{name, at}, imm(0))
	}
}

func (s *selector) clearLeaves(at address, t *ir.Type) {
	if t.IsScalar() {
		zero := ir.I64
		if t.IsFloat() {
			zero = t
		}
		s.store("st.local"+memType(t), at, literal(zero, 0))
		return
	}
	for i := range t.NumParts() {
		s.clearLeaves(address{at.base, at.offset + t.PartOffset(i)}, t.Part(i))
	}
}

func (s *selector) clear16(at address) {
	zero := imm(0)
	s.emit(inst{op: "st.local.v4.u32", form: vector, args: []operand{at.base, zero, zero, zero, zero}, offset: at.offset})
}

// clearLoop clears n times 16 bytes.
func (s *selector) clearLoop(name operand, n int64) {
	start := s.inReg(b32, name)
	end := s.def(b32, "add.s32", start, imm(16*n))
	head, loop, done := s.at, &block{}, &block{}
	s.jump(loop)
	s.open(loop)
	at := operand{reg: s.out.newReg(b32)}
	s.clear16(address{base: at})
	next := s.def(b32, "add.s32", at, imm(16))
	loop.phis = []phi{{dst: at.reg, args: []operand{start, next}}}
	loop.preds = []*block{head, loop}
	s.branch(s.def(pred, "setp.lt.u32", next, end), loop, done)
	done.preds = []*block{loop}
	s.open(done)
}
