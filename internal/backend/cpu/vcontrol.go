package cpu

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/vasm"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// check leaves the row to Go where v fails in a lane that comes to it.
func (z *vectorizer) check(v *ir.Value) {
	cond := v.Args[0]
	if z.steady.drops(v) {
		return
	}
	if !z.replays && (z.dirty[z.block.block] || z.wrote) {
		panic(scalar("a check comes behind a store"))
	}
	if z.shape(cond).kind == uniform { // for the lanes that are here, and there are some
		z.branch(cond, "", z.bail)
		return
	}
	c := z.maskOfValue(cond)
	if m := z.activeMask(); m != 0 {
		fails := z.code.Reg(vasm.Mask)
		z.code.Op("KANDNW", vasm.Use(m), vasm.Use(c), vasm.Def(fails))
		z.code.Op("KORTESTW", vasm.Use(fails), vasm.Use(fails))
		z.code.Jump("JNE", z.bail)
		return
	}
	z.code.Op("KORTESTW", vasm.Use(c), vasm.Use(c))
	z.code.Jump("JCC", z.bail) // the carry says that all lanes are set
}

// jumpIf are the jumps for comparisons of integers, and their opposites.
var jumpIf = map[ir.Op][2]string{
	ir.OpEq: {"JEQ", "JNE"}, ir.OpNe: {"JNE", "JEQ"}, ir.OpSLt: {"JLT", "JGE"}, ir.OpSLe: {"JLE", "JGT"},
	ir.OpULt: {"JCS", "JCC"}, ir.OpULe: {"JLS", "JHI"},
}

// branch jumps by a condition that is uniform; "" is the way on. What the lanes agree on the first one tells.
func (z *vectorizer) branch(cond *ir.Value, yes, no string) {
	jumps, ok := jumpIf[cond.Op]
	if ok && !z.fromOutside(cond) && cond.Args[0].Type.Kind != ir.KindI1 {
		right := vasm.Imm(cond.Args[1].Imm)
		if !isShort(cond.Args[1]) {
			right = vasm.Use(z.integerOf(cond.Args[1]))
		}
		z.code.Op(compareOp(cond), vasm.Use(z.integerOf(cond.Args[0])), right)
	} else {
		r := z.integerOf(cond)
		z.code.Op("TESTB", vasm.Use(r), vasm.Use(r))
		jumps = [2]string{"JNE", "JEQ"}
	}
	if yes != "" {
		z.code.Jump(jumps[0], yes)
	}
	if no != "" && yes != "" {
		z.code.Jump("JMP", no)
	} else if no != "" {
		z.code.Jump(jumps[1], no)
	}
}

func compareOp(v *ir.Value) string {
	if isWide(v.Args[0].Type) {
		return "CMPQ"
	}
	return "CMPL"
}

// ends writes the ways out of n.
func (z *vectorizer) ends(n *node) {
	switch {
	case z.jumps(n):
		z.jumpOn(n)
	case len(n.succs) == 1:
		z.way(n, 0, z.activeMask())
		z.goOn(z.rankOf(n), n.loop)
	default:
		z.fork(n)
		z.goOn(z.rankOf(n), n.loop)
	}
}

// meets reports whether lanes come to x other than by a jump.
func (z *vectorizer) meets(x *node) bool {
	return slices.ContainsFunc(x.preds, func(p *node) bool { return !z.jumps(p) && z.rankOf(p) < z.rankOf(x) })
}

// follows reports whether control that has come to n without a jump may go on to x, which is behind it, although
// no lane of n's need go there: others may wait there. They cannot where they would have had to pass a block
// between. So, wherever control is, all blocks have run that dominate the place, and a block that all lanes
// of such a one come to has the same lanes.
func (z *vectorizer) follows(x, n *node) bool {
	d := x.idom
	for l := d.loop; l != nil && !l.in[x]; l = l.parent {
		d = l.header
	}
	return z.meets(x) && z.rankOf(d) <= z.rankOf(n)
}

// goOn leads control from behind block i, in the loop, to the next block that some lanes do not jump
// to: the ones between are for lanes that do.
func (z *vectorizer) goOn(i int, in *loop) {
	rest := z.order[i+1:]
	k := slices.IndexFunc(rest, func(x *node) bool { return !in.contains(x) || z.follows(x, z.order[i]) })
	switch {
	case k == 0 || len(rest) == 0: // it is next
	case k > 0 && in.contains(rest[k]):
		z.code.Jump("JMP", z.labelOf(rest[k]))
	case in != nil:
		z.code.Jump("JMP", z.tailOf(in))
	default:
		z.code.Jump("JMP", z.end)
	}
}

// jumpOn writes the ways out of n, of which all lanes take the same.
func (z *vectorizer) jumpOn(n *node) {
	if len(n.succs) == 1 {
		z.way(n, 0, z.activeMask())
		z.jumpTo(n, n.succs[0])
		return
	}
	other := z.code.NewLabel()
	z.branch(n.block.Term().Args[0], "", other)
	for i, s := range n.succs {
		if isFault(s) {
			z.code.Jump("JMP", z.bail)
		} else {
			z.way(n, i, z.activeMask())
			z.jumpTo(n, s)
		}
		if i == 0 {
			z.code.Place(other)
		}
	}
}

func (z *vectorizer) jumpTo(n, s *node) {
	i := z.rankOf(n)
	switch {
	case s == nil:
		z.code.Jump("JMP", z.end)
	case i+1 < len(z.order) && z.order[i+1] == s && len(n.succs) == 1:
	default:
		z.code.Jump("JMP", z.labelOf(s))
	}
}

// fork writes the ways out of n, some lanes taking the one and some the other.
func (z *vectorizer) fork(n *node) {
	c := z.maskOfValue(n.block.Term().Args[0])
	m := z.activeMask()
	ways := [2]vreg{z.code.Reg(vasm.Mask), z.code.Reg(vasm.Mask)}
	if m == 0 {
		z.code.Op("KMOVW", vasm.Use(c), vasm.Def(ways[0]))
		z.code.Op("KNOTW", vasm.Use(c), vasm.Def(ways[1]))
	} else {
		z.code.Op("KANDW", vasm.Use(m), vasm.Use(c), vasm.Def(ways[0]))
		z.code.Op("KANDNW", vasm.Use(m), vasm.Use(c), vasm.Def(ways[1]))
	}
	for i, s := range n.succs {
		if isFault(s) {
			if !z.replays && (z.dirty[n.block] || z.wrote) {
				panic(scalar("a fault comes behind a store"))
			}
			z.code.Op("KORTESTW", vasm.Use(ways[i]), vasm.Use(ways[i]))
			z.code.Jump("JNE", z.bail)
			continue
		}
		z.way(n, i, ways[i])
	}
}

// way writes what happens on the way from n to its successor i, for the lanes of m; 0 is all.
func (z *vectorizer) way(n *node, i int, m vreg) {
	s := n.succs[i]
	if s == nil {
		z.leaveRegion(n.block, m)
		return
	}
	z.copies(n, s, m)
	to := z.mask[s]
	if s.heads() && s.loop.in[n] && z.splits[s.loop] {
		z.addLanes(z.heads[s].back, m)
		return
	}
	if to == nil || to.root != s {
		return
	}
	if to.gathers {
		z.addLanes(z.lane(to), m)
	} else {
		z.code.Op("KMOVW", vasm.Use(m), vasm.Def(z.lane(to)))
	}
}

func (z *vectorizer) addLanes(to, m vreg) {
	if m == 0 {
		m = z.allLanes()
	}
	z.code.Op("KORW", vasm.Use(m), vasm.Use(to), vasm.Def(to))
}

// copies writes what the phis of s become on the way from n.
func (z *vectorizer) copies(n, s *node, m vreg) {
	phis := s.block.Phis()
	k := s.block.PredIndex(n.block)
	type move struct {
		class string
		from  vreg
		to    vreg
		mask  vreg
	}
	var moves []move
	for _, phi := range phis {
		a := phi.Args[k]
		r := z.phi(phi)
		if r.kind != varying {
			moves = append(moves, move{"MOVQ", z.integerOf(a), r.reg[0], 0})
			continue
		}
		from := z.vectorOf(a)
		for i, to := range z.regs(r, phi) {
			mask := m
			if z.whole(n, s, phi) {
				mask = 0
			}
			op := "VMOVDQA32"
			if phi.Type.Kind == ir.KindI1 {
				op = "KMOVW"
			} else if isWide(phi.Type) {
				op, mask = "VMOVDQA64", z.half(mask, i)
			}
			moves = append(moves, move{op, from[i], to, mask})
		}
	}
	for i := range moves { // what another move overwrites is saved
		if slices.ContainsFunc(moves[:i], func(w move) bool { return w.to == moves[i].from }) {
			saved := z.code.Reg(map[string]vasm.Class{"MOVQ": vasm.Integer, "KMOVW": vasm.Mask, "VMOVDQA32": vasm.Vector, "VMOVDQA64": vasm.Vector}[moves[i].class])
			z.code.Op(moves[i].class, vasm.Use(moves[i].from), vasm.Def(saved))
			moves[i].from = saved
		}
	}
	for _, w := range moves {
		switch {
		case w.from == w.to:
		case w.mask == 0:
			z.code.Op(w.class, vasm.Use(w.from), vasm.Def(w.to))
		case w.class == "KMOVW":
			z.code.Op("KANDNW", vasm.Use(w.to), vasm.Use(w.mask), vasm.Def(w.to))
			keep := z.code.Reg(vasm.Mask)
			z.code.Op("KANDW", vasm.Use(w.from), vasm.Use(w.mask), vasm.Def(keep))
			z.code.Op("KORW", vasm.Use(keep), vasm.Use(w.to), vasm.Def(w.to))
		default:
			z.code.Op(w.class, vasm.Use(w.from), vasm.Use(w.mask), vasm.Mod(w.to))
		}
	}
}

// whole reports whether the phi may be set in all lanes on the way from n to s: no other lane needs
// it, or has it yet.
func (z *vectorizer) whole(n, s *node, phi *ir.Value) bool {
	if z.sticky[phi] || n.loop != s.loop && (s.loop == nil || !s.heads() || s.loop.in[n]) {
		return false
	}
	if z.jumps(n) || s.heads() && len(s.preds) == 2 {
		return true
	}
	first := slices.MinFunc(s.preds, func(a, b *node) int { return z.rankOf(a) - z.rankOf(b) })
	return first == n
}

// leaveRegion keeps what the region has computed for others, in the lanes of m.
func (z *vectorizer) leaveRegion(b *ir.Block, m vreg) {
	for _, x := range z.g.blocks {
		for _, v := range x.Values {
			if z.keeps(v) && z.keptAtEnd(v) {
				z.storeLanes(z.vectorOf(v), isWide(v.Type), vasm.Mem(z.keptAddress(v), 0), m)
			}
		}
	}
	if b.Term().Op == ir.OpRet || z.together[b] {
		if z.together[b] {
			for _, s := range b.Succs {
				if len(s.Phis()) > 0 {
					panic(scalar("phis behind a branch of the block"))
				}
			}
		}
		return
	}
	for _, s := range b.Succs {
		type kept struct {
			x    [2]vreg
			wide bool
			at   vreg
		}
		var stores []kept
		if z.of[s.ID] == z.g && s != z.g.first {
			continue
		}
		for _, phi := range s.Phis() {
			a := phi.Args[s.PredIndex(b)]
			switch {
			case z.keep[phi.ID] == keepEach && (a.Op == ir.OpParam || z.array[a.ID] != z.array[phi.ID]):
				stores = append(stores, kept{z.vectorOf(a), isWide(phi.Type), z.keptAddress(phi)})
			case z.keep[phi.ID] == keepEach:
			case z.level[phi.ID] == perBlock && z.level[a.ID] <= perBlock:
			default:
				panic(scalar("a variable of the block is set"))
			}
		}
		for _, k := range stores {
			z.storeLanes(k.x, k.wide, vasm.Mem(k.at, 0), m)
		}
	}
}
