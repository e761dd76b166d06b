package pass

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

const (
	maxAddress = 8 // values that the addresses of loads are computed from, where they have moved to
	maxCopied  = 2 // the cost of those of them that are also needed elsewhere
)

// A loadSinker moves values of one block to the blocks that use them.
type loadSinker struct {
	from  *ir.Block
	dom   *ir.Dom
	nest  []*analysis.Loop
	users *userLists
	// leaving has the loads of the block that move.
	leaving map[*ir.Value]bool
	waits   map[*ir.Value]bool // what waitsFor has said
}

// values moves pure values that are used only after the loop of the block to the place of these uses. What they are computed from must not
// need more registers than they did.
func (s *loadSinker) values() (changed bool) {
	loop := innermost(s.nest, s.from)
	if loop == nil {
		return false
	}
	for _, v := range slices.Backward(s.from.Values) {
		if !v.Op.Pure() || v.Op == ir.OpExtract || len(v.Args) == 0 || len(s.users.of(v)) == 0 {
			continue
		}
		to := s.place(v)
		if to == nil || loop.Contains(to) {
			continue
		}
		g := s.group(to, []*ir.Value{v})
		for _, a := range v.Args {
			if a.Block != nil && !g.lives(a) {
				g.needed[a] = true
			}
		}
		if g.kept() <= analysis.Registers(v) {
			g.move()
			changed = true
		}
	}
	return changed
}

// loads moves the loads of the block. Those for one place move together.
func (s *loadSinker) loads() (changed bool) {
	var groups []*loadGroup
	s.leaving = map[*ir.Value]bool{}
	for i, v := range s.from.Values {
		if v.Op != ir.OpLoad {
			continue
		}
		to := s.place(v)
		if to == nil || s.mayChange(v, i, to) {
			continue
		}
		k := slices.IndexFunc(groups, func(g *loadGroup) bool { return g.to == to })
		if k < 0 {
			k = len(groups)
			groups = append(groups, s.group(to, nil))
		}
		groups[k].values = append(groups[k].values, v)
		s.leaving[v] = true
	}
	for n := -1; n != len(groups); { // a group may move only if other loads leave the block, too
		n = len(groups)
		groups = slices.DeleteFunc(groups, func(g *loadGroup) bool {
			stays := !g.pays()
			for _, v := range g.values {
				s.leaving[v] = !stays
			}
			return stays
		})
	}
	for _, g := range groups {
		g.move()
		s.users = uses(g.to.Func)
	}
	return len(groups) > 0
}

// place returns the block that dominates all uses of v and is in no loop that does not contain v, or nil if that is the block of v.
func (s *loadSinker) place(v *ir.Value) (to *ir.Block) {
	for _, b := range s.usedIn(v) {
		if b == s.from {
			return nil
		}
		for to != nil && !s.dom.Dominates(to, b) {
			to = s.dom.Idom(to)
		}
		if to == nil {
			to = b
		}
	}
	for to != nil && slices.ContainsFunc(s.nest, func(l *analysis.Loop) bool { return l.Contains(to) && !l.Contains(s.from) }) {
		to = s.dom.Idom(to)
	}
	if to == s.from {
		return nil
	}
	return to
}

// usedIn returns the blocks that use v. A phi uses its argument where the edge begins, and the parts of a joined load are not its uses,
// but theirs are.
func (s *loadSinker) usedIn(v *ir.Value) (list []*ir.Block) {
	for _, u := range s.users.of(v) {
		switch {
		case u.Op == ir.OpPhi:
			for i, a := range u.Args {
				if a == v {
					list = append(list, u.Block.Preds[i])
				}
			}
		case u.Op == ir.OpExtract && u.Block == s.from && v.Op == ir.OpLoad:
			list = append(list, s.usedIn(u)...)
		default:
			list = append(list, u.Block)
		}
	}
	return list
}

// mayChange reports whether what v loads may change between v, which has an index in its block, and another block.
func (s *loadSinker) mayChange(v *ir.Value, index int, to *ir.Block) bool {
	changes := func(w *ir.Value) bool { return mayChange(w, v) }
	return slices.ContainsFunc(s.from.Values[index+1:], changes) ||
		slices.ContainsFunc(s.between(to), func(b *ir.Block) bool { return slices.ContainsFunc(b.Values, changes) })
}

// between returns the blocks on the ways from the block to another one, without both.
func (s *loadSinker) between(to *ir.Block) (list []*ir.Block) {
	after := reachedFrom(s.from, to)
	seen := map[*ir.Block]bool{s.from: true, to: true}
	var visit func(b *ir.Block)
	visit = func(b *ir.Block) {
		for _, p := range b.Preds {
			if !seen[p] && after[p] {
				seen[p] = true
				list = append(list, p)
				visit(p)
			}
		}
	}
	visit(to)
	return list
}

// A loadGroup is the values that may move to one block.
type loadGroup struct {
	*loadSinker
	to     *ir.Block
	values []*ir.Value
	copied map[*ir.Value]bool // values that are computed again there
	needed map[*ir.Value]bool // values that must be kept in registers for that
}

func (s *loadSinker) group(to *ir.Block, values []*ir.Value) *loadGroup {
	return &loadGroup{loadSinker: s, to: to, values: values, copied: map[*ir.Value]bool{}, needed: map[*ir.Value]bool{}}
}

// pays reports whether the loads should move. A load that leaves a loop runs once. Others move to a block that rarely runs, or under a
// condition if they start nearly as early there. What their addresses are computed from must not need more registers than they did.
func (g *loadGroup) pays() bool {
	freed := 0
	for _, v := range g.values {
		freed += analysis.Registers(v)
		g.need(v.Args[0])
	}
	switch {
	case len(g.copied) > maxAddress || g.again() > maxCopied:
		return false
	case g.leavesLoop():
		return true
	}
	return g.kept() <= freed && (g.to.Cold && !g.from.Cold || g.conditional() && g.soon())
}

// kept returns the number of registers that the move needs up to the place.
func (g *loadGroup) kept() (n int) {
	for v := range g.needed {
		n += analysis.Registers(v)
	}
	return n
}

// again returns the cost of the values that are computed twice.
func (g *loadGroup) again() (n int) {
	for v := range g.copied {
		if slices.ContainsFunc(g.users.of(v), func(u *ir.Value) bool { return !g.copied[u] && !slices.Contains(g.values, u) }) {
			n += cost(v)
		}
	}
	return n
}

// need notes how an address, or a value that it is computed from, gets to the place: it is there anyway, is computed again, or must be kept
// in registers.
func (g *loadGroup) need(v *ir.Value) {
	switch {
	case v.Block == nil || g.copied[v] || g.needed[v] || len(v.Args) == 0 && analysis.Registers(v) == 0 || g.lives(v):
	case v.Op.Pure() && len(g.copied) <= maxAddress:
		g.copied[v] = true
		for _, a := range v.Args {
			g.need(a)
		}
	default:
		g.needed[v] = true
	}
}

// lives reports whether values that stay use v at the place or after it.
func (g *loadGroup) lives(v *ir.Value) bool {
	after := reachedFrom(g.to, v.Block)
	return slices.ContainsFunc(g.users.of(v), func(u *ir.Value) bool {
		if u.Op != ir.OpPhi {
			return u.Block != v.Block && after[u.Block] && !slices.Contains(g.values, u)
		}
		for i, a := range u.Args {
			if a == v && after[u.Block.Preds[i]] && u.Block.Preds[i] != v.Block {
				return true
			}
		}
		return false
	})
}

// leavesLoop reports whether the place is outside of a loop of the block.
func (g *loadGroup) leavesLoop() bool {
	loop := innermost(g.nest, g.from)
	return loop != nil && !loop.Contains(g.to)
}

// conditional reports whether a thread may pass the loads, and return or pass them again, without running the block that uses them.
func (g *loadGroup) conditional() bool {
	for b := range reachedFrom(g.from, g.to) {
		if b != g.to && (b.Term().Op == ir.OpRet || slices.Contains(b.Succs, g.from)) {
			return true
		}
	}
	return false
}

// soon reports whether a thread gets from the block to the place without a loop, and without waiting for a load or for other threads.
func (g *loadGroup) soon() bool {
	return !slices.ContainsFunc(append(g.between(g.to), g.from), func(b *ir.Block) bool {
		return innermost(g.nest, b) != innermost(g.nest, g.from) || slices.ContainsFunc(b.Values, func(v *ir.Value) bool { return !g.leaving[v] && g.waitsFor(v) })
	})
}

// waitsFor reports whether a thread may wait for memory, or for other threads, before v.
func (s *loadSinker) waitsFor(v *ir.Value) bool {
	if known, ok := s.waits[v]; ok {
		return known
	}
	s.waits[v] = false // while it is asked for: a phi of a loop depends on itself
	s.waits[v] = v.Op.Reads() || v.Op.Convergent() || v.Op.Writes() && v.Op != ir.OpStore || slices.ContainsFunc(v.Args, s.waitsFor)
	return s.waits[v]
}

// move moves the loads, with copies of what their addresses are computed from.
func (g *loadGroup) move() {
	var moved []*ir.Value
	copies := map[*ir.Value]*ir.Value{}
	var copyOf func(v *ir.Value) *ir.Value
	copyOf = func(v *ir.Value) *ir.Value {
		if !g.copied[v] {
			return v
		}
		if copies[v] == nil {
			args := make([]*ir.Value, len(v.Args))
			for i, a := range v.Args {
				args[i] = copyOf(a)
			}
			c := g.to.Make(v.Op, v.Type, args...)
			c.Imm, c.Aux, c.Pos = v.Imm, v.Aux, v.Pos
			moved, copies[v] = append(moved, c), c
		}
		return copies[v]
	}
	for _, v := range g.values {
		if v.Op == ir.OpLoad {
			v.Args[0] = copyOf(v.Args[0])
		}
		moved = append(moved, v)
		for _, u := range g.users.of(v) {
			if v.Op == ir.OpLoad && u.Op == ir.OpExtract && u.Block == g.from {
				moved = append(moved, u)
			}
		}
	}
	g.from.Values = slices.DeleteFunc(g.from.Values, func(v *ir.Value) bool { return slices.Contains(moved, v) })
	for _, v := range moved {
		v.Block = g.to
	}
	g.to.Values = slices.Insert(g.to.Values, len(g.to.Phis()), moved...)
}
