package pass

import (
	"cmp"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
	"github.com/gopherwarp/gopherwarp/internal/ir/edit"
)

// maxDirected is the most values of the copies that a directive makes.
const maxDirected = 16000

func isUnroll(v *ir.Value) bool { return v.Op == ir.OpUnroll }

// dropOutside drops operations that are in no loop: the one that they were for runs once.
func dropOutside(f *ir.Func, nest []*analysis.Loop) {
	for _, b := range f.Blocks {
		if innermost(nest, b) == nil {
			b.Values = slices.DeleteFunc(b.Values, isUnroll)
		}
	}
}

// innermost returns the innermost loop that contains b, or nil.
func innermost(nest []*analysis.Loop, b *ir.Block) *analysis.Loop {
	if i := slices.IndexFunc(nest, func(l *analysis.Loop) bool { return l.Contains(b) }); i >= 0 {
		return nest[i]
	}
	return nil
}

// directed returns the number that a directive gives for the loop, or 0.
func directed(nest []*analysis.Loop, l *analysis.Loop) int {
	n := int64(0)
	for _, b := range l.Blocks {
		for _, v := range b.Values {
			if isUnroll(v) && innermost(nest, b) == l {
				n = max(n, v.Imm)
			}
		}
	}
	return int(n)
}

// rolled reports whether a directive, or what is left of one, forbids to unroll the loop.
func rolled(nest []*analysis.Loop, l *analysis.Loop) bool { return directed(nest, l) > 0 }

// unrollBy unrolls a loop by n.
func unrollBy(l *analysis.Loop, n int) {
	trips := l.TripCount(n)
	if cmp.Or(trips, n)*size(l) > maxDirected {
		note(l, ir.TooLarge, n)
		keep(l.Header)
		return
	}
	if trips > 0 {
		note(l, ir.Unrolled, trips)
		edit.DemoteLiveOuts(l)
		c := edit.NewCloner(l.Header.Func, l.Header.Func)
		for range trips {
			c.CopyLoop(l)
		}
		return
	}
	note(l, ir.Joined, n)
	exact := false
	if latch := l.Latches[0]; len(l.Latches) == 1 && latch.Term().Op == ir.OpIf && latch.Succs[0] == l.Header {
		trips = l.ExitCount(analysis.Exit{From: latch, To: latch.Succs[1]}, maxPartialTrips)
		exact = trips > 0 && trips%n == 0
	}
	if u := (&loopUnroller{loop: l, factor: n}); !exact && !hasConvergent(l) && u.counter() {
		u.apply()
		keep(u.copies[0].header)
		keep(l.Header)
		return
	}
	chain(l, n, exact)
}

// keep notes that a loop with this header must not be unrolled further.
func keep(header *ir.Block) {
	mark := header.Make(ir.OpUnroll, ir.Void)
	mark.Imm = 1
	header.Values = slices.Insert(header.Values, len(header.Phis()), mark)
}

// chain puts n-1 copies before the loop's own blocks, and leads back from there to the first one. If exact, the
// copies' latches never leave.
func chain(l *analysis.Loop, n int, exact bool) {
	edit.DemoteLiveOuts(l)
	c := edit.NewCloner(l.Header.Func, l.Header.Func)
	var first *ir.Block
	var latches []*ir.Block
	for range n - 1 {
		c.CopyLoop(l)
		if first == nil {
			first = c.Block(l.Header)
		}
		latches = append(latches, c.Block(l.Latches[0]))
	}
	if exact {
		for _, latch := range latches {
			neverLeave(latch, l.Latches[0].Succs[1])
		}
	}
	for _, p := range l.Latches {
		k := l.Header.PredIndex(p)
		for i, phi := range first.Phis() {
			phi.Args = append(phi.Args, l.Header.Phis()[i].Args[k])
		}
		edit.RemovePred(l.Header, p)
		p.Succs[slices.Index(p.Succs, l.Header)] = first
		first.Preds = append(first.Preds, p)
	}
	keep(first)
}
