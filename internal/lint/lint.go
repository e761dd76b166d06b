package lint

import (
	"cmp"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
	"github.com/gopherwarp/gopherwarp/internal/pass"
)

// A Finding is a mistake at a position in the source.
type Finding struct {
	Pos      ir.Pos
	Category string // one of the categories below
	Message  string // one line without a period
	// Other, if known, is a second position that the message refers to, and Says describes it.
	Other ir.Pos
	Says  string
}

// The categories.
const (
	Barrier  = "barrier"  // a barrier that only some threads of a block reach
	Race     = "race"     // shared memory that other threads access with no barrier in between
	Coalesce = "coalesce" // adjacent threads access memory far apart
	Bank     = "bank"     // threads of a warp access the same bank of shared memory
	Local    = "local"    // an array in local memory rather than in registers
	Overflow = "overflow" // an index that is computed in 32 bits and may overflow
)

// late lists the passes after which a function no longer resembles its source.
var late = []string{
	"prove", "simplify-by-range", "divide-by-power", "divide-by-constant", "contract", "if-convert", "rotate", "unify-phis", "unroll-directed", "unroll",
	"load-elimination", "licm", "scalar-promotion", "version-loops", "unroll-guarded", "separate-offsets", "truncate-integers", "loop-deletion",
	"bypass-slow-division", "hoist-checks", "fuse-checks", "coarsen", "vectorize-memory", "sink",
}

// Kernel returns the findings in kernel f, sorted by position and without duplicates. f is the
// output of package frontend and is not modified. Kernel returns an error if f cannot be compiled.
func Kernel(f *ir.Func) ([]Finding, error) {
	plain, err := pass.Compile(f, pass.Options{Disable: late})
	if err != nil {
		return nil, err
	}
	whole, err := pass.Compile(f, pass.Options{Narrow: true, Contract: true, Wide: true})
	if err != nil {
		return nil, err
	}
	k, done := newKernel(plain), newKernel(whole)
	k.barriers()
	k.races()
	k.global()
	k.overflows()
	done.banks()
	done.locals()
	found := append(k.found, done.found...)
	slices.SortStableFunc(found, compare)
	return slices.CompactFunc(found, func(a, b Finding) bool { return compare(a, b) == 0 }), nil
}

func compare(a, b Finding) int {
	return cmp.Or(cmp.Compare(a.Pos.File, b.Pos.File), cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Category, b.Category))
}

// kernel is a kernel with the results of its analyses.
type kernel struct {
	f       *ir.Func
	dom     *ir.Dom
	uniform *analysis.Uniformity
	ranges  *analysis.Ranges
	loops   []*analysis.Loop
	eval    *evaluator
	found   []Finding
}

func newKernel(f *ir.Func) *kernel {
	dom := ir.Dominators(f)
	k := &kernel{
		f: f, dom: dom, uniform: analysis.NewUniformity(dom), ranges: analysis.NewRanges(dom), loops: analysis.Loops(dom),
	}
	k.eval = newEvaluator(f, k.uniform)
	return k
}

func (k *kernel) report(f Finding) {
	if f.Pos.Known() {
		k.found = append(k.found, f)
	}
}

// each calls visit for every reachable value.
func (k *kernel) each(visit func(v *ir.Value, at analysis.Point)) {
	for _, b := range k.dom.Order() {
		for i, v := range b.Values {
			visit(v, analysis.Point{Block: b, Index: i})
		}
	}
}
