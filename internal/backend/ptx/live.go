package ptx

import "slices"

// regSet is a set of registers.
type regSet []uint64

func newRegSet(n int) regSet { return make(regSet, (n+63)/64) }

func (s regSet) has(r reg) bool { return s[r/64]&(1<<(r%64)) != 0 }
func (s regSet) add(r reg)      { s[r/64] |= 1 << (r % 64) }
func (s regSet) remove(r reg)   { s[r/64] &^= 1 << (r % 64) }

// addAll adds the elements of t and reports whether any was new.
func (s regSet) addAll(t regSet) bool {
	grew := false
	for i, w := range t {
		grew = grew || w&^s[i] != 0
		s[i] |= w
	}
	return grew
}

// liveness describes which registers are needed later, while registers are written once. A phi's
// argument is read at the end of its predecessor, the phi is written where its block begins.
type liveness struct {
	f       *function
	in, out []regSet // by block index; in without the block's phis
	home    []*block // where a register is written
	at      []int    // and by which instruction; -1 for a phi
}

func newLiveness(f *function) *liveness {
	l := &liveness{f: f, home: make([]*block, len(f.regs)), at: make([]int, len(f.regs))}
	for _, b := range f.blocks {
		l.in = append(l.in, newRegSet(len(f.regs)))
		l.out = append(l.out, newRegSet(len(f.regs)))
		l.locate(b)
	}
	for changed := true; changed; {
		changed = false
		for i := len(f.blocks) - 1; i >= 0; i-- {
			changed = l.flow(f.blocks[i]) || changed
		}
	}
	return l
}

func (l *liveness) locate(b *block) {
	for _, p := range b.phis {
		l.home[p.dst], l.at[p.dst] = b, -1
	}
	for i, in := range b.insts {
		if in.dst != 0 {
			l.home[in.dst], l.at[in.dst] = b, i
		}
		for _, r := range in.more {
			l.home[r], l.at[r] = b, i
		}
	}
}

// flow updates the sets of b and reports whether they grew.
func (l *liveness) flow(b *block) bool {
	out := l.out[b.index]
	for _, s := range b.succs {
		out.addAll(l.along(b, s))
	}
	in := newRegSet(len(l.f.regs))
	in.addAll(out)
	if b.cond.reg != 0 {
		in.add(b.cond.reg)
	}
	for _, r := range b.stubRegs {
		in.add(r)
	}
	for i := len(b.insts) - 1; i >= 0; i-- {
		if dst := b.insts[i].dst; dst != 0 {
			in.remove(dst)
		}
		for _, r := range b.insts[i].more {
			in.remove(r)
		}
		for _, a := range b.insts[i].args {
			if a.reg != 0 {
				in.add(a.reg)
			}
		}
	}
	for _, p := range b.phis {
		in.remove(p.dst)
	}
	return l.in[b.index].addAll(in)
}

// along returns what is needed on the edge from b to s, before the phis of s are written.
func (l *liveness) along(b, s *block) regSet {
	set := newRegSet(len(l.f.regs))
	set.addAll(l.in[s.index])
	i := predIndex(s, b)
	for _, p := range s.phis {
		if r := p.args[i].reg; r != 0 {
			set.add(r)
		}
	}
	return set
}

// interfere reports whether a and b hold different values that are needed at once.
func (l *liveness) interfere(a, b reg) bool { return l.neededAt(a, b) || l.neededAt(b, a) }

// neededAt reports whether a is written by the time b is and read later.
func (l *liveness) neededAt(a, b reg) bool {
	home := l.home[b]
	if !l.in[home.index].has(a) && (l.home[a] != home || l.at[a] > l.at[b]) {
		return false
	}
	if l.out[home.index].has(a) || home.cond.reg == a || slices.Contains(home.stubRegs, a) {
		return true
	}
	for i := l.at[b] + 1; i < len(home.insts); i++ {
		for _, x := range home.insts[i].args {
			if x.reg == a {
				return true
			}
		}
	}
	return false
}

// predIndex returns the place of p among the preds of b.
func predIndex(b, p *block) int {
	i := slices.Index(b.preds, p)
	if i < 0 {
		panic("BUG: ptx: a block is not a predecessor of its successor")
	}
	return i
}
