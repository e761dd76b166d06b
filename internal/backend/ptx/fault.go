package ptx

import (
	"fmt"
	"slices"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// A stub is where a faulting thread branches: it stores the number of the site and the values, and jumps to
// the code that all stubs share. Stubs follow the kernel's exit and load what they need themselves, so
// a check costs the main path its condition and a branch.
type stub struct {
	site int
	of   *ir.Value
	args []*ir.Value
	// element is what the thread was at where it does several; nil if it does one.
	element *ir.Value
	label   string
}

// types describes how the host reads the arguments.
func (t *stub) types() []dtype.Type { return t.of.Aux.(*ir.Site).Args }

// newStub returns the stub of v with the given arguments, which another check may share.
func (s *selector) newStub(v *ir.Value, args []*ir.Value) *stub {
	site := s.sites.index[v]
	var element *ir.Value
	if n := len(args) - 1; s.f.Coarse > 0 {
		element, args = args[n], args[:n]
	}
	for _, t := range s.stubs {
		if t.site == site && t.element == element && s.sameOperands(t.args, args) {
			return t
		}
	}
	t := &stub{site: site, of: v, args: args, element: element, label: fmt.Sprintf("$FAULT%d", len(s.stubs))}
	s.stubs = append(s.stubs, t)
	return t
}

func (s *selector) sameOperands(a, b []*ir.Value) bool {
	for i := range a {
		if s.operand(a[i]) != s.operand(b[i]) || !a[i].Type.Equal(b[i].Type) {
			return false
		}
	}
	return true
}

// check selects a check.
func (s *selector) check(v *ir.Value) {
	t := s.newStub(v, v.Args[1:])
	args := []operand{s.inReg(pred, s.operand(v.Args[0]))}
	for _, a := range v.Args[1:] {
		args = append(args, s.operand(a))
	}
	s.emit(inst{form: check, args: args, stub: t})
}

// faults selects the code after the exit: stubs, then what they share.
func (s *selector) faults() {
	if len(s.stubs) == 0 {
		return
	}
	p := s.newStubConvention()
	if p == nil {
		t := s.stubs[0]
		s.startColdBlock(t.label, t.of.Pos)
		s.claim(imm(int64(t.site)), s.element(t), s.recordArgs(t.args, t.types()))
		return
	}
	for i, t := range s.stubs {
		s.startColdBlock(t.label, t.of.Pos)
		s.pass(p, t)
		if i < len(s.stubs)-1 {
			s.emit(inst{op: "$FAULT", form: hop})
		}
	}
	s.startColdBlock("$FAULT", ir.Pos{})
	if p.site.reg == 0 {
		p.site = imm(int64(s.stubs[0].site))
	}
	first := s.stubs[0]
	if p.element.reg == 0 {
		p.element = s.element(first)
	}
	for i := range p.args {
		if p.args[i].reg == 0 {
			p.args[i] = s.recordArg(first.args[i], first.types()[i])
		}
	}
	s.claim(p.site, p.element, p.args)
}

// element returns which element the thread of a stub was at.
func (s *selector) element(t *stub) operand {
	if t.element == nil {
		return operand{}
	}
	return s.operand(t.element)
}

// A stubConvention is how stubs pass site and arguments to the code that they share: in registers, except
// for what is the same in all of them.
type stubConvention struct {
	site, element operand
	args          []operand
}

// newPassing returns nil if there is nothing to share.
func (s *selector) newStubConvention() *stubConvention {
	if len(s.stubs) == 1 {
		return nil
	}
	first, longest := s.stubs[0], 0
	p := &stubConvention{}
	for _, t := range s.stubs {
		longest = max(longest, len(t.args))
		if t.element != first.element && p.element.reg == 0 {
			p.element.reg = s.out.newReg(b32)
		}
		if t.site != first.site && p.site.reg == 0 {
			p.site.reg = s.out.newReg(b32)
		}
	}
	for i := range longest {
		var o operand
		if slices.ContainsFunc(s.stubs, func(t *stub) bool { return !s.sameArg(t, first, i) }) {
			o.reg = s.out.newReg(b64)
		}
		p.args = append(p.args, o)
	}
	return p
}

// sameArg reports whether the records of a and b have the same argument i.
func (s *selector) sameArg(a, b *stub, i int) bool {
	if i >= len(a.args) || i >= len(b.args) {
		return false
	}
	x, y := a.args[i], b.args[i]
	return s.operand(x) == s.operand(y) && x.Type.Equal(y.Type) && a.types()[i] == b.types()[i]
}

// startColdBlock starts a block after the exit.
func (s *selector) startColdBlock(label string, pos ir.Pos) {
	s.at, s.memo, s.pos = &block{label: label}, map[computation]reg{}, pos
	s.out.cold = append(s.out.cold, s.at)
}

// pass sets the registers that the shared code reads. Arguments that a stub lacks are zero:
// the host reads as many as the site has.
func (s *selector) pass(p *stubConvention, t *stub) {
	set := func(r operand, c class, o operand) {
		if r.reg != 0 {
			s.emit(inst{op: classes[c].move, dst: r.reg, args: []operand{o}})
		}
	}
	set(p.site, b32, imm(int64(t.site)))
	set(p.element, b32, s.element(t))
	for i, r := range p.args {
		switch {
		case r.reg == 0:
		case i < len(t.args):
			set(r, b64, s.recordArg(t.args[i], t.types()[i]))
		default:
			set(r, b64, imm(0))
		}
	}
}

// claim writes the fault record where this thread is the first of the stream to fault, and
// leaves.
func (s *selector) claim(site, element operand, args []operand) {
	env := s.hidden(b64, driver.HiddenEnv)
	taken := operand{reg: s.out.newReg(b32)}
	s.emit(inst{op: "atom.relaxed.gpu.global.cas.b32", form: access, dst: taken.reg, args: []operand{env, imm(0), imm(1)}, offset: driver.EnvClaim})
	s.emit(inst{op: exitLabel, form: hop, args: []operand{s.def(pred, "setp.ne.u32", taken, imm(0))}})
	rec := s.load("ld.global.u64", b64, address{env, driver.EnvRecord})
	s.record(rec, site, element, args)
	s.finish(rec, len(args))
	s.emit(inst{op: exitLabel, form: hop})
}
