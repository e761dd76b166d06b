package pass

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

const (
	chained    = 4    // rounds that become one
	maxChained = 64   // values of a loop that is copied
	maxPlayed  = 4096 // rounds of a loop that are counted
)

// chain makes one round of four, in order, where a loop of one block runs a known multiple of four
// times and divides or takes roots: those are calls, which keep ptxas from unrolling the loop.
func chain(f *ir.Func, o *Options) {
	changed := false
	for _, l := range analysis.Loops(ir.Dominators(f)) {
		if len(l.Blocks) != 1 || size(l) > maxChained || !slices.ContainsFunc(l.Header.Values, calls) {
			continue
		}
		if n := roundsUpTo(l, maxPlayed); n > chained && n%chained == 0 {
			note(l, ir.Joined, chained)
			chainLoop(l)
			changed = true
		}
	}
	if changed {
		mem2reg(f, o)
		deadCode(f, o)
	}
}

// calls reports whether v becomes a call of code that the driver's compiler brings along.
func calls(v *ir.Value) bool {
	switch v.Op {
	case ir.OpFDiv, ir.OpFSqrt:
		return true
	case ir.OpSDiv, ir.OpUDiv, ir.OpSRem, ir.OpURem:
		return v.Type.Bits() == 64
	}
	return false
}

func chainLoop(l *analysis.Loop) {
	demoteLiveOuts(l)
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
	for range chained - 1 {
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
	b.Values = append(e.out, term)
}
