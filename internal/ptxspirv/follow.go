package ptxspirv

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
	"github.com/gopherwarp/gopherwarp/internal/spirv"
)

// findNeeded finds what decides which barriers come next: branches with barriers behind them, the registers that these test, what sets
// those registers, and the branches around that.
func (s *shadows) findNeeded(f *ptx.Func) {
	s.needed, s.branches = make([]bool, len(f.Regs)), make([]bool, len(s.blocks))
	behind := map[int][]int{}
	for _, i := range s.live.order {
		if len(s.live.blocks[i].next) == 2 {
			behind[i] = s.live.between(i, s.rejoin[i])
		}
	}
	for changed := true; changed; {
		changed = false
		for i, list := range behind {
			if !s.branches[i] && slices.ContainsFunc(list, s.decides) {
				s.branches[i], changed = true, true
				s.needed[s.blocks[i].guard.Reg] = true
			}
		}
		for _, i := range s.live.order {
			for _, in := range s.slice(i) {
				registersOf(in.Args[1:], func(r int) {
					changed = changed || !s.needed[r]
					s.needed[r] = true
				})
			}
		}
	}
}

// decides reports whether a block has a barrier or sets what shadows need.
func (s *shadows) decides(i int) bool { return s.blocks[i].barrier() || len(s.slice(i)) > 0 }

// slice returns the instructions of a block that shadows run.
func (s *shadows) slice(i int) []*ptx.Instr {
	if s.blocks[i].barrier() {
		return nil
	}
	var list []*ptx.Instr
	for _, in := range s.blocks[i].code {
		needed := false
		results(in, func(r int) { needed = needed || s.needed[r] })
		if needed {
			list = append(list, in)
		}
	}
	return list
}

// addHeaders adds the blocks where shadows and others part, for the loops that shadows run.
func (s *shadows) addHeaders() {
	for _, i := range s.live.order {
		if !s.decides(i) && !s.branches[i] {
			continue
		}
		for l := s.live.blocks[i].loop; l >= 0; l = s.live.blocks[l].outer {
			if _, ok := s.headers[l]; !ok && !s.blocks[l].barrier() { // which is shared anyway
				s.headers[l] = s.plain(nil)
			}
		}
	}
	for _, i := range s.live.order {
		if h, ok := s.headers[i]; ok {
			s.part(h, i)
		}
	}
}

// spoils reports whether threads that end set what shadows need.
func (s *shadows) spoils() bool {
	for _, to := range s.ends {
		if slices.ContainsFunc(s.from(to), func(n int) bool { return len(s.slice(n)) > 0 }) {
			return true
		}
	}
	return false
}

// part makes shadows that reach block h go on with the copy of another one, and other threads with that one.
func (s *shadows) part(h, to int) {
	shadow := s.copy(to)
	s.blocks[h].next = []int{shadow, to}
	s.blocks[h].test = (*translator).isGone
}

// isGone returns whether the thread is a shadow.
func (t *translator) isGone() spirv.ID { return t.Value(spirv.OpLoad, t.boolean(), t.gone) }

// joint returns the block that both shadows and other threads run when they reach block i.
func (s *shadows) joint(i int) int {
	to := s.edge(i)
	if _, ok := s.headers[i]; ok || to == i {
		return to
	}
	to = s.plain(nil)
	s.part(to, i)
	return to
}

// branch returns the block with a branch that shadows take together with the other threads.
func (s *shadows) branch(i int) int {
	if b, ok := s.together[i]; ok {
		return b
	}
	b := s.plain(nil)
	s.together[i] = b
	guard, next := s.live.blocks[i].guard, make([]int, 2)
	for k, n := range s.live.blocks[i].next {
		next[k] = s.joint(n)
	}
	s.blocks[b].guard, s.blocks[b].next = guard, next
	return b
}

// edit makes the edges of a block lead to where shadows part, and threads that end become shadows.
func (s *shadows) edit(i int) {
	if s.branches[i] {
		b := s.branch(i)
		s.blocks[i].guard, s.blocks[i].next = ptx.Guard{Reg: -1}, []int{b}
		return
	}
	end, ends := s.ends[i]
	for k, n := range slices.Clone(s.blocks[i].next) {
		to := n
		if h, ok := s.headers[n]; ok {
			to = h
		}
		switch {
		case ends && n == end:
			to = s.endInto(n, s.goOn(i))
		case s.blocks[i].barrier():
			to = s.joint(n)
		}
		s.blocks[i].next[k] = to
	}
}

// goOn returns where a thread that ends after block i goes on as a shadow.
func (s *shadows) goOn(i int) int {
	if !s.unequal.blocks[i] {
		return s.edge(s.live.blocks[i].next[0])
	}
	for s.unequal.blocks[i] {
		i = s.rejoin[i]
	}
	return s.edge(i)
}

// edge returns the block that shadows run when they reach a block.
func (s *shadows) edge(i int) int {
	if h, ok := s.headers[i]; ok {
		return h
	}
	if i == s.end || s.blocks[i].barrier() {
		return i
	}
	return s.copy(i)
}

// copy returns the copy of a block for shadows.
func (s *shadows) copy(i int) int {
	if i == s.end || s.blocks[i].barrier() {
		return i
	}
	if c, ok := s.copies[i]; ok {
		return c
	}
	c := s.plain(nil)
	s.copies[i] = c
	s.blocks[c].code = s.slice(i)
	to := 0
	switch next := s.live.blocks[i].next; {
	case s.branches[i]:
		to = s.branch(i)
	case len(next) == 2:
		to = s.edge(s.rejoin[i])
	default:
		to = s.edge(next[0])
	}
	s.blocks[c].next = []int{to}
	return c
}

// endInto returns a copy of the code from block i on. Threads that reach its end become shadows and go on with another block.
func (s *shadows) endInto(i, shadow int) int {
	gone := s.plain(func(t *translator) { t.Emit(spirv.OpStore, t.gone, t.Global(spirv.OpConstantTrue, t.boolean())) }, shadow)
	copies := map[int]int{s.end: gone}
	var copied func(int) int
	copied = func(i int) int {
		if c, ok := copies[i]; ok {
			return c
		}
		c := s.add(s.blocks[i])
		copies[i] = c
		next := slices.Clone(s.blocks[i].next)
		for k, n := range next {
			next[k] = copied(n)
		}
		s.blocks[c].next = next
		return c
	}
	return copied(i)
}
