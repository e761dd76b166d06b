package pass

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
	"github.com/gopherwarp/gopherwarp/internal/ir/edit"
)

const (
	partialFactor   = 4    // iterations that become one
	maxPartial      = 64   // values of a loop that is copied
	maxPartialTrips = 4096 // of a loop whose trip count is computed
)

// unrollPartial unrolls loops of one block by four whose trip count is a known multiple of four and
// that contain divisions or square roots: ptxas makes calls of those, and does not unroll a loop
// with calls.
func unrollPartial(f *ir.Func, _ *Options) (changed bool) {
	for _, l := range analysis.Loops(ir.Dominators(f)) {
		if len(l.Blocks) != 1 || size(l) > maxPartial || !slices.ContainsFunc(l.Header.Values, calls) {
			continue
		}
		if n := l.TripCount(maxPartialTrips); n > partialFactor && n%partialFactor == 0 {
			note(l, ir.Joined, partialFactor)
			unrollLoopPartially(l)
			changed = true
		}
	}
	return changed
}

// calls reports whether ptxas expands v to a call.
func calls(v *ir.Value) bool {
	switch v.Op {
	case ir.OpFDiv, ir.OpFSqrt:
		return true
	case ir.OpSDiv, ir.OpUDiv, ir.OpSRem, ir.OpURem:
		return v.Type.Bits() == 64
	}
	return false
}

// unrollLoopPartially unrolls a loop of one block by partialFactor.
func unrollLoopPartially(l *analysis.Loop) {
	edit.DemoteLiveOuts(l)
	b := l.Header
	phis, n := b.Phis(), len(b.Values)-1
	values := slices.Clone(b.Values[len(phis):n])
	k := b.PredIndex(b)
	now := map[*ir.Value]*ir.Value{}
	of := func(m map[*ir.Value]*ir.Value, v *ir.Value) *ir.Value {
		if x, ok := m[v]; ok {
			return x
		}
		return v
	}
	e := &editor{b: b, out: b.Values[:n:n]}
	for range partialFactor - 1 {
		next := map[*ir.Value]*ir.Value{}
		for _, phi := range phis {
			next[phi] = of(now, phi.Args[k])
		}
		for _, v := range values {
			e.pos = v.Pos
			args := make([]*ir.Value, len(v.Args))
			for i, a := range v.Args {
				args[i] = of(next, a)
			}
			x := e.makeImm(v.Op, v.Type, v.Imm, args...)
			x.Aux, next[v] = v.Aux, x
		}
		now = next
	}
	term := b.Values[n]
	term.Args[0] = of(now, term.Args[0])
	var last []*ir.Value
	for _, phi := range phis {
		last = append(last, of(now, phi.Args[k]))
	}
	for i, phi := range phis {
		phi.Args[k] = last[i]
	}
	for _, s := range b.Succs {
		if s == b {
			continue
		}
		for _, phi := range s.Phis() {
			at := s.PredIndex(b)
			phi.Args[at] = of(now, phi.Args[at])
		}
	}
	b.Values = append(e.out, term)
}
