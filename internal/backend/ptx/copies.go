package ptx

import "slices"

// replacePhis writes the moves that the phis stand for, and renames registers, also in the
// cold blocks, to those that stand for them. From here on a register may be written more than
// once.
func replacePhis(f *function, l *liveness, stands []reg) {
	c := &copier{f: f, live: l, stands: stands}
	for _, b := range append([]*block(nil), f.blocks...) {
		for i := range b.succs {
			c.edge(b, i)
		}
	}
	f.blocks = c.withEdges()
	for _, b := range f.blocks {
		b.phis = nil
		c.rename(b)
		c.tie(b)
	}
	for _, b := range f.cold {
		c.rename(b)
	}
	f.number()
}

type copier struct {
	f      *function
	live   *liveness
	stands []reg
	edges  []*block // new ones, each after its predecessor
}

// move copies an operand to a register.
type move struct {
	dst reg
	src operand
}

// edge places the moves of the edge from b to its successor i.
func (c *copier) edge(b *block, i int) {
	s := b.succs[i]
	moves := c.moves(b, s)
	switch {
	case len(moves) == 0:
	case len(b.succs) == 1:
		b.insts = append(b.insts, c.sequence(moves)...)
	case len(s.preds) == 1:
		s.insts = append(c.sequence(moves), s.insts...)
	case c.harmless(b, b.succs[1-i], moves):
		b.insts = append(b.insts, c.sequence(moves)...)
	default:
		e := &block{insts: c.sequence(moves), preds: []*block{b}, succs: []*block{s}, pos: b.pos, index: -1}
		s.preds[predIndex(s, b)], b.succs[i] = e, e
		c.edges = append(c.edges, e)
	}
}

// moves returns those along the edge from b to s that are not already in place.
func (c *copier) moves(b, s *block) []move {
	var moves []move
	if len(s.phis) == 0 {
		return nil
	}
	i := predIndex(s, b)
	for _, p := range s.phis {
		src := p.args[i]
		src.reg = c.stands[src.reg]
		if dst := c.stands[p.dst]; src.reg != dst {
			moves = append(moves, move{dst, src})
		}
	}
	return moves
}

// harmless reports whether moves may stand before b's branch: what they overwrite is
// read neither by the branch nor on the way to other.
func (c *copier) harmless(b, other *block, moves []move) bool {
	if other.index < 0 { // an edge of its own, which reads what b left
		return false
	}
	along := c.live.along(b, other)
	for _, p := range other.phis {
		along.add(p.dst)
	}
	if b.cond.reg != 0 {
		along.add(b.cond.reg)
	}
	for r := reg(1); int(r) < len(c.stands); r++ {
		if !along.has(r) {
			continue
		}
		for _, m := range moves {
			if c.stands[r] == m.dst {
				return false
			}
		}
	}
	return true
}

// sequence orders moves that happen at once so that each register is read before it is
// written, with a temporary for each ring of moves.
func (c *copier) sequence(moves []move) []inst {
	var out []inst
	emit := func(m move) {
		class := c.f.regs[m.dst]
		out = append(out, inst{op: classes[class].move, dst: m.dst, args: []operand{m.src}})
	}
	for len(moves) > 0 {
		if i := ready(moves); i >= 0 {
			emit(moves[i])
			moves = append(moves[:i:i], moves[i+1:]...)
			continue
		}
		saved := moves[0].dst
		temp := c.newReg(c.f.regs[saved])
		emit(move{temp, operand{reg: saved}})
		for j := range moves {
			if moves[j].src.reg == saved {
				moves[j].src.reg = temp
			}
		}
	}
	return out
}

// ready returns a move whose destination no other move reads, or -1.
func ready(moves []move) int {
	for i, m := range moves {
		read := false
		for j, other := range moves {
			read = read || i != j && other.src.reg == m.dst
		}
		if !read {
			return i
		}
	}
	return -1
}

func (c *copier) newReg(class class) reg {
	r := c.f.newReg(class)
	c.stands = append(c.stands, r)
	return r
}

// withEdges returns the blocks with the new ones in their places.
func (c *copier) withEdges() []*block {
	var out []*block
	for _, b := range c.f.blocks {
		out = append(out, b)
		for _, e := range c.edges {
			if e.preds[0] == b {
				out = append(out, e)
			}
		}
	}
	return out
}

// tie moves what instructions replace to where they do.
func (c *copier) tie(b *block) {
	for i := 0; i < len(b.insts); i++ {
		var moves []move
		for _, t := range b.insts[i].ties() {
			if t.src.reg != t.dst {
				moves = append(moves, t)
			}
		}
		if len(moves) > 0 {
			made := c.sequence(moves)
			b.insts = slices.Insert(b.insts, c.beforeFence(b, i, made), made...)
			i += len(made)
		}
	}
}

// beforeFence returns where moves for instruction i stand: before the fence that orders registers before
// products, if nothing after it has to do with theirs.
func (c *copier) beforeFence(b *block, i int, moves []inst) int {
	involved := map[reg]bool{}
	for _, m := range moves {
		involved[m.dst], involved[m.args[0].reg] = true, true
	}
	delete(involved, 0)
	for at := i - 1; at >= 0; at-- {
		in := &b.insts[at]
		if in.op == wgmmaFence {
			return at
		}
		touches := involved[in.dst] || slices.ContainsFunc(in.more, func(r reg) bool { return involved[r] }) ||
			slices.ContainsFunc(in.args, func(o operand) bool { return involved[o.reg] })
		if touches {
			return i
		}
	}
	return i
}

// ties returns the moves that would bring what the instruction replaces to the registers where it does.
func (in *inst) ties() []move {
	if in.tied == 0 {
		return nil
	}
	first := len(in.args) - in.tied
	moves := []move{{in.dst, in.args[first]}}
	for i, r := range in.more {
		moves = append(moves, move{r, in.args[first+1+i]})
	}
	return moves
}

func (c *copier) rename(b *block) {
	for i := range b.insts {
		in := &b.insts[i]
		in.dst = c.stands[in.dst]
		for j, r := range in.more {
			in.more[j] = c.stands[r]
		}
		for j := range in.args {
			in.args[j].reg = c.stands[in.args[j].reg]
		}
	}
	b.cond.reg = c.stands[b.cond.reg]
}
