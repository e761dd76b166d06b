package pass

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

const (
	maxGuarded       = 512 // values of all iterations
	maxGuardedTrips  = 33
	maxGuardedBlocks = 4 // of the loop: a condition, or two
)

// unrollGuarded fully unrolls small loops that load a[x+i] under a condition in iteration i:
//
//	b1: i = phi 0, j        b1: if c0 b2 b3
//	    if ci b2 b3         b2: load a[x]
//	b2: load a[x+i]    ->   b3: if c1 b4 b5
//	b3: j = i+1             b4: load a[x+1]
//	    if j < 8 b1 b4      b5: ...
//
// ptxas unrolls them, too, but then computes each address again after its condition. The pass runs once
// the checks at which the loop would fault have left it.
func unrollGuarded(f *ir.Func, o *Options) (changed bool) {
	return unrollLoops(f, o, func(l *analysis.Loop, n int, _ *unpromotable) bool {
		return n <= maxGuardedTrips && n*size(l) <= maxGuarded && len(l.Blocks) <= maxGuardedBlocks && !l.Header.Cold && guards(l)
	})
}

// guards reports whether the loop has no checks and no stores, and all its loads are under a condition and of elements that
// are one after the other.
func guards(l *analysis.Loop) bool {
	loads := 0
	for _, b := range l.Blocks {
		for _, v := range b.Values {
			switch {
			case v.Op == ir.OpLoad:
				if v.Args[0].Type.Space != ir.Global || l.InEveryIteration(b) || !steps(l, v.Args[0]) {
					return false
				}
				loads++
			case !v.Op.Pure() && v.Op != ir.OpPhi && v.Op != ir.OpIf && v.Op != ir.OpJump:
				return false
			}
		}
	}
	return loads > 0
}

// steps reports whether the address is that of an element whose index is a counter of the loop plus an invariant.
func steps(l *analysis.Loop, address *ir.Value) bool {
	if address.Op != ir.OpIndex || address.Args[1].Op != ir.OpAdd {
		return false
	}
	inside := func(v *ir.Value) bool { return v.Block != nil && l.Contains(v.Block) }
	args := address.Args[1].Args
	i := slices.IndexFunc(args, inside)
	return !inside(address.Args[0]) && i >= 0 && args[i].Op == ir.OpPhi && args[i].Block == l.Header && !inside(args[1-i])
}
