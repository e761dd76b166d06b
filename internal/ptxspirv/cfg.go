package ptxspirv

import (
	"maps"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
	"github.com/gopherwarp/gopherwarp/internal/spirv"
)

// A block is instructions that run one after another. Control leaves it at its end:
//
//   - to next[0], if there is one successor;
//   - to next[0] if the condition holds, else to next[1];
//   - out of the kernel, if there is no successor.
type block struct {
	code      []*ptx.Instr               // without branches
	tail      func(*translator)          // emits what follows the code and has no instruction, or nil
	guard     ptx.Guard                  // the condition, if there are two successors
	test      func(*translator) spirv.ID // emits the condition if there is no register with it
	meeting   bool                       // its only instruction is one at which all threads of the block meet
	prompt    bool                       // part of a copy of the code that reports a fault
	next      []int
	number    int // in reverse postorder, -1 if it is never reached
	dominator int // the immediate one, -1 for the first block
	joins     int // edges that enter the block, except those that close loops
	header    bool
	loop      int // header of the innermost loop that has the block, or -1
	outer     int // of a header: header of the next outer loop, or -1
}

// graph is the control flow of a kernel. Block 0 is the first one.
type graph struct {
	blocks []block
	end    int   // the block that ends the thread
	order  []int // the reached blocks in reverse postorder
	slow   bool  // operations of warps are barriers of the block
	meets  bool  // there are such operations
	masked bool  // some of them are of some lanes
	// clustered is set if a workgroup is a cluster of several blocks.
	clustered bool
	// inRounds is set if the kernel runs in rounds.
	inRounds bool
	// countsArrivals is set if it runs in rounds and has a barrier of the cluster.
	countsArrivals bool
}

// newGraph returns the control flow of a function, so that SPIR-V's rules for barriers hold and threads do not wait for each other
// for ever. Operations of warps become barriers on a device whose subgroups do not have the lanes of a warp, and in a kernel with
// operations of some lanes: Vulkan does not tell which threads of a subgroup run an operation together.
func newGraph(f *ptx.Func, o Options) (*graph, error) {
	masked := hasMasked(f)
	g := split(f, masked || o.Subgroup != warpLanes || o.sharesWarps())
	g.masked, g.clustered = masked, o.blockCount() > 1
	if err := g.analyze(); err != nil {
		return nil, err
	}
	ready, err := g.clone().meetable(f)
	if err != nil || !o.Shallow || depth(nest(ready)) <= mostNested {
		return ready, err
	}
	return g.flat()
}

// meetable returns the control flow after changes that make all threads of a block reach each barrier.
func (g *graph) meetable(f *ptx.Func) (*graph, error) {
	copied := g.waits() && g.copyReports()
	if copied {
		if err := g.analyze(); err != nil {
			return nil, err
		}
	}
	// If threads can leave a loop that follows a barrier by ending, llvmpipe of Mesa 22.3 ends the loop after a few iterations.
	endInLoop := copied && g.hasBarrier()
	if !endInLoop && !g.separates(f) {
		return g, nil
	}
	if err := g.emptyFirst(); err != nil {
		return nil, err
	}
	if endInLoop {
		return g, g.rounds(findHeaders)
	}
	if c := g.withShadows(f); c != nil {
		return c, nil
	}
	return g, g.rounds(findHeaders)
}

// split returns the blocks of a function. A guarded instruction becomes a block of its own, which the kernel enters if the guard holds.
func split(f *ptx.Func, slow bool) *graph {
	g := &graph{slow: slow}
	starts := g.leaders(f)
	end := len(starts) // the block that leaves the kernel
	starts = append(starts, len(f.Code))
	at := make(map[int]int, len(starts)) // blocks by their first instruction
	for i, s := range starts {
		at[s] = i
	}
	g.blocks, g.end = make([]block, end+1), end
	g.blocks[end].guard.Reg = -1
	for i := range end {
		g.fill(f, starts[i], starts[i+1], at)
	}
	return g
}

// analyze orders the blocks, and finds their dominators and loops.
func (g *graph) analyze() error {
	g.sort()
	g.dominators()
	if err := g.loops(); err != nil {
		return err
	}
	g.count()
	return nil
}

// leaders returns the indices of the instructions that start blocks.
func (g *graph) leaders(f *ptx.Func) []int {
	set := map[int]bool{0: true}
	for i := range f.Code {
		in := &f.Code[i]
		switch {
		case in.Op == "bra":
			set[in.Args[0].Target] = true
		case leaves(in):
		case in.Guard.Reg >= 0, g.isBarrier(in):
			set[i] = true
		default:
			continue
		}
		set[i+1] = true
	}
	delete(set, len(f.Code))
	return slices.Sorted(maps.Keys(set))
}

// leaves reports whether an instruction ends the thread.
func leaves(in *ptx.Instr) bool { return in.Op == "ret" || in.Op == "exit" || in.Op == "trap" }

// isBarrier reports whether all threads of the block meet at an instruction. It has a block of its own.
func (g *graph) isBarrier(in *ptx.Instr) bool {
	if meetsInWarp(in) {
		return g.slow
	}
	return in.Op == "bar" || isClusterWait(in)
}

// fill makes the block of the instructions from start to stop.
func (g *graph) fill(f *ptx.Func, start, stop int, at map[int]int) {
	b := block{guard: ptx.Guard{Reg: -1}, next: []int{at[stop]}}
	for k := start; k < stop-1; k++ {
		b.code = append(b.code, &f.Code[k])
	}
	last := &f.Code[stop-1]
	meeting := g.isBarrier(last)
	g.meets = g.meets || meeting && meetsInWarp(last)
	taken := -1
	switch {
	case last.Op == "bra":
		taken = at[last.Args[0].Target]
	case leaves(last):
		taken = at[len(f.Code)]
	case last.Guard.Reg >= 0:
		taken = len(g.blocks)
		g.blocks = append(g.blocks, block{code: []*ptx.Instr{last}, guard: ptx.Guard{Reg: -1}, next: []int{at[stop]}, meeting: meeting})
	default:
		b.code, b.meeting = append(b.code, last), meeting
	}
	switch {
	case taken >= 0 && last.Guard.Reg >= 0 && taken != at[stop]:
		b.guard, b.next = last.Guard, []int{taken, at[stop]}
	case taken >= 0:
		b.next = []int{taken}
	}
	g.blocks[at[start]] = b
}

// sort numbers the blocks that are reached.
func (g *graph) sort() {
	g.order = nil
	for i := range g.blocks {
		b := &g.blocks[i]
		b.number, b.dominator, b.loop, b.outer, b.joins, b.header = -1, -1, -1, -1, 0, false
	}
	seen := make([]bool, len(g.blocks))
	var walk func(int)
	walk = func(i int) {
		seen[i] = true
		for _, n := range slices.Backward(g.blocks[i].next) {
			if !seen[n] {
				walk(n)
			}
		}
		g.order = append(g.order, i)
	}
	walk(0)
	slices.Reverse(g.order)
	for n, i := range g.order {
		g.blocks[i].number = n
	}
}

// dominators finds the immediate dominator of each block (Cooper, Harvey and Kennedy, "A simple, fast dominance algorithm").
func (g *graph) dominators() {
	before := g.before()
	for changed := true; changed; {
		changed = false
		for _, i := range g.order[1:] {
			d := -1
			for _, p := range before[i] {
				if p == 0 || g.blocks[p].dominator >= 0 {
					d = g.common(d, p)
				}
			}
			changed = changed || d != g.blocks[i].dominator
			g.blocks[i].dominator = d
		}
	}
}

// common returns the closest block that dominates both, of which a may be -1 for all.
func (g *graph) common(a, b int) int {
	if a < 0 {
		return b
	}
	for a != b {
		if g.blocks[a].number > g.blocks[b].number {
			a = g.blocks[a].dominator
		} else {
			b = g.blocks[b].dominator
		}
	}
	return a
}

// dominates reports whether a dominates b.
func (g *graph) dominates(a, b int) bool {
	for b >= 0 && g.blocks[b].number > g.blocks[a].number {
		b = g.blocks[b].dominator
	}
	return a == b
}

// loops finds the natural loops. It returns an error for a loop with several entries.
func (g *graph) loops() error {
	members := map[int][]int{} // by header
	for _, i := range g.order {
		for _, n := range g.blocks[i].next {
			if g.blocks[n].number > g.blocks[i].number {
				continue
			}
			if !g.dominates(n, i) {
				return errIrreducible
			}
			g.blocks[n].header = true
			members[n] = append(members[n], i)
		}
	}
	before := g.before()
	for _, h := range g.order { // outer headers come first, so inner loops overwrite
		if list, ok := members[h]; ok {
			g.member(h, list, before)
		}
	}
	return nil
}

// before returns the predecessors of each block.
func (g *graph) before() [][]int {
	list := make([][]int, len(g.blocks))
	for _, i := range g.order {
		for _, n := range g.blocks[i].next {
			list[n] = append(list[n], i)
		}
	}
	return list
}

// member marks the blocks of the loop with header h: those from which control reaches the list without the header.
func (g *graph) member(h int, list []int, before [][]int) {
	in := map[int]bool{h: true}
	for len(list) > 0 {
		i := list[len(list)-1]
		if list = list[:len(list)-1]; !in[i] {
			in[i] = true
			list = append(list, before[i]...)
		}
	}
	for i := range in {
		if i == h {
			g.blocks[h].outer = g.blocks[h].loop
		}
		g.blocks[i].loop = h
	}
}

// count counts the edges that enter each block but do not close a loop.
func (g *graph) count() {
	for _, i := range g.order {
		for _, n := range g.blocks[i].next {
			if g.blocks[n].number > g.blocks[i].number {
				g.blocks[n].joins++
			}
		}
	}
}

// inside reports whether block i is in the loop with header h.
func (g *graph) inside(i, h int) bool {
	for l := g.blocks[i].loop; l >= 0; l = g.blocks[l].outer {
		if l == h {
			return true
		}
	}
	return false
}
