package pass

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

const (
	minSunk    = 3  // the cost of values that are worth a block of their own
	minSkipped = 32 // the cost of what such an edge skips: beside that, another branch costs little
)

// sink moves pure values that are wanted only where a thread faults into the block that does
// so. Back ends put such blocks last; the others then compute only what they need. Values that only one
// edge needs move to that edge.
//
//	b0: %3 = zext i64 %1              b0: if %2 b1 b2
//	    %4 = add i64 %3, 1            b1: store %5, %6
//	    if %2 b1 b2               ->      ret
//	b1: store %5, %6                  b2: %3 = zext i64 %1
//	    ret                               %4 = add i64 %3, 1
//	b2: fault %4                          fault %4
//
// In such a block, each value is computed directly before its first use: ptxas gives registers to all values of a block at
// once, up to the next check.
func sink(f *ir.Func, _ *Options) {
	sinkToEdges(f)
	users := uses(f)
	for _, b := range slices.Backward(ir.Dominators(f).Order()) {
		for i, v := range slices.Backward(b.Values) {
			if to := coldUser(v, users.of(v)); to != nil && to != b && v.Op.Pure() {
				b.Values = slices.Delete(b.Values, i, i+1)
				v.Block = to
				to.Values = slices.Insert(to.Values, len(to.Phis()), v)
			}
		}
	}
	for _, b := range f.Blocks {
		if b.Term().Op == ir.OpFault {
			delay(b)
		}
	}
}

// delay moves the pure values of b to their first users in b.
func delay(b *ir.Block) {
	waiting := map[*ir.Value]bool{}
	var order []*ir.Value
	var place func(v *ir.Value)
	place = func(v *ir.Value) {
		for _, a := range v.Args {
			if waiting[a] {
				delete(waiting, a)
				place(a)
			}
		}
		order = append(order, v)
	}
	for _, v := range b.Values {
		if v.Op.Pure() && v.Op != ir.OpPhi {
			waiting[v] = true
		} else {
			place(v)
		}
	}
	rest := slices.DeleteFunc(slices.Clone(b.Values), func(v *ir.Value) bool { return !waiting[v] })
	b.Values = slices.Insert(order, len(order)-1, rest...)
}

// coldUser returns the one block that faults and holds all users of v, or nil.
func coldUser(v *ir.Value, users []*ir.Value) *ir.Block {
	var to *ir.Block
	for _, u := range users {
		if u.Op == ir.OpPhi || to != nil && u.Block != to {
			return nil
		}
		to = u.Block
	}
	if to == nil || to.Term().Op != ir.OpFault {
		return nil
	}
	return to
}

// sinkLoads moves loads whose results are used only under a condition, or after a loop, to their uses, if nothing in between can change
// what they load. It also moves pure values out of loops that do not use them.
//
//	b0: %3 = load f32 %0                     b0: if %1 b1 b2
//	    if %1 b1 b2                          b1: ret
//	b1: ret                          ->      b2: %3 = load f32 %0
//	b2: store %2, %3                             store %2, %3
//
// A load stays if a thread may wait for another load before it gets to the use, because both are in flight at the same time now.
func sinkLoads(f *ir.Func, _ *Options) (changed bool) {
	dom := ir.Dominators(f)
	s := &loadSinker{dom: dom, nest: analysis.Loops(dom), users: uses(f), waits: map[*ir.Value]bool{}}
	for _, b := range slices.Backward(dom.Order()) {
		s.from = b
		changed = s.values() || changed
		changed = s.loads() || changed
	}
	return changed
}

// sinkToEdges moves pure values that a block computes only for the phis of one successor to a new block on that edge:
//
//	b0:                                       b0:
//		%2 = select f64 %0, %4, %5                if %1 b1 b3
//		%3 = fmul f64 %2, %2                  b3: <- b0
//		if %1 b1 b2               becomes         %2 = select f64 %0, %4, %5
//	...                                           %3 = fmul f64 %2, %2
//	b2: <- b0 b1                                  jump b2
//		%6 = phi f64 %3, %7                   b2: <- b3 b1
//
// The edge must skip much more than that, as the special cases of functions do, or leave the innermost loop of the block. A back edge
// gets no block, nor does an edge beside one to a cold block: they are what follows most often.
func sinkToEdges(f *ir.Func) {
	dom, users := ir.Dominators(f), uses(f)
	nest := analysis.Loops(dom)
	for _, b := range dom.Order() {
		if len(b.Succs) != 2 || b.Succs[0] == b.Succs[1] {
			continue
		}
		loop := innermost(nest, b)
		for i, s := range b.Succs {
			other := b.Succs[1-i]
			if len(s.Preds) == 1 || dom.Dominates(s, b) || other.Cold {
				continue
			}
			moved, sum := onlyForEdge(b, s, users)
			leaves := loop != nil && !loop.Contains(s) && loop.Contains(other)
			if sum > 0 && leaves || sum >= minSunk && costOfAll(other, dom) >= minSkipped {
				edge := b.SplitEdge(i)
				edge.Values = slices.Concat(moved, edge.Values)
				for _, v := range moved {
					v.Block = edge
				}
				b.Values = slices.DeleteFunc(b.Values, func(v *ir.Value) bool { return v.Block == edge })
			}
		}
	}
}

// onlyForEdge returns the pure values of b that only phis of s use, for the edge from b, and values that only these use, and what they cost.
func onlyForEdge(b, s *ir.Block, users *userLists) (moved []*ir.Value, sum int) {
	at := s.PredIndex(b)
	for _, v := range slices.Backward(b.Values) {
		only := func(u *ir.Value) bool {
			if u.Op == ir.OpPhi {
				return u.Block == s && usesOnly(u, v, at)
			}
			return slices.Contains(moved, u)
		}
		if list := users.of(v); v.Op.Pure() && !isConst(v) && len(list) > 0 && !slices.ContainsFunc(list, func(u *ir.Value) bool { return !only(u) }) {
			moved = append(moved, v)
			sum += cost(v)
		}
	}
	slices.Reverse(moved)
	return moved, sum
}

// costOfAll returns the cost of the blocks that are reached only through b.
func costOfAll(b *ir.Block, dom *ir.Dom) (sum int) {
	for _, d := range dom.Order() {
		if dom.Dominates(b, d) {
			for _, v := range d.Values {
				sum += cost(v)
			}
		}
	}
	return sum
}

// usesOnly reports whether v is no argument of the phi but the one with the index at.
func usesOnly(phi, v *ir.Value, at int) bool {
	for i, a := range phi.Args {
		if a == v && i != at {
			return false
		}
	}
	return true
}
