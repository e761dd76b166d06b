package pass

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// A group says which threads an analysis of uniformity is about.
type group struct {
	name    string
	analyse func(dom *ir.Dom) *analysis.Uniformity
	of      func(w *member) uint32 // the group of a thread of a block
}

var groups = []group{
	{"block", analysis.NewUniformity, func(*member) uint32 { return 0 }},
	{"row", analysis.NewRowUniformity, func(w *member) uint32 { return w.row() }},
	{"warp", analysis.NewWarpUniformity, func(w *member) uint32 { return (w.row()*w.ids[ir.OpNTid][0] + w.ids[ir.OpTid][0]) / 32 }},
}

// row returns the number of the thread's row.
func (w *member) row() uint32 {
	return w.ids[ir.OpTid][2]*w.ids[ir.OpNTid][1] + w.ids[ir.OpTid][1]
}

// TestUniformity runs the threads of blocks: what the analyses take for uniform is the same in all threads of a group.
func TestUniformity(t *testing.T) {
	compared := 0
	for seed := range uint64(300) {
		f := generateTeam(seed)
		if err := ir.Verify(f); err != nil {
			t.Fatalf("the generator is wrong: %v\n%v", err, f)
		}
		compared += uniformAsClaimed(t, f, rand.New(rand.NewPCG(seed, 14)))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if compared < 1_000_000 {
		t.Errorf("only %d values were compared", compared)
	}
}

// uniformAsClaimed runs teams of f and compares the members of each group. It returns how many values have been compared.
func uniformAsClaimed(t *testing.T, f *ir.Func, r *rand.Rand) (compared int) {
	t.Helper()
	dom := ir.Dominators(f)
	var of [3]*analysis.Uniformity
	for i, g := range groups {
		of[i] = g.analyse(dom)
	}
	for range 3 {
		team := newTeam(f, r.Uint64())
		if !team.run() {
			continue
		}
		for i, g := range groups {
			first := map[uint32]*member{}
			for _, w := range team.members {
				x := first[g.of(w)]
				if x == nil {
					first[g.of(w)] = w
					continue
				}
				n, wrong := sameUniform(f, of[i], x, w)
				if wrong != "" {
					t.Errorf("%s: threads %v and %v of a %s: %s\n%v", f.Name, x.ids[ir.OpTid], w.ids[ir.OpTid], g.name, wrong, f)
					return compared
				}
				compared += n
			}
		}
	}
	return compared
}

// sameUniform compares the values of two threads that should be equal, in blocks that both run, and how often they run
// these blocks.
func sameUniform(f *ir.Func, u *analysis.Uniformity, x, y *member) (compared int, wrong string) {
	allOfX, allOfY := x.stays(u), y.stays(u)
	for _, b := range f.Blocks {
		if u.Divergent(b) {
			continue
		}
		p, q := x.ends[b.ID], y.ends[b.ID]
		if allOfX && len(p) < len(q) || allOfY && len(q) < len(p) {
			return compared, fmt.Sprintf("b%d is run %d and %d times", b.ID, len(p), len(q))
		}
		for k := range min(len(p), len(q)) {
			for i, v := range b.Values {
				if u.Varying(v) || !v.Type.IsScalar() {
					continue
				}
				compared++
				if p[k][i] != q[k][i] {
					return compared, fmt.Sprintf("%%%d is %#x and %#x", v.ID, p[k][i], q[k][i])
				}
			}
		}
	}
	return compared, ""
}

// stays reports whether the thread runs to its end, without leaving the others by an edge that the analysis names: it runs
// all blocks that the group runs together.
func (w *member) stays(u *analysis.Uniformity) bool {
	for i := 1; i < len(w.way); i++ {
		if u.Leaves(w.way[i-1], w.way[i]) {
			return false
		}
	}
	return w.ended
}
