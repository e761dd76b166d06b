package ptx

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// spins returns, by block ID, where loops go round that wait in memory for other threads. One of
// those may have faulted, and would be waited for until the end of time: there the thread looks
// for a fault and leaves.
//
// A loop waits where whether it goes on depends on what an atomic operation in it found. It does not
// wait where each round tries a compare-and-swap from what it has just read: the swap fails only
// because another thread's has succeeded.
func spins(f *ir.Func) []bool {
	polls := make([]bool, f.NumBlocks())
	if !uses(f, ir.Op.Atomic) {
		return polls
	}
	dom := ir.Dominators(f)
	for _, l := range analysis.Loops(dom) {
		if waits(l) && !retries(l, dom) {
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
		return v.Op.Atomic() && v.Op != ir.OpAtomicStore
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

// poll lets the thread leave the kernel where another one has faulted.
func (s *selector) poll() {
	s.emit(inst{op: exitLabel, form: hop, args: []operand{s.faulted()}})
}

// faulted returns whether a thread of the stream has faulted.
func (s *selector) faulted() operand {
	env := s.hidden(b64, device.HiddenEnv)
	claim := s.load("ld.relaxed.gpu.global.u32", b32, place{env, device.EnvClaim})
	return s.def(pred, "setp.ne.u32", claim, imm(0))
}
