package ptx

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// spins returns, by block ID, where loops go round that wait in memory for other threads. One of
// those may have faulted, and would be waited for until the end of time: there the thread looks
// for a fault and leaves.
//
// A loop waits where whether it goes on depends on what an atomic operation or a look at a gpu.Barrier in it found. It does not
// wait where each round tries a compare-and-swap from what it has just read: the swap fails only
// because another thread's has succeeded. It does not wait for ever where it counts towards a limit:
// what looks at one place after another pays twice for looking at the claim word in between.
func spins(f *ir.Func) []bool {
	polls := make([]bool, f.NumBlocks())
	if !uses(f, func(op ir.Op) bool { return op.Atomic() || op == ir.OpMBarrierTest }) {
		return polls
	}
	dom := ir.Dominators(f)
	for _, l := range analysis.Loops(dom) {
		if waits(l) && !retries(l, dom) && !counts(l, dom) {
			for _, b := range l.Latches {
				polls[b.ID] = true
			}
		}
	}
	return polls
}

// waits reports whether an exit of the loop depends on an atomic operation in it that finds what
// other threads write.
func waits(l *analysis.Loop) bool {
	seen := map[*ir.Value]bool{}
	var depends func(v *ir.Value) bool
	depends = func(v *ir.Value) bool {
		if v.Block == nil || !l.Contains(v.Block) || seen[v] {
			return false
		}
		seen[v] = true
		return observes(v) || slices.ContainsFunc(v.Args, depends)
	}
	return slices.ContainsFunc(l.Exits(), func(e analysis.Exit) bool {
		t := e.From.Term()
		return t.Op == ir.OpIf && depends(t.Args[0])
	})
}

// observes reports whether v is an atomic operation that a loop may wait with. Adding something does
// not wait: it counts.
func observes(v *ir.Value) bool {
	if v.Op != ir.OpAtomicAdd {
		return v.Op.Atomic() && v.Op != ir.OpAtomicStore || v.Op == ir.OpMBarrierTest
	}
	x := v.Args[1]
	return x.Op == ir.OpConst && x.Imm == 0
}

// retries reports whether each round of the loop tries to swap what it read in the loop.
func retries(l *analysis.Loop, dom *ir.Dom) bool {
	for _, b := range l.Blocks {
		for _, v := range b.Values {
			if v.Op != ir.OpAtomicCAS || v.Args[1].Block == nil || !l.Contains(v.Args[1].Block) {
				continue
			}
			if !slices.ContainsFunc(l.Latches, func(latch *ir.Block) bool { return !dom.Dominates(b, latch) }) {
				return true
			}
		}
	}
	return false
}

// counts reports whether an exit that each round passes ends the loop once a number has grown or
// shrunk, by the same step in each round, to a limit from before the loop.
func counts(l *analysis.Loop, dom *ir.Dom) bool {
	return slices.ContainsFunc(l.Exits(), func(e analysis.Exit) bool {
		each := !slices.ContainsFunc(l.Latches, func(latch *ir.Block) bool { return !dom.Dominates(e.From, latch) })
		t := e.From.Term()
		return each && t.Op == ir.OpIf && limits(l, t.Args[0], t.Block.Succs[1] == e.To)
	})
}

// limits reports whether the loop cannot go on for ever while the condition is goesOn, because the
// condition compares a number that grows or shrinks with a limit.
func limits(l *analysis.Loop, c *ir.Value, goesOn bool) bool {
	for isNot(c) {
		c, goesOn = c.Args[0], !goesOn
	}
	switch {
	case c.Op == ir.OpAnd && goesOn, c.Op == ir.OpOr && !goesOn: // it goes on only while both do
		return limits(l, c.Args[0], goesOn) || limits(l, c.Args[1], goesOn)
	case c.Op < ir.OpSLt || c.Op > ir.OpULe:
		return false
	}
	low, high := c.Args[0], c.Args[1]
	if !goesOn { // it goes on while high < low
		low, high = high, low
	}
	return step(l, low) > 0 && outside(l, high) || step(l, high) < 0 && outside(l, low) && c.Op <= ir.OpSLe
}

func outside(l *analysis.Loop, v *ir.Value) bool {
	return v.Op == ir.OpConst || v.Block == nil || !l.Contains(v.Block)
}

// step returns by how much v grows in each round, where that is a constant, else 0.
func step(l *analysis.Loop, v *ir.Value) int64 {
	v = uncast(v)
	if v.Op == ir.OpAdd && v.Args[1].Op == ir.OpConst {
		v = uncast(v.Args[0])
	}
	if v.Op != ir.OpPhi || v.Block != l.Header {
		return 0
	}
	by := int64(0)
	for i, p := range l.Header.Preds {
		if !l.Contains(p) {
			continue
		}
		next := uncast(v.Args[i])
		if next.Op != ir.OpAdd || next.Args[1].Op != ir.OpConst || uncast(next.Args[0]) != v || by != 0 && by != next.Args[1].Imm {
			return 0
		}
		by = next.Args[1].Imm
	}
	return by
}

// uncast returns what v was before it was made wider or narrower.
func uncast(v *ir.Value) *ir.Value {
	for v.Op == ir.OpZExt || v.Op == ir.OpSExt || v.Op == ir.OpTrunc {
		v = v.Args[0]
	}
	return v
}

// poll lets the thread leave the kernel where another one has faulted.
func (s *selector) poll() {
	s.emit(inst{op: exitLabel, form: hop, args: []operand{s.faulted()}})
}

// faulted returns whether a thread of the stream has faulted.
func (s *selector) faulted() operand {
	env := s.hidden(b64, driver.HiddenEnv)
	claim := s.load("ld.relaxed.gpu.global.u32", b32, address{env, driver.EnvClaim})
	return s.def(pred, "setp.ne.u32", claim, imm(0))
}
