package ptx

// coalesce gives a phi and its arguments one register wherever none of them is needed
// while another holds a different value, so that no move is left. Arguments that come along back
// edges are tried first: a loop without moves is what ptxas likes best.
//
// It is the test of Sreedhar et al., "Translating Out of Static Single Assignment Form", with
// value sets checked pair by pair. The result maps a register to the one that stands for it.
//
// A predicate shares its register only along back edges: ptxas (13.0) takes what a branch before a loop found out about one for
// true in the loop, too, even where another value is put there, and drops what the branch in the loop leads to.
func coalesce(f *function, l *liveness) []reg {
	c := &webs{live: l, of: make([]*web, len(f.regs))}
	for _, b := range f.blocks { // first, because a move between products makes ptxas run them one by one
		for i := range b.insts {
			for _, t := range b.insts[i].ties() {
				if t.src.reg != 0 {
					c.join(t.dst, t.src.reg)
				}
			}
		}
	}
	for _, back := range [...]bool{true, false} {
		for _, b := range f.blocks {
			for _, p := range b.phis {
				for i, a := range p.args {
					if a.reg != 0 && (b.preds[i].index >= b.index) == back && (back || f.regs[p.dst] != pred) {
						c.join(p.dst, a.reg)
					}
				}
			}
		}
	}
	stands := make([]reg, len(f.regs))
	for r := range stands {
		stands[r] = reg(r)
		if w := c.of[r]; w != nil {
			stands[r] = w.members[0]
		}
	}
	return stands
}

// web is a set of registers that share one.
type web struct{ members []reg }

type webs struct {
	live *liveness
	of   []*web
}

func (c *webs) web(r reg) *web {
	if c.of[r] == nil {
		c.of[r] = &web{members: []reg{r}}
	}
	return c.of[r]
}

// join unites the webs of a and b where no two of their registers interfere.
func (c *webs) join(a, b reg) {
	x, y := c.web(a), c.web(b)
	if x == y {
		return
	}
	for _, r := range x.members {
		for _, q := range y.members {
			if c.live.interfere(r, q) {
				return
			}
		}
	}
	x.members = append(x.members, y.members...)
	for _, r := range y.members {
		c.of[r] = x
	}
}
