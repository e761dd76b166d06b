package pass

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// minLifted is the cost of what is worth moving: ptxas makes instructions with a predicate of less where it stands.
const minLifted = 3

// liftAddresses moves what small blocks that run on a condition, several in a row, compute in front of their loads and
// stores, in global memory, to the end of the block with the branch, where that is little: ptxas then makes instructions with a
// predicate of the rest, as behind liftChecks.
func liftAddresses(f *ir.Func, _ *Options) {
	order := ir.Dominators(f).Order()
	behind := map[*ir.Block]bool{}
	for _, b := range order {
		if _, j := triangle(b); j != nil {
			behind[j] = true
		}
	}
	for _, b := range order {
		m, j := triangle(b)
		if m == nil || !harmless(m) || !slices.ContainsFunc(m.Values, accessesGlobal) {
			continue
		}
		if next, _ := triangle(j); next != nil || behind[b] {
			liftPure(m, b)
		}
	}
}

func accessesGlobal(v *ir.Value) bool {
	return (v.Op == ir.OpLoad || v.Op == ir.OpStore) && v.Args[0].Type.Space == ir.Global
}

// liftPure moves the values of m that need no load of it to the end of b.
func liftPure(m, b *ir.Block) {
	var cone []*ir.Value
	sum := 0
	for _, v := range m.Values {
		inner := func(a *ir.Value) bool { return a.Block == m && !slices.Contains(cone, a) }
		if v.Op.Pure() && !slices.ContainsFunc(v.Args, inner) {
			cone = append(cone, v)
			sum += cost(v)
		}
	}
	if sum >= minLifted && sum <= maxSpeculated {
		hoistTo(m, b, cone)
	}
}
