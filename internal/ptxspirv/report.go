package ptxspirv

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
)

// A thread that waits in a loop for memory to change leaves the loop once another thread has reported a fault. In a kernel, all faults
// share the code that reports them. In SPIR-V, that code would follow all constructs from which it is jumped to, and GPUs start what follows
// a construct when all threads of the subgroup have left it: a thread that has a fault and those that wait for its report would wait for
// each other. In such kernels, each check has a copy of its own.

// waits reports whether threads may wait for others in a loop: whether a branch or a store depends there on what other threads write.
func (g *graph) waits() bool {
	seen := map[int]bool{} // registers that depend on it
	for before := -1; before < len(seen); {
		before = len(seen)
		for _, i := range g.order {
			if g.blocks[i].loop < 0 {
				continue
			}
			for _, in := range g.blocks[i].code {
				if depends := dependsOn(in, seen); observes(in) || depends {
					results(in, func(r int) { seen[r] = true })
					if depends && in.Op == "st" {
						return true
					}
				}
			}
		}
	}
	return slices.ContainsFunc(g.order, func(i int) bool {
		b := &g.blocks[i]
		return b.loop >= 0 && len(b.next) == 2 && seen[b.guard.Reg]
	})
}

// dependsOn reports whether an instruction reads one of the registers.
func dependsOn(in *ptx.Instr, registers map[int]bool) (depends bool) {
	args := in.Args
	if in.Op != "st" && in.Op != "red" && len(args) > 0 {
		args = args[1:]
	}
	registersOf(args, func(r int) { depends = depends || registers[r] })
	return depends
}

// observes reports whether an instruction reads what other threads write at the same time.
func observes(in *ptx.Instr) bool {
	return in.Op == "atom" || in.Op == "ld" && slices.ContainsFunc(in.Mods, func(m string) bool {
		return m == "relaxed" || m == "acquire" || m == "volatile"
	})
}

// copyReports copies the code that reports a fault, for each place from which it is reached. It reports whether there is such code.
func (g *graph) copyReports() bool {
	reports := g.reports()
	for _, i := range g.order {
		if reports[i] {
			continue
		}
		for k, n := range g.blocks[i].next {
			if reports[n] {
				to := g.copyReport(n, reports) // which moves the blocks
				g.blocks[i].next[k] = to
			}
		}
	}
	return len(reports) > 0
}

// copyReport returns a copy of the code from a block on. Threads that have a report and those that are too late end together.
func (g *graph) copyReport(i int, reports map[int]bool) int {
	last := g.plain(nil, g.end)
	g.blocks[last].prompt = true
	var copied func(int) int
	copied = func(i int) int {
		if !reports[i] {
			return last
		}
		b := g.blocks[i]
		b.prompt, b.next = true, slices.Clone(b.next)
		for k, n := range b.next {
			b.next[k] = copied(n)
		}
		return g.add(b)
	}
	return copied(i)
}

// reports returns the blocks that report a fault: one that claims the report, the one that makes it, and those that only lead there.
func (g *graph) reports() map[int]bool {
	set := map[int]bool{}
	for _, i := range slices.Backward(g.order) {
		next := g.blocks[i].next
		if len(next) == 2 && slices.ContainsFunc(g.blocks[i].code, isClaim) {
			for k, n := range next {
				if g.ends(next[1-k]) && g.makesReport(n) {
					set[i], set[n] = true, true
				}
			}
		}
		if len(next) > 0 && !slices.ContainsFunc(next, func(n int) bool { return !set[n] }) {
			set[i] = true
		}
	}
	return set
}

// makesReport reports whether a block stores a report and ends the thread.
func (g *graph) makesReport(i int) bool {
	b := &g.blocks[i]
	return len(b.next) == 1 && g.ends(b.next[0]) && slices.ContainsFunc(b.code, isReport)
}

// ends reports whether a block does nothing but end the thread.
func (g *graph) ends(i int) bool {
	b := &g.blocks[i]
	return i == g.end || len(b.code) == 0 && slices.Equal(b.next, []int{g.end})
}

// isReport reports whether an instruction is the last one of a report, which tells the host that there is one.
func isReport(in *ptx.Instr) bool {
	return in.Op == "st" && slices.Contains(in.Mods, "volatile") && slices.Contains(in.Mods, "global")
}

// isClaim reports whether an instruction may be the first one of a report, which only one thread may make.
func isClaim(in *ptx.Instr) bool { return in.Op == "atom" && slices.Contains(in.Mods, "cas") }
