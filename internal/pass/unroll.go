package pass

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// Limits of full unrolling: rounds, and values of all of them together. The large one is for
// loops over local arrays: a 4x4 block of products over 8 steps has some thousand.
const (
	maxRounds   = 128
	maxUnrolled = 4000
	maxSmall    = 500
	maxDense    = 1500
	minDense    = 32 // products in a round
	fewRounds   = 8
	manyRounds  = 16 // with Unroll
	maxShort    = 256
)

// unroll copies the body of loops that run a known small number of times and index a local
// array, so that the indices become constants and the array becomes registers (an array in
// local memory is up to 266 times slower); and of small ones of few rounds, as a stencil has
// them, whose conditions become constants. ptxas unrolls all other such loops itself; nobody does for a back end
// that asks for more.
func unroll(f *ir.Func, o *Options) {
	unrollThose(f, o, func(l *analysis.Loop, n int, kept *keptLocals) bool {
		return worthUnrolling(l, n, kept) || o.Unroll && n <= manyRounds+1 && n*size(l) <= maxShort && sums(l)
	})
}

// unrollDense copies the body of loops of few rounds with many products of what lies in shared memory, so that the loads
// of one round stand beside the products of another: ptxas does not unroll what is as long. It comes when local
// arrays have become registers.
func unrollDense(f *ir.Func, o *Options) {
	unrollThose(f, o, func(l *analysis.Loop, n int, _ *keptLocals) bool {
		return n <= fewRounds+1 && n*size(l) <= maxDense && dense(l)
	})
}

// unrollThose copies the body of loops with a known number of rounds that it is worth for.
func unrollThose(f *ir.Func, o *Options, worth func(l *analysis.Loop, rounds int, kept *keptLocals) bool) {
	c := &cloner{f: f}
	for range 6 { // inner loops first; their copies let the loop around them follow
		changed := false
		var taken []*analysis.Loop
		loops := analysis.Loops(ir.Dominators(f))
		kept := newKeptLocals(f, o, loops)
		for _, l := range loops {
			n := rounds(l)
			if n == 0 || !worth(l, n, kept) || overlaps(taken, l) {
				continue
			}
			taken = append(taken, l)
			note(l, ir.Unrolled, n)
			demoteLiveOuts(l)
			c.begin(f)
			for range n {
				c.copyLoop(l)
			}
			changed = true
		}
		if !changed {
			return
		}
		mem2reg(f, o)
		removePhis(f)
		simplify(f, o)
		simplifyCFG(f, o)
		gvn(f, o)
		deadCode(f, o) // which would count in the next round
	}
}

// worthUnrolling reports whether n copies of the loop are worth their size.
func worthUnrolling(l *analysis.Loop, n int, kept *keptLocals) bool {
	total := n * size(l)
	return total <= maxSmall && n <= fewRounds+1 || total <= maxUnrolled && (indexesLocal(l, kept) || multiplies(l))
}

// multiplies reports whether the loop starts products of panels: those of one group should stand in a row, with
// constants to add to the addresses.
func multiplies(l *analysis.Loop) bool {
	return slices.ContainsFunc(l.Blocks, hasProduct)
}

// dense reports whether most of the loop is products of floats, and what it reads for them from shared memory.
func dense(l *analysis.Loop) bool {
	products, others := 0, 0
	for _, b := range l.Blocks {
		for _, v := range b.Values {
			switch {
			case v.Op == ir.OpFma || v.Op == ir.OpFMul:
				products++
			case v.Op == ir.OpConst || v.Op == ir.OpPhi || v.Op == ir.OpExtract || v.Op.Terminator():
			case v.Op == ir.OpLoad && v.Args[0].Type.Space == ir.Shared:
			case !v.Op.Pure():
				return false
			default:
				others++
			}
		}
	}
	return products >= minDense && others < products
}

// sums reports whether the loop, which has no branch but its end, reads memory and only computes.
func sums(l *analysis.Loop) bool {
	loads, branches := 0, 0
	for _, b := range l.Blocks {
		for _, v := range b.Values {
			switch {
			case v.Op == ir.OpLoad:
				loads++
			case v.Op == ir.OpIf:
				branches++
			case !v.Op.Pure() && v.Op != ir.OpPhi && v.Op != ir.OpJump:
				return false
			}
		}
	}
	return loads > 0 && branches == 1
}

// overlaps reports whether l shares blocks with a loop that has been copied already: what is
// known of it then no longer holds.
func overlaps(taken []*analysis.Loop, l *analysis.Loop) bool {
	return slices.ContainsFunc(taken, func(t *analysis.Loop) bool { return l.Contains(t.Header) })
}

// size counts the values of the loop that become instructions.
func size(l *analysis.Loop) int {
	n := 0
	for _, b := range l.Blocks {
		for _, v := range b.Values {
			if v.Op != ir.OpConst && v.Op != ir.OpPhi && v.Op != ir.OpExtract {
				n++
			}
		}
	}
	return n
}

// indexesLocal reports whether the loop has an access to a local array at an index that is not
// constant, and the array may become registers for more than to be copied to or from one that does not.
func indexesLocal(l *analysis.Loop, kept *keptLocals) bool {
	free, stays := false, false
	for _, b := range l.Blocks {
		for _, v := range b.Values {
			if v.Op != ir.OpIndex || v.Args[1].Block == nil || !l.Contains(v.Args[1].Block) {
				continue
			}
			if x := analysis.Object(v); x != nil && x.Op == ir.OpAlloca {
				free, stays = free || !kept.has(x), stays || kept.has(x)
			}
		}
	}
	return free && !(stays && copies(l))
}

// copies reports whether the loop stores nothing but what it loads.
func copies(l *analysis.Loop) bool {
	for _, b := range l.Blocks {
		for _, v := range b.Values {
			if v.Op == ir.OpStore && v.Args[1].Op != ir.OpLoad {
				return false
			}
		}
	}
	return true
}

// rounds returns how often the header of the loop runs at most, where an exit that every
// round passes says it with constants; 0 where that is not known or too often.
func rounds(l *analysis.Loop) int { return roundsUpTo(l, maxRounds) }

// roundsUpTo is rounds for loops that run so often at most.
func roundsUpTo(l *analysis.Loop, limit int) int {
	for _, e := range l.Exits() {
		t := e.From.Term()
		if t.Op != ir.OpIf {
			continue
		}
		p := player{leave: condition{t.Args[0], e.From.Succs[0] == e.To}, limit: limit}
		if n := p.countdown(l); n > 0 && everyRound(l, e.From) {
			return n
		}
	}
	return 0
}

// everyRound reports whether there is no way around the loop but through b.
func everyRound(l *analysis.Loop, b *ir.Block) bool {
	seen := map[*ir.Block]bool{b: true}
	var around func(x *ir.Block) bool
	around = func(x *ir.Block) bool {
		if seen[x] {
			return false
		}
		seen[x] = true
		return slices.ContainsFunc(x.Succs, func(s *ir.Block) bool { return s == l.Header || l.Contains(s) && around(s) })
	}
	return !around(l.Header)
}

// A player plays a loop's counter until the condition is met that leaves the loop.
type player struct {
	leave condition
	limit int // of the rounds
}

func (p player) countdown(l *analysis.Loop) int {
	for _, phi := range l.Header.Phis() {
		if !phi.Type.IsInt() {
			continue
		}
		start, next := phiArgs(l, phi)
		if start == nil || !isConst(start) {
			continue
		}
		if n := p.play(phi, start, next); n > 0 {
			return n
		}
	}
	return 0
}

// phiArgs returns the arguments of a phi of the header from outside of the loop and from its
// rounds; nil where there are several.
func phiArgs(l *analysis.Loop, phi *ir.Value) (start, next *ir.Value) {
	for i, a := range phi.Args {
		to := &start
		if l.Contains(phi.Block.Preds[i]) {
			to = &next
		}
		if *to != nil && *to != a {
			return nil, nil
		}
		*to = a
	}
	return start, next
}

// play runs the counter, which has the value next in the next round.
func (p player) play(phi, start, next *ir.Value) int {
	if next == nil {
		return 0
	}
	now := start.Imm
	for n := 1; n <= p.limit; n++ {
		cond, ok := evaluate(p.leave.v, phi, now, 4)
		if !ok {
			return 0
		}
		if (cond&1 == 1) == p.leave.holds {
			return n
		}
		if now, ok = evaluate(next, phi, now, 4); !ok {
			return 0
		}
	}
	return 0
}

// evaluate computes v, through at most depth operations, where phi has the value now.
func evaluate(v, phi *ir.Value, now int64, depth int) (int64, bool) {
	switch {
	case v == phi:
		return now, true
	case isConst(v):
		return v.Imm, true
	case depth == 0 || !foldable(v):
		return 0, false
	}
	var x [3]int64
	for i, a := range v.Args {
		k, ok := evaluate(a, phi, now, depth-1)
		if !ok {
			return 0, false
		}
		x[i] = k
	}
	return foldWith(v, x)
}
