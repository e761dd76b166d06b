package ptxspirv

import (
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
)

// divergence is what is known of a kernel: which registers may differ between the threads of a block, and which blocks only some of the
// threads may run at a time.
type divergence struct {
	*graph
	registers []bool
	blocks    []bool
	spread    []bool // conditions whose blocks have been marked, by block
}

// separates reports whether threads of a block may part at a branch, so that some reach a barrier and others do not.
func (g *graph) separates(f *ptx.Func) bool {
	return g.hasBarrier() && g.diverge(f, func(int) bool { return false }).separates()
}

// hasBarrier reports whether the kernel has a barrier of the block.
func (g *graph) hasBarrier() bool {
	return slices.ContainsFunc(g.order, func(i int) bool { return g.blocks[i].barrier() })
}

// separates reports whether only some threads of a block may reach a barrier.
func (d *divergence) separates() bool {
	return slices.ContainsFunc(d.order, func(i int) bool { return d.blocks[i] && d.graph.blocks[i].barrier() })
}

// diverge finds what may differ between the threads of a block, for threads that do not take the branches in blocks that are left out.
func (g *graph) diverge(f *ptx.Func, out func(int) bool) *divergence {
	n := len(g.blocks)
	d := &divergence{g, make([]bool, len(f.Regs)), make([]bool, n), make([]bool, n)}
	rejoin := g.postdominators()
	for changed := true; changed; {
		changed = false
		for _, i := range g.order {
			changed = d.define(i) || changed
			b := &g.blocks[i]
			if len(b.next) < 2 || d.spread[i] || !d.registers[b.guard.Reg] || out(i) {
				continue
			}
			d.spread[i], changed = true, true
			for _, n := range g.between(i, rejoin[i]) {
				d.blocks[n] = true
			}
		}
	}
	return d
}

// postdominators returns the immediate postdominator of each block, or -1 if the thread may run for ever.
func (g *graph) postdominators() []int {
	swap := func(i int) int { // the block that ends the thread becomes block 0
		switch i {
		case 0:
			return g.end
		case g.end:
			return 0
		}
		return i
	}
	reverse := &graph{blocks: make([]block, len(g.blocks))}
	for i, list := range g.before() {
		for _, p := range list {
			b := &reverse.blocks[swap(i)]
			b.next = append(b.next, swap(p))
		}
	}
	reverse.sort()
	reverse.dominators()
	list := make([]int, len(g.blocks))
	for i := range list {
		if list[i] = reverse.blocks[swap(i)].dominator; list[i] >= 0 {
			list[i] = swap(list[i])
		}
	}
	return list
}

// between returns the blocks between the branch of a block and where all threads come together again.
func (g *graph) between(i, rejoin int) []int {
	var found []int
	seen := map[int]bool{}
	for list := slices.Clone(g.blocks[i].next); len(list) > 0; {
		n := list[len(list)-1]
		list = list[:len(list)-1]
		if n != rejoin && !seen[n] {
			seen[n] = true
			found = append(found, n)
			list = append(list, g.blocks[n].next...)
		}
	}
	return found
}

// define marks the registers that the instructions of a block make differ. It reports whether there are new ones.
func (d *divergence) define(i int) bool {
	changed := false
	for _, in := range d.graph.blocks[i].code {
		if !d.blocks[i] && d.same(in) {
			continue
		}
		results(in, func(r int) {
			changed = changed || !d.registers[r]
			d.registers[r] = true
		})
	}
	return changed
}

// same reports whether an instruction has the same results in all threads of a block.
func (d *divergence) same(in *ptx.Instr) bool {
	switch in.Op {
	case "bar", "barrier":
		return true // its result, if it has one
	case "ld":
		return slices.Contains(in.Mods, "param")
	case "atom", "shfl", "vote", "activemask", "redux", "match":
		return false
	}
	if len(in.Args) == 0 {
		return true
	}
	same := true
	registersOf(in.Args[1:], func(r int) { same = same && !d.registers[r] })
	return same && !slices.ContainsFunc(in.Args[1:], d.differs)
}

// differs reports whether an operand is a special register, or an address of shared memory, that is not the same in all threads of a
// workgroup.
func (g *graph) differs(o ptx.Operand) bool {
	switch o.Kind {
	case ptx.VarOperand:
		return g.clustered && o.Var.Space == ptx.Shared
	case ptx.SpecialOperand:
		base, _, _ := strings.Cut(o.Name, ".")
		return !slices.Contains([]string{
			"%nctaid", "%ntid", "%dynamic_smem_size", "%clusterid", "%nclusterid", "%cluster_nctaid", "%cluster_nctarank",
		}, base) && (g.clustered || !slices.Contains([]string{"%ctaid", "%cluster_ctaid", "%cluster_ctarank"}, base))
	}
	return slices.ContainsFunc(o.Elems, g.differs)
}

// results calls f for the registers that an instruction sets.
func results(in *ptx.Instr, f func(int)) {
	if in.Op != "st" && in.Op != "red" && len(in.Args) > 0 {
		registersOf(in.Args[:1], f)
	}
}

// registersOf calls f for the registers of operands.
func registersOf(list []ptx.Operand, f func(int)) {
	for _, o := range list {
		if o.Kind == ptx.RegOperand {
			f(o.Reg)
		}
		registersOf(o.Elems, f)
	}
}
