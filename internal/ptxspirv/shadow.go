package ptxspirv

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
	"github.com/gopherwarp/gopherwarp/internal/spirv"
)

// Rounds cost time in each round. They are not needed if threads part only where some end, as they do at a fault: each thread that ends
// then goes on as a shadow, which reaches the same barriers as the threads that have not ended. It runs only the instructions that decide
// which barriers these are. Their operands are the same in all threads, so shadows need nothing from the others.
//
//	for i := range n { // each thread, also if it has gone, tests i
//		if !gone {
//			x[i] = 1 // which reports a fault and sets gone, if it has one
//		}
//		barrier
//	}
//
// Shadows run copies of blocks. They share the barriers, the branches that decide which barriers
// come next, and the headers of loops, which may have no second entry, with the other threads.
type shadows struct {
	*graph               // to be edited
	live     *graph      // without the edges where threads end while others go on
	ends     map[int]int // these edges: the successor, by block
	unequal  *divergence // of live
	rejoin   []int       // the postdominators of live
	branches []bool      // by block: shadows take the branch as well
	needed   []bool      // by register: shadows set it as well
	copies   map[int]int // for shadows, by block
	headers  map[int]int // blocks where shadows and others part again, by the header of the loop
	together map[int]int // blocks that have the branch, by the block of a branch that both take
}

// mostCopied is the number of instructions of code after which threads end that may be copied.
const mostCopied = 2000

// withShadows returns the kernel with shadows, or nil if it needs rounds.
func (g *graph) withShadows(f *ptx.Func) *graph {
	s := &shadows{graph: g.clone(), copies: map[int]int{}, headers: map[int]int{}, together: map[int]int{}}
	if !s.findEnds(f) || s.unequal.separates() || !s.copiesEnds() {
		return nil
	}
	if s.findNeeded(f); s.spoils() {
		return nil
	}
	old := len(s.blocks)
	s.addHeaders()
	for i := 1; i < old; i++ {
		if s.live.blocks[i].number >= 0 {
			s.edit(i)
		}
	}
	s.blocks[0].tail = func(t *translator) {
		t.gone = t.Local(t.pointer(spirv.StorageFunction, t.boolean()))
		t.Emit(spirv.OpStore, t.gone, t.Global(spirv.OpConstantFalse, t.boolean()))
	}
	if s.analyze() != nil || s.missesBarrier() {
		return nil
	}
	return s.graph
}

// missesBarrier reports whether a barrier lies between a branch where shadows or other threads part and where all come together again.
func (s *shadows) missesBarrier() bool {
	rejoin := s.postdominators()
	return slices.ContainsFunc(s.order, func(i int) bool {
		b := &s.blocks[i]
		if len(b.next) < 2 || b.test == nil && !s.unequal.registers[b.guard.Reg] {
			return false
		}
		return slices.ContainsFunc(s.between(i, rejoin[i]), func(n int) bool { return s.blocks[n].barrier() })
	})
}

// findEnds finds the edges where some threads end, or go on without another barrier, while others reach one. It reports false if threads
// would then not end otherwise.
func (s *shadows) findEnds(f *ptx.Func) bool {
	reach := s.reachBarrier()
	ending := func(i int) bool {
		next := s.blocks[i].next
		return len(next) == 2 && reach[next[0]] != reach[next[1]]
	}
	s.ends = map[int]int{}
	s.unequal = s.diverge(f, func(int) bool { return true }) // by data alone
	for grown := true; grown; {
		grown = false
		for _, i := range s.order {
			if _, ok := s.ends[i]; ok || !ending(i) || !s.unequal.registers[s.blocks[i].guard.Reg] {
				continue
			}
			next := s.blocks[i].next
			s.ends[i] = next[0]
			if reach[next[0]] {
				s.ends[i] = next[1]
			}
			grown = true
		}
		if !grown && s.live != nil {
			break
		}
		s.live = s.clone()
		for i, to := range s.ends {
			b := &s.live.blocks[i]
			b.next = slices.DeleteFunc(b.next, func(n int) bool { return n == to })
		}
		if s.live.analyze() != nil {
			return false
		}
		s.unequal = s.live.diverge(f, ending)
		grown = true
	}
	s.rejoin = s.live.postdominators()
	return !slices.ContainsFunc(s.live.order, func(i int) bool { return i != s.end && s.rejoin[i] < 0 })
}

// reachBarrier returns for each block whether control may reach a barrier from it.
func (g *graph) reachBarrier() []bool {
	reach := make([]bool, len(g.blocks))
	for changed := true; changed; {
		changed = false
		for _, i := range slices.Backward(g.order) {
			b := &g.blocks[i]
			if !reach[i] && (b.barrier() || slices.ContainsFunc(b.next, func(n int) bool { return reach[n] })) {
				reach[i], changed = true, true
			}
		}
	}
	return reach
}

// copiesEnds reports whether the code after which threads end can be copied for each edge to it.
func (s *shadows) copiesEnds() bool {
	sum := 0
	for _, to := range s.ends {
		for _, n := range s.from(to) {
			if slices.ContainsFunc(s.blocks[n].code, ofWarp) {
				return false // threads that come from different edges run it together
			}
			sum += len(s.blocks[n].code)
		}
	}
	return sum <= mostCopied
}

// from returns the blocks that control may reach from a block, with it.
func (g *graph) from(i int) []int {
	list := []int{i}
	seen := map[int]bool{i: true}
	for k := 0; k < len(list); k++ {
		for _, n := range g.blocks[list[k]].next {
			if !seen[n] {
				seen[n] = true
				list = append(list, n)
			}
		}
	}
	return list
}

// ofWarp reports whether the threads of a warp run an instruction together.
func ofWarp(in *ptx.Instr) bool {
	return in.Op == "bar" || in.Op == "barrier" || slices.Contains([]string{"shfl", "vote", "activemask", "redux", "match"}, in.Op)
}
