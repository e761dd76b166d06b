package pass

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// keptLocals are the local arrays that stay in memory whatever is unrolled, because they are indexed by what is no
// constant then either: copying the loops that go over them makes long code, and nothing a register. With Options.Unroll
// alone, as what ptxas makes of short loops over local memory has not been measured.
type keptLocals struct {
	arrays  []*ir.Value
	counted map[*ir.Block]bool // headers of loops with a known number of rounds
	known   map[*ir.Value]bool // of what indices are made of: it is a constant when loops are unrolled
}

func newKeptLocals(f *ir.Func, o *Options, loops []*analysis.Loop) *keptLocals {
	k := &keptLocals{counted: map[*ir.Block]bool{}, known: map[*ir.Value]bool{}}
	if !o.Unroll {
		return k
	}
	for _, l := range loops {
		if rounds(l) > 0 {
			k.counted[l.Header] = true
		}
	}
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			if v.Op != ir.OpIndex || k.isKnown(v.Args[1]) {
				continue
			}
			if x := analysis.Object(v); x != nil && !k.has(x) {
				k.arrays = append(k.arrays, x)
			}
		}
	}
	return k
}

func (k *keptLocals) has(local *ir.Value) bool { return slices.Contains(k.arrays, local) }

// isKnown reports whether v becomes a constant when loops are unrolled.
func (k *keptLocals) isKnown(v *ir.Value) bool {
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
