package pass

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// minSpeculatedAddress is the minimum cost of values that are worth moving: ptxas predicates
// cheaper ones in place.
const minSpeculatedAddress = 3

// speculateAddresses moves cheap address computations of global loads and stores out of small
// conditional blocks, where several of these follow each other, to before the branch. ptxas then
// predicates the rest of the block, as after speculateChecks.
func speculateAddresses(f *ir.Func, _ *Options) {
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
			speculatePure(m, b)
		}
	}
}

// accessesGlobal reports whether v loads from or stores to global memory.
func accessesGlobal(v *ir.Value) bool {
	return (v.Op == ir.OpLoad || v.Op == ir.OpStore) && v.Args[0].Type.Space == ir.Global
}

// speculatePure moves the values of m that depend on none of its loads to the end of b.
func speculatePure(m, b *ir.Block) {
	var cone []*ir.Value
	sum := 0
	for _, v := range m.Values {
		inner := func(a *ir.Value) bool { return a.Block == m && !slices.Contains(cone, a) }
		if v.Op.Pure() && !slices.ContainsFunc(v.Args, inner) {
			cone = append(cone, v)
			sum += cost(v)
		}
	}
	if sum >= minSpeculatedAddress && sum <= maxSpeculated {
		hoistTo(m, b, cone)
	}
}
