package vector

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/layout"
	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/units"
	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/vasm"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// check leaves the row to Go where v fails in a lane that comes to it.
func (z *vectorizer) check(v *ir.Value) {
	cond := v.Args[0]
	if z.assumed.drops(v) {
		return
	}
	if !z.replays && (z.dirty[z.block.Block.ID] || z.wrote) {
		panic(Because("a check after a store"))
	}
	if z.shape(cond).kind == uniform { // for the lanes that are here, and there are some
		z.branch(cond, "", z.bail)
		return
	}
	c := z.maskOfValue(cond)
	if m := z.activeMask(); m != 0 {
		fails := z.Unit.Mask()
		z.Unit.Logic(units.MaskWithout, m, c, fails)
		z.Unit.Test(fails)
		z.Code.Jump("JNE", z.bail)
		return
	}
	z.Unit.UnlessAll(c, z.bail)
}

// jumpIf are the jumps for comparisons of integers, and their opposites.
var jumpIf = map[ir.Op][2]string{
	ir.OpEq: {"JEQ", "JNE"}, ir.OpNe: {"JNE", "JEQ"}, ir.OpSLt: {"JLT", "JGE"}, ir.OpSLe: {"JLE", "JGT"},
	ir.OpULt: {"JCS", "JCC"}, ir.OpULe: {"JLS", "JHI"},
}

// branch writes a branch on a uniform condition; the label "" is the next instruction. The condition is read
// from the first lane.
func (z *vectorizer) branch(cond *ir.Value, yes, no string) {
	jumps, ok := jumpIf[cond.Op]
	if ok && !z.fromOutside(cond) && cond.Args[0].Type.Kind != ir.KindI1 {
		right := vasm.Imm(cond.Args[1].Imm)
		if !isShort(cond.Args[1]) {
			right = vasm.Use(z.integerOf(cond.Args[1]))
		}
		z.Code.Op(compareOp(cond), vasm.Use(z.integerOf(cond.Args[0])), right)
	} else {
		r := z.integerOf(cond)
		z.Code.Op("TESTB", vasm.Use(r), vasm.Use(r))
		jumps = [2]string{"JNE", "JEQ"}
	}
	if yes != "" {
		z.Code.Jump(jumps[0], yes)
	}
	if no != "" && yes != "" {
		z.Code.Jump("JMP", no)
	} else if no != "" {
		z.Code.Jump(jumps[1], no)
	}
}

func compareOp(v *ir.Value) string {
	if units.IsWide(v.Args[0].Type) {
		return "CMPQ"
	}
	return "CMPL"
}

// ends writes the ways out of n.
func (z *vectorizer) ends(n *layout.Node) {
	switch {
	case z.jumps(n):
		z.jumpOn(n)
	case len(n.Succs) == 1:
		z.way(n, 0, z.activeMask())
		z.goOn(z.rankOf(n), n.Loop)
	default:
		z.fork(n)
		z.goOn(z.rankOf(n), n.Loop)
	}
}

// meets reports whether lanes come to x other than by a jump.
func (z *vectorizer) meets(x *layout.Node) bool {
	return slices.ContainsFunc(x.Preds, func(p *layout.Node) bool { return !z.jumps(p) && z.rankOf(p) < z.rankOf(x) })
}

// follows reports whether control that has come to n without a jump may go on to x, which is after it, although
// no lane of n's need go there: others may wait there. They cannot where they would have had to pass a block
// between. So, wherever control is, all blocks have run that dominate the place, and a block that all lanes
// of such a one come to has the same lanes.
func (z *vectorizer) follows(x, n *layout.Node) bool {
	d := x.Idom
	for l := d.Loop; l != nil && !l.In[x]; l = l.Parent {
		d = l.Header
	}
	return z.meets(x) && z.rankOf(d) <= z.rankOf(n)
}

// goOn leads control from after block i, in the loop, to the next block that some lanes do not jump
// to: the ones between are for lanes that do.
func (z *vectorizer) goOn(i int, in *layout.Loop) {
	rest := z.order[i+1:]
	k := slices.IndexFunc(rest, func(x *layout.Node) bool { return !in.Contains(x) || z.follows(x, z.order[i]) })
	switch {
	case k == 0 || len(rest) == 0: // it is next
	case k > 0 && in.Contains(rest[k]):
		z.Code.Jump("JMP", z.labelOf(rest[k]))
	case in != nil:
		z.Code.Jump("JMP", z.tailOf(in))
	default:
		z.Code.Jump("JMP", z.end)
	}
}

// jumpOn writes the ways out of n, of which all lanes take the same.
func (z *vectorizer) jumpOn(n *layout.Node) {
	if len(n.Succs) == 1 {
		z.way(n, 0, z.activeMask())
		z.jumpTo(n, n.Succs[0])
		return
	}
	other := z.Code.NewLabel()
	z.branch(n.Block.Term().Args[0], "", other)
	for i, s := range n.Succs {
		if isFault(s) {
			z.Code.Jump("JMP", z.bail)
		} else {
			z.way(n, i, z.activeMask())
			z.jumpTo(n, s)
		}
		if i == 0 {
			z.Code.Label(other)
		}
	}
}

func (z *vectorizer) jumpTo(n, s *layout.Node) {
	i := z.rankOf(n)
	switch {
	case s == nil:
		z.Code.Jump("JMP", z.end)
	case i+1 < len(z.order) && z.order[i+1] == s && len(n.Succs) == 1:
	default:
		z.Code.Jump("JMP", z.labelOf(s))
	}
}

// fork writes the ways out of n, some lanes taking the one and some the other.
func (z *vectorizer) fork(n *layout.Node) {
	if cond := n.Block.Term().Args[0]; z.shape(cond).kind == uniform {
		z.forkTogether(n, cond)
		return
	}
	c := z.maskOfValue(n.Block.Term().Args[0])
	m := z.activeMask()
	ways := [2]units.Vreg{z.Unit.Mask(), z.Unit.Mask()}
	if m == 0 {
		z.Unit.CopyMask(c, ways[0])
		z.Unit.Not(c, ways[1])
	} else {
		z.Unit.Logic(units.MaskAnd, m, c, ways[0])
		z.Unit.Logic(units.MaskWithout, m, c, ways[1])
	}
	for i, s := range n.Succs {
		if isFault(s) {
			z.mayFault(n)
			z.Unit.Test(ways[i])
			z.Code.Jump("JNE", z.bail)
			continue
		}
		z.way(n, i, ways[i])
	}
}

// forkTogether is fork where the lanes that are here take the same way, and others, elsewhere, another one.
func (z *vectorizer) forkTogether(n *layout.Node, cond *ir.Value) {
	other, on := z.Code.NewLabel(), z.Code.NewLabel()
	z.branch(cond, "", other)
	for i, s := range n.Succs {
		if isFault(s) {
			z.mayFault(n)
			z.Code.Jump("JMP", z.bail)
		} else {
			z.way(n, i, z.activeMask())
		}
		if i == 0 {
			z.Code.Jump("JMP", on)
			z.Code.Label(other)
		}
	}
	z.Code.Label(on)
}

// mayFault refuses a fault after n that comes after a store.
func (z *vectorizer) mayFault(n *layout.Node) {
	if !z.replays && (z.dirty[n.Block.ID] || z.wrote) {
		panic(Because("a fault after a store"))
	}
}

// way writes what happens on the way from n to its successor i, for the lanes of m; 0 is all.
func (z *vectorizer) way(n *layout.Node, i int, m units.Vreg) {
	s := n.Succs[i]
	if s == nil {
		z.leaveRegion(n.Block, m)
		return
	}
	z.copies(n, s, m)
	z.leaveLoops(n, s, m)
	to := z.mask[s.Rank]
	if s.Heads() && s.Loop.In[n] && z.splits[s.Loop] {
		z.addLanes(z.heads[s].back, m)
		return
	}
	if to == nil || to.root != s {
		return
	}
	switch {
	case to.gathers:
		z.addLanes(z.lane(to), m)
	case m == 0:
		z.Unit.All(z.lane(to))
	default:
		z.Unit.CopyMask(m, z.lane(to))
	}
}

// leaveLoops lets the lanes of m, which go from n to s, keep what stays of values in loops that they leave.
func (z *vectorizer) leaveLoops(n, s *layout.Node, m units.Vreg) {
	for _, v := range z.staying {
		if !z.nodes[v.Block.ID].Dominates(n) || !z.parted(v, s) {
			continue
		}
		x, wide := z.vectorOf(v), units.IsWide(v.Type)
		for i, to := range z.regs(z.outer(v)) {
			if m == 0 {
				z.move(moveVector, x[i], to)
			} else {
				z.Unit.Mix(z.half(m, i, wide), x[i], to, wide)
			}
		}
	}
}

func (z *vectorizer) addLanes(to, m units.Vreg) {
	if m == 0 {
		m = z.allLanes()
	}
	z.Unit.Logic(units.MaskOr, m, to, to)
}

// copies writes what the phis of s become on the way from n.
func (z *vectorizer) copies(n, s *layout.Node, m units.Vreg) {
	phis := s.Block.Phis()
	k := s.Block.PredIndex(n.Block)
	type move struct {
		how      moving
		from, to units.Vreg
		mask     units.Vreg
	}
	var moves []move
	for _, phi := range phis {
		a := phi.Args[k]
		r := z.inner(phi)
		if r.kind != varying {
			moves = append(moves, move{moveInteger, z.integerOf(a), r.reg[0], 0})
			continue
		}
		from := z.vectorOf(a)
		how := movingOf(phi.Type)
		for i, to := range z.regs(r) {
			mask := m
			if z.whole(n, s, phi) {
				mask = 0
			}
			moves = append(moves, move{how, from[i], to, z.half(mask, i, how == moveWide)})
		}
	}
	for i := range moves { // what another move overwrites is saved
		if slices.ContainsFunc(moves[:i], func(w move) bool { return w.to == moves[i].from }) {
			saved := z.registerFor(moves[i].how)
			z.move(moves[i].how, moves[i].from, saved)
			moves[i].from = saved
		}
	}
	for _, w := range moves {
		switch {
		case w.from == w.to:
		case w.mask == 0:
			z.move(w.how, w.from, w.to)
		case w.how == moveMask:
			z.Unit.Logic(units.MaskWithout, w.to, w.mask, w.to)
			keep := z.Unit.Mask()
			z.Unit.Logic(units.MaskAnd, w.from, w.mask, keep)
			z.Unit.Logic(units.MaskOr, keep, w.to, w.to)
		default:
			z.Unit.Mix(w.mask, w.from, w.to, w.how == moveWide)
		}
	}
}

// moving describes what a register holds that is copied.
type moving uint8

const (
	moveInteger moving = iota
	moveMask
	moveVector
	moveWide
)

// movingOf returns how a varying value of type t is copied.
func movingOf(t *ir.Type) moving {
	switch {
	case t.Kind == ir.KindI1:
		return moveMask
	case units.IsWide(t):
		return moveWide
	}
	return moveVector
}

// registerFor returns a new register for what is copied so.
func (z *vectorizer) registerFor(how moving) units.Vreg {
	switch how {
	case moveInteger:
		return z.Code.Reg(vasm.Integer)
	case moveMask:
		return z.Unit.Mask()
	}
	return z.Vector()
}

// move copies a register.
func (z *vectorizer) move(how moving, from, to units.Vreg) {
	switch how {
	case moveInteger:
		z.Code.Op("MOVQ", vasm.Use(from), vasm.Def(to))
	case moveMask:
		z.Unit.CopyMask(from, to)
	default:
		z.Code.Op("VMOVUPS", vasm.Use(from), vasm.Def(to))
	}
}

// whole reports whether the phi may be set in all lanes on the way from n to s: no other lane needs
// it, or has it yet.
func (z *vectorizer) whole(n, s *layout.Node, phi *ir.Value) bool {
	if z.sticky[phi.ID] || n.Loop != s.Loop && (s.Loop == nil || !s.Heads() || s.Loop.In[n]) {
		return false
	}
	if z.jumps(n) || s.Heads() && len(s.Preds) == 2 {
		return true
	}
	first := slices.MinFunc(s.Preds, func(a, b *layout.Node) int { return z.rankOf(a) - z.rankOf(b) })
	return first == n
}

// leaveRegion keeps what the region has computed for others, in the lanes of m.
func (z *vectorizer) leaveRegion(b *ir.Block, m units.Vreg) {
	for _, x := range z.g.Blocks {
		for _, v := range x.Values {
			if z.keeps(v) && z.KeptAtEnd(v) {
				z.storeLanes(z.vectorOf(v), v.Type, vasm.Mem(z.keptAddress(v), 0), m)
			}
		}
	}
	if b.Term().Op == ir.OpRet || z.Together[b] {
		if z.Together[b] {
			for _, s := range b.Succs {
				if len(s.Phis()) > 0 {
					panic(Because("phis after a branch that the block takes as a whole"))
				}
			}
		}
		return
	}
	for _, s := range b.Succs {
		type kept struct {
			x  [2]units.Vreg
			t  *ir.Type
			at units.Vreg
		}
		var stores []kept
		if z.Of[s.ID] == z.g && s != z.g.First {
			continue
		}
		for _, phi := range s.Phis() {
			a := phi.Args[s.PredIndex(b)]
			switch {
			case z.Keep[phi.ID] == layout.KeepEach && (a.Op == ir.OpParam || z.Array[a.ID] != z.Array[phi.ID]):
				stores = append(stores, kept{z.vectorOf(a), phi.Type, z.keptAddress(phi)})
			case z.Keep[phi.ID] == layout.KeepEach:
			case z.Level[phi.ID] == layout.PerBlock && z.Level[a.ID] <= layout.PerBlock && z.WaysIn(phi, z.g) == 1:
			default:
				panic(Because("an assignment to a variable of the block"))
			}
		}
		for _, k := range stores {
			z.storeLanes(k.x, k.t, vasm.Mem(k.at, 0), m)
		}
	}
}
