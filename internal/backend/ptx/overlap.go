package ptx

import (
	"github.com/gopherwarp/gopherwarp/device/driver"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// overlaps is the first compute capability whose kernels can start before the preceding one is done.
var overlaps = driver.Capability{Major: 9, Minor: 0}

// overlap selects an operation that orders the kernel relative to its neighbours in the stream. Before
// compute capability 9.0, the launches alone order them.
func (s *selector) overlap(v *ir.Value) {
	switch {
	case !atLeast(s.target, overlaps):
	case v.Op == ir.OpAwaitPrevious:
		s.emit(inst{op: "griddepcontrol.wait"})
	default:
		s.emit(inst{op: "griddepcontrol.launch_dependents"})
	}
}

// awaitAtExit returns the wait at the kernel's exit. A later kernel waits only for its predecessor, so a
// predecessor that ended before an earlier kernel would let the later one read unfinished results. The
// wait is therefore on every path through a kernel that can overlap.
func (s *selector) awaitAtExit() string {
	if !s.awaits() || !leavesEarly(s.f) {
		return ""
	}
	return "\tgriddepcontrol.wait;\n"
}

// awaits reports whether the code waits for the preceding kernel.
func (s *selector) awaits() bool {
	return atLeast(s.target, overlaps) && uses(s.f, func(op ir.Op) bool { return op == ir.OpAwaitPrevious })
}

// leavesEarly reports whether a thread can leave f before it has waited for the preceding kernel.
func leavesEarly(f *ir.Func) bool {
	seen := make([]bool, f.NumBlocks())
	var visit func(b *ir.Block) bool
	visit = func(b *ir.Block) bool {
		if seen[b.ID] {
			return false
		}
		seen[b.ID] = true
		for _, v := range b.Values {
			switch v.Op {
			case ir.OpAwaitPrevious:
				return false
			case ir.OpCheck, ir.OpFault, ir.OpRet:
				return true
			}
		}
		for _, next := range b.Succs {
			if visit(next) {
				return true
			}
		}
		return false
	}
	return visit(f.Blocks[0])
}
