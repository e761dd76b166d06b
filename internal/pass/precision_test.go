package pass

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// TestPrecision counts what the analyses know of many functions. An analysis that knows less than before changes
// testdata/precision.txt; that what it knows is true is compared elsewhere.
func TestPrecision(t *testing.T) {
	k := knowledge{}
	for i, f := range slices.Concat(frontendKernels(t), randomKernels(t), randomLoops()[:60]) {
		if slices.ContainsFunc(f.Blocks[0].Values, func(v *ir.Value) bool { return v.Op == ir.OpAlloca }) {
			g, err := Compile(f, Options{Disable: []string{"prove", "version-loops", "version-kernel"}})
			if err != nil {
				t.Fatal(err)
			}
			f = g
		}
		k.gather(withProbes(f, rand.New(rand.NewPCG(17, uint64(i)))))
	}
	sameFile(t, "testdata/precision.txt", k.String())
}

// knowledge counts what is known, by kind.
type knowledge map[string]int

func (k knowledge) gather(f *ir.Func) {
	w := newWitness(f)
	k.structure(w.dom)
	k.uniformity(w.dom)
	demands := analysis.NewDemands(f)
	for _, b := range w.dom.Order() {
		k.integers(w, analysis.Point{Block: b, Index: len(b.Phis())})
		k.integers(w, analysis.End(b))
		k.accesses(b)
		for i, v := range b.Values {
			k[fmt.Sprintf("demand %d", demands[v.ID])]++
			if v.Op == ir.OpCheck {
				k.integers(w, analysis.Point{Block: b, Index: i + 1})
			}
			if s := analysis.SignsOf(v); v.Type.IsFloat() && !s.Below {
				k["floats that are never below 0"]++
			}
			k["zeros at the end of integers and addresses"] += bits.Len64(uint64(w.alignment.Of(v)))
		}
	}
}

// integers counts what is known at a place about ranges, conditions and polynomials.
func (k knowledge) integers(w *witness, p analysis.Point) {
	for _, v := range w.known(p) {
		switch {
		case !v.Type.IsInt():
		case v.Type.Kind == ir.KindI1:
			if holds, known := w.ranges.True(v, p); known {
				k[fmt.Sprintf("conditions that are known to be %v", holds)]++
			}
		default:
			if x := w.ranges.At(v, p); x != analysis.FullRange(v.Type) {
				k["ranges"]++
				k["bits of ranges"] += bits.Len64(uint64(x.Hi - x.Lo))
			}
			k.polynomial(w, v, p)
		}
	}
}

func (k knowledge) polynomial(w *witness, v *ir.Value, p analysis.Point) {
	q, ok := analysis.NewPolynomial(v)
	if !ok || v.Type.Kind != ir.KindI64 || v.Block != p.Block {
		return
	}
	for range q.Terms() {
		k["terms of polynomials"]++
	}
	if x, ok := q.Range(w.ranges, p); ok {
		k["ranges of polynomials"]++
		k["bits of ranges of polynomials"] += bits.Len64(uint64(x.Hi - x.Lo))
	}
}

// accesses counts the pairs of loads and stores of a block that are known to be apart.
func (k knowledge) accesses(b *ir.Block) {
	var list []*ir.Value
	for _, v := range b.Values {
		if v.Op != ir.OpLoad && v.Op != ir.OpStore {
			continue
		}
		for _, before := range list {
			if !analysis.MayAlias(before.Args[0], v.Args[0]) {
				k["accesses to different objects"]++
			}
			if !analysis.MayOverlap(before, v) {
				k["accesses to different bytes"]++
			}
		}
		list = append(list, v)
	}
}

// structure counts loops, dominance frontiers, control dependences, and estimates of registers and time.
func (k knowledge) structure(dom *ir.Dom) {
	control := analysis.NewControl(dom, func(from, to *ir.Block) bool { return false })
	for _, l := range analysis.Loops(dom) {
		k["blocks in loops"] += len(l.Blocks)
		k["depth of loops"] += l.Depth
	}
	for _, list := range analysis.Frontiers(dom) {
		k["dominance frontiers"] += len(list)
	}
	for _, list := range control.Deciders() {
		k["control dependences"] += len(list)
	}
	k["registers"] += analysis.Pressure(dom)
	k["time in 1/4 instructions"] += int(4 * analysis.Cost(dom))
}

func (k knowledge) uniformity(dom *ir.Dom) {
	for _, g := range groups {
		u := g.analyse(dom)
		for _, b := range dom.Order() {
			if !u.Divergent(b) {
				k["blocks that all threads run, of a "+g.name]++
			}
			for _, v := range b.Values {
				if v.Type.Kind != ir.KindVoid && !u.Varying(v) {
					k["uniform values, in a "+g.name]++
				}
			}
		}
	}
}

func (k knowledge) String() string {
	var lines []string
	for what, n := range k {
		lines = append(lines, fmt.Sprintf("%s: %d\n", what, n))
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}
