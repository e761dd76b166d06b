package ir_test

import (
	"math/rand/v2"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// TestDominates compares with the definition, in random graphs: a dominates b where b cannot be reached
// without a.
func TestDominates(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		f := ir.NewFunc("f", ir.Void)
		for range 2 + r.IntN(12) {
			f.NewBlock()
		}
		for _, b := range f.Blocks {
			for range r.IntN(3) {
				b.AddEdge(f.Blocks[1+r.IntN(len(f.Blocks)-1)])
			}
		}
		dom := ir.Dominators(f)
		reached := reach(f, nil)
		for _, a := range f.Blocks {
			without := reach(f, a)
			for _, b := range f.Blocks {
				if !reached[a] || !reached[b] {
					continue
				}
				if got, want := dom.Dominates(a, b), !without[b]; got != want {
					t.Fatalf("b%d dominates b%d: got %v, want %v", a.ID, b.ID, got, want)
				}
			}
		}
	}
}

// reach returns the blocks that the entry reaches without going through one.
func reach(f *ir.Func, without *ir.Block) map[*ir.Block]bool {
	found := map[*ir.Block]bool{}
	var visit func(b *ir.Block)
	visit = func(b *ir.Block) {
		if b == without || found[b] {
			return
		}
		found[b] = true
		for _, s := range b.Succs {
			visit(s)
		}
	}
	visit(f.Blocks[0])
	return found
}
