package pass

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// unpromotable holds the local arrays that stay in memory whatever is unrolled, because they are
// indexed by values that unrolling does not make constant: to copy loops over such an array costs
// code and saves no access. It is empty without Options.Unroll, as what ptxas makes of short loops
// over local memory has not been measured.
type unpromotable struct {
	arrays  []*ir.Value
	counted map[*ir.Block]bool // headers of loops with a known number of iterations
	known   map[*ir.Value]bool // of what indices are made of: it is a constant when loops are unrolled
}

// findUnpromotable returns those of f.
func findUnpromotable(f *ir.Func, o *Options, loops []*analysis.Loop) *unpromotable {
	u := &unpromotable{counted: map[*ir.Block]bool{}, known: map[*ir.Value]bool{}}
	if !o.Unroll {
		return u
	}
	for _, l := range loops {
		if tripCount(l) > 0 {
			u.counted[l.Header] = true
		}
	}
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			if v.Op != ir.OpIndex || u.isKnown(v.Args[1]) {
				continue
			}
			if x := analysis.Object(v); x != nil && !u.has(x) {
				u.arrays = append(u.arrays, x)
			}
		}
	}
	return u
}

// has reports whether the local array stays in memory.
func (k *unpromotable) has(local *ir.Value) bool { return slices.Contains(k.arrays, local) }

// isKnown reports whether v becomes a constant when loops are unrolled.
func (k *unpromotable) isKnown(v *ir.Value) bool {
	if isConst(v) {
		return true
	}
	if known, ok := k.known[v]; ok {
		return known
	}
	k.known[v] = true // while it is asked for: a loop's counter depends on itself. What has counted on that is not asked again
	known := k.counted[v.Block]
	if v.Op != ir.OpPhi {
		known = v.Op.Pure() && len(v.Args) > 0
	}
	for _, a := range v.Args {
		known = known && k.isKnown(a)
	}
	k.known[v] = known
	return known
}
