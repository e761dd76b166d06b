package pass

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// A witness runs a function in the interpreter and compares what the analyses claim about it with the values that it
// computes. A range, a fact or an alignment that a run contradicts is a bug, even if no pass uses it there.
type witness struct {
	f         *ir.Func
	m         *machine
	dom       *ir.Dom
	ranges    *analysis.Ranges
	alignment *analysis.Alignment
	control   *analysis.Control
	at        map[analysis.Point][]claim // made by the first run that gets there
	visits    []int                      // of a run, by block ID
	way       []*ir.Block                // of a run
	touches   touches
	wrong     string // the first claim that a run contradicts
}

// maxVisits is how often claims about a block are compared in one run.
const maxVisits = 6

// claimRuns is how many runs are compared with the claims about a function.
const claimRuns = 8

func newWitness(f *ir.Func) *witness {
	dom := ir.Dominators(f)
	return &witness{
		f: f, m: newMachine(usual), dom: dom, ranges: analysis.NewRanges(dom), alignment: analysis.NewAlignment(dom, paramAlign),
		control: analysis.NewControl(dom, func(from, to *ir.Block) bool { return false }),
		at:      map[analysis.Point][]claim{},
	}
}

// runsAsClaimed runs f with additional computations on random inputs, and fails if a run contradicts an analysis.
func runsAsClaimed(t *testing.T, f *ir.Func, r *rand.Rand) {
	t.Helper()
	f = withProbes(f, r)
	runsWithoutUndemanded(t, f, r)
	w := newWitness(f)
	for range claimRuns {
		if w.run(r.Uint64()); w.wrong != "" {
			t.Errorf("%s: %s\n%v", f.Name, w.wrong, w.f)
			return
		}
	}
}

func (w *witness) run(seed uint64) {
	args := w.m.randomInput(w.f, seed)
	w.visits, w.touches = make([]int, w.f.NumBlocks()), touches{}
	w.m.watch = w.watch
	w.way = w.way[:0]
	o, err := w.m.run(w.f, args) // a run that ends with a fault or too long has its values until then
	if w.wrong == "" {
		w.wrong = w.touches.wrong
	}
	if w.wrong == "" && err == nil && o.fault == "" {
		w.passesPostdominators()
	}
}

// passesPostdominators compares a complete run with the postdominators.
func (w *witness) passesPostdominators() {
	last := make([]int, w.f.NumBlocks()) // by block ID: where in the run, counted from 1
	for i, b := range w.way {
		last[b.ID] = i + 1
	}
	for i, b := range w.way {
		if next := w.control.After(b); next != nil && last[next.ID] <= i+1 {
			w.wrong = fmt.Sprintf("b%d comes after b%d", next.ID, b.ID)
		}
		if !w.control.Exits(b) {
			w.wrong = fmt.Sprintf("the function does not return after b%d", b.ID)
		}
	}
}

// watch compares the claims at three kinds of places: after a block's phis, after its checks, and at its end.
func (w *witness) watch(b *ir.Block, i int, values []datum) {
	if b.Func != w.f || w.wrong != "" {
		return
	}
	first := i == len(b.Phis())
	if first {
		w.visits[b.ID]++
		w.way = append(w.way, b)
		w.touches.enter()
	}
	v := b.Values[i]
	w.touches.add(v, values)
	if w.visits[b.ID] > maxVisits || !first && !v.Op.Terminator() && b.Values[i-1].Op != ir.OpCheck {
		return
	}
	p := analysis.Point{Block: b, Index: i}
	claims, ok := w.at[p]
	if !ok {
		claims = w.claims(p)
		w.at[p] = claims
	}
	for _, c := range claims {
		if !c.holds(values) {
			w.wrong = fmt.Sprintf("before value %d of b%d: wrong: %s%s", i, b.ID, c.what, show64(w.known(p), values))
			return
		}
	}
}

func show64(known []*ir.Value, values []datum) string {
	var s strings.Builder
	for _, v := range known {
		if v.Type.IsInt() {
			fmt.Fprintf(&s, "\n%%%d = %d", v.ID, number(v, values))
		}
	}
	return s.String()
}

// known returns the values that are computed at p.
func (w *witness) known(p analysis.Point) []*ir.Value {
	var list []*ir.Value
	list = append(list, w.f.Params...)
	for _, b := range w.dom.Order() {
		switch {
		case b == p.Block:
			list = append(list, b.Values[:p.Index]...)
		case w.dom.Dominates(b, p.Block):
			list = append(list, b.Values...)
		}
	}
	return list
}

// number returns the value of an integer as the analyses read it: an i1 is 0 or 1, others have signs.
func number(v *ir.Value, values []datum) int64 {
	if x := values[v.ID].bits; v.Type.Kind == ir.KindI1 {
		return int64(x)
	}
	return signed(v.Type, values[v.ID].bits)
}
