package ptx

import (
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// hidden loads a hidden parameter.
func (s *selector) hidden(c class, offset int64) operand {
	return s.param(c, ".u"+bitsOfClass(c), int64(s.f.ParamBytes)-driver.HiddenBytes+offset)
}

// record fills the record at rec, all but its size, which finish writes. Where a thread does
// several elements, element is the one that the record is about.
func (s *selector) record(rec, site, element operand, args []operand) {
	at := func(offset int64) address { return address{rec, offset} }
	where := func(name string) operand { return s.def(b32, "mov.u32", operand{text: name}) }
	s.store("st.global.u32", at(driver.RecordLaunch), s.hidden(b32, driver.HiddenLaunch))
	s.storePair(at(driver.RecordKernel), s.hidden(b32, driver.HiddenKernel), site)
	s.storePair(at(driver.RecordBlock), s.whereX(element, "%ctaid.x", "div.u32"), where("%ctaid.y"))
	s.storePair(at(driver.RecordBlock+8), where("%ctaid.z"), s.whereX(element, "%tid.x", "rem.u32"))
	s.storePair(at(driver.RecordThread+4), where("%tid.y"), where("%tid.z"))
	for i, a := range args {
		s.store("st.global.u64", at(driver.RecordArgs+8*int64(i)), a)
	}
}

// whereX returns the index of the block or of the thread along x: by op what it is for the
// element, else that of the thread that runs.
func (s *selector) whereX(element operand, name, op string) operand {
	if element == (operand{}) {
		return s.def(b32, "mov.u32", operand{text: name})
	}
	return s.def(b32, op, element, s.def(b32, "mov.u32", operand{text: "%ntid.x"}))
}

// finish makes the record at rec valid: a host that sees its size sees all of it.
func (s *selector) finish(rec operand, args int) {
	s.emit(inst{op: "fence.acq_rel.sys"})
	s.store("st.volatile.global.u32", address{rec, driver.RecordSize}, imm(driver.RecordArgs+8*int64(args)))
}

// recordArg returns v as a record holds it: 64 bits, extended by the sign of t.
func (s *selector) recordArg(v *ir.Value, t dtype.Type) operand {
	signed := t >= dtype.Int8 && t <= dtype.Int64
	if c, ok := s.constant(v); ok {
		if !signed && v.Type.Bits() < 64 {
			c &= mask(v.Type)
		}
		return imm(c)
	}
	o := s.operand(v)
	switch v.Type.Kind {
	case ir.KindF32:
		return s.def(b64, "cvt.u64.u32", s.def(b32, "mov.b32", o))
	case ir.KindF64:
		return s.def(b64, "mov.b64", o)
	case ir.KindPtr:
		return s.toGeneric(v)
	case ir.KindI64:
		return o
	}
	if signed {
		return s.def(b64, "cvt.s64.s32", s.extended(v, true))
	}
	return s.def(b64, "cvt.u64.u32", s.extended(v, false))
}

func (s *selector) recordArgs(args []*ir.Value, types []dtype.Type) []operand {
	out := make([]operand, len(args))
	for i, a := range args {
		out[i] = s.recordArg(a, types[i])
	}
	return out
}

// print selects a print: the thread reserves room for its record and fills it, or counts it
// as lost. It looks before it reserves, so that the head cannot run over from threads
// that print in a loop.
func (s *selector) print(v *ir.Value) {
	n := len(v.Args)
	size := imm(driver.RecordArgs + 8*int64(n))
	reserve, write, lost, done := &block{}, &block{}, &block{}, &block{}

	env := s.hidden(b64, driver.HiddenEnv)
	room := s.load("ld.global.u32", b32, address{env, driver.EnvPrintSize})
	head := s.load("ld.volatile.global.u32", b32, address{env, driver.EnvPrintHead})
	s.reach(s.def(pred, "setp.gt.u32", s.def(b32, "add.s32", head, size), room), lost, reserve)

	s.open(reserve)
	old := operand{reg: s.out.newReg(b32)}
	s.emit(inst{op: "atom.relaxed.gpu.global.add.u32", form: access, dst: old.reg, args: []operand{env, size}, offset: driver.EnvPrintHead})
	s.reach(s.def(pred, "setp.gt.u32", s.def(b32, "add.s32", old, size), room), lost, write)

	s.open(write)
	prints := s.load("ld.global.u64", b64, address{env, driver.EnvPrints})
	rec := s.def(b64, "add.s64", prints, s.def(b64, "cvt.u64.u32", old))
	s.record(rec, imm(int64(s.sites.index[v])), operand{}, s.recordArgs(v.Args, v.Aux.(*ir.Site).Args))
	s.finish(rec, n)
	s.reach(operand{}, done)

	s.open(lost)
	s.store("red.relaxed.gpu.global.add.u32", address{env, driver.EnvPrintLost}, imm(1))
	s.reach(operand{}, done)
	s.open(done)
}

// reach ends the block with a jump or branch to blocks without phis.
func (s *selector) reach(cond operand, to ...*block) {
	for _, b := range to {
		b.preds = append(b.preds, s.at)
	}
	if len(to) == 1 {
		s.jump(to[0])
	} else {
		s.branch(cond, to[0], to[1])
	}
}
