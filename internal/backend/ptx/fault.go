package ptx

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// stub is where a thread goes that faults: it says at which site and with which values, and
// goes on to the code that all stubs share. Stubs stand behind the kernel's exit and load
// what they need themselves, so a check costs the main path its condition and a branch.
type stub struct {
	site  int
	of    *ir.Value
	args  []*ir.Value
	label string
}

// newStub returns the stub of v with the given arguments, which another check may share.
func (s *selector) newStub(v *ir.Value, args []*ir.Value) *stub {
	site := s.sites.index[v]
	for _, t := range s.stubs {
		if t.site == site && s.sameOperands(t.args, args) {
			return t
		}
	}
	t := &stub{site: site, of: v, args: args, label: fmt.Sprintf("$FAULT%d", len(s.stubs))}
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
	args := []operand{s.inReg(pred, s.operand(v.Args[0]))}
	for _, a := range v.Args[1:] {
		args = append(args, s.operand(a))
	}
	s.emit(inst{form: check, args: args, stub: s.newStub(v, v.Args[1:])})
}

// faults selects the code behind the exit: stubs, then what they share.
func (s *selector) faults() {
	if len(s.stubs) == 0 {
		return
	}
	if len(s.stubs) == 1 {
		t := s.stubs[0]
		s.cold(t.label, t.of.Pos)
		s.claim(imm(int64(t.site)), s.stubArgs(t))
		return
	}
	site := operand{reg: s.out.newReg(b32)}
	var args []operand
	for _, t := range s.stubs {
		for len(args) < len(t.args) {
			args = append(args, operand{reg: s.out.newReg(b64)})
		}
	}
	for i, t := range s.stubs {
		s.cold(t.label, t.of.Pos)
		s.pass(site, args, t)
		if i < len(s.stubs)-1 {
			s.emit(inst{op: "$FAULT", form: hop})
		}
	}
	s.cold("$FAULT", ir.Pos{})
	s.claim(site, args)
}

// cold starts a block behind the exit.
func (s *selector) cold(label string, pos ir.Pos) {
	s.at, s.memo, s.pos = &block{label: label}, map[string]reg{}, pos
	s.out.cold = append(s.out.cold, s.at)
}

func (s *selector) stubArgs(t *stub) []operand {
	return s.recordArgs(t.args, t.of.Aux.(*ir.Site).Args)
}

// pass sets the registers that the shared code reads. Arguments that a stub lacks are zero:
// the host reads as many as the site has.
func (s *selector) pass(site operand, args []operand, t *stub) {
	set := func(r operand, c class, o operand) {
		s.emit(inst{op: classes[c].move, dst: r.reg, args: []operand{o}})
	}
	set(site, b32, imm(int64(t.site)))
	given := s.stubArgs(t)
	for i, r := range args {
		if i < len(given) {
			set(r, b64, given[i])
		} else {
			set(r, b64, imm(0))
		}
	}
}

// claim writes the fault record where this thread is the first of the stream to fault, and
// leaves.
func (s *selector) claim(site operand, args []operand) {
	env := s.hidden(b64, device.HiddenEnv)
	taken := operand{reg: s.out.newReg(b32)}
	s.emit(inst{op: "atom.relaxed.gpu.global.cas.b32", form: access, dst: taken.reg, args: []operand{env, imm(0), imm(1)}, offset: device.EnvClaim})
	s.emit(inst{op: exitLabel, form: hop, args: []operand{s.def(pred, "setp.ne.u32", taken, imm(0))}})
	rec := s.load("ld.global.u64", b64, place{env, device.EnvRecord})
	s.record(rec, site, args)
	s.finish(rec, len(args))
	s.emit(inst{op: exitLabel, form: hop})
}
