package pass

import (
	"cmp"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// wide joins loads, and stores, of 2 or 4 numbers side by side into one of up to 16 bytes,
// where the address is known to be a multiple of that: four scalar stores take twice as long,
// measured. Locals are left alone, as ptxas may turn them into registers.
func wide(f *ir.Func, o *Options) {
	if !o.Wide {
		return
	}
	dom := ir.Dominators(f)
	align := analysis.NewAlignment(dom, analysis.Aligned)
	repl := map[*ir.Value]*ir.Value{}
	for _, b := range dom.Order() {
		w := &widener{b: b, align: align, repl: repl}
		for _, op := range []ir.Op{ir.OpLoad, ir.OpStore} {
			for w.join(op) {
			}
		}
	}
	f.Replace(repl)
}

type widener struct {
	b     *ir.Block
	align *analysis.Alignment
	repl  map[*ir.Value]*ir.Value
}

// An access is a load or a store of a scalar, off bytes behind base.
type access struct {
	v    *ir.Value
	at   int // in the block
	base *ir.Value
	off  int64
}

// scalar returns the type that a load or store accesses.
func (a access) scalar() *ir.Type {
	if a.v.Op == ir.OpStore {
		return a.v.Args[1].Type
	}
	return a.v.Type
}

// join joins the first group of accesses that can be joined.
func (w *widener) join(op ir.Op) bool {
	var stretch []access
	for i, v := range w.b.Values {
		if v.Op == op && joinable(v) {
			a := access{v: v, at: i, base: v.Args[0]}
			if a.base.Op == ir.OpOffset {
				a.base, a.off = a.base.Args[0], a.base.Imm
			}
			stretch = append(stretch, a)
		} else if v.Op.Effect() && v.Op != ir.OpStore { // nothing moves over what can be seen
			if w.joinSome(stretch) {
				return true
			}
			stretch = nil
		}
	}
	return false // a terminator is an effect, so the last stretch has been tried
}

func joinable(v *ir.Value) bool {
	t := access{v: v}.scalar()
	return !isAggregate(t) && t.Kind != ir.KindI1 && t.Size() >= 4 && !t.IsPtr() && v.Args[0].Type.Space != ir.Local
}

// joinSome joins the first run of neighbours in the stretch that allows it.
func (w *widener) joinSome(stretch []access) bool {
	for _, first := range stretch {
		for _, n := range []int64{4, 2} {
			run := w.run(stretch, first, n)
			if run != nil && w.free(run) {
				w.replace(run)
				return true
			}
		}
	}
	return false
}

// run returns n accesses side by side, the lowest first, or nil.
func (w *widener) run(stretch []access, first access, n int64) []access {
	size := first.scalar().Size()
	if n*size > analysis.Aligned || w.alignment(first)%(n*size) != 0 {
		return nil
	}
	run := []access{first}
	for k := int64(1); k < n; k++ {
		i := slices.IndexFunc(stretch, func(a access) bool {
			return a.base == first.base && a.off == first.off+k*size && a.scalar().Equal(first.scalar())
		})
		if i < 0 {
			return nil
		}
		run = append(run, stretch[i])
	}
	return run
}

func (w *widener) alignment(a access) int64 {
	z := w.align.Of(a.base)
	for a.off%z != 0 {
		z /= 2
	}
	return z
}

// free reports whether the loads may all happen where the first one does, or the stores where
// the last one does.
func (w *widener) free(run []access) bool {
	lo, hi := w.ends(run)
	for i := lo; i <= hi; i++ {
		x := w.b.Values[i]
		if x.Op != ir.OpStore && (x.Op != ir.OpLoad || run[0].v.Op == ir.OpLoad) {
			continue
		}
		for _, a := range run {
			moves := a.v.Op == ir.OpLoad && i < a.at || a.v.Op == ir.OpStore && i > a.at
			own := slices.ContainsFunc(run, func(o access) bool { return o.v == x })
			if moves && !own && analysis.MayAlias(x.Args[0], a.v.Args[0]) {
				return false
			}
		}
	}
	return true
}

func (w *widener) ends(run []access) (lo, hi int) {
	byPlace := func(a, b access) int { return cmp.Compare(a.at, b.at) }
	return slices.MinFunc(run, byPlace).at, slices.MaxFunc(run, byPlace).at
}

// replace makes the run one access of an array.
func (w *widener) replace(run []access) {
	lo, hi := w.ends(run)
	t := ir.ArrayOf(int64(len(run)), run[0].scalar())
	at := lo
	if run[0].v.Op == ir.OpStore {
		at = hi
	}
	e := &editor{b: w.b, pos: w.b.Values[at].Pos}
	p := e.offset(run[0].base, run[0].off)
	if run[0].v.Op == ir.OpStore {
		e.make(ir.OpStore, ir.Void, p, w.joined(e, t, run))
	} else {
		v := e.make(ir.OpLoad, t, p)
		for i, a := range run {
			w.repl[a.v] = e.makeImm(ir.OpExtract, t.Elem, int64(i), v)
		}
	}
	dead := func(v *ir.Value) bool {
		return slices.ContainsFunc(run, func(a access) bool { return a.v == v })
	}
	values := slices.Insert(slices.Clone(w.b.Values), at, e.out...)
	w.b.Values = slices.DeleteFunc(values, dead)
}

func (w *widener) joined(e *editor, t *ir.Type, run []access) *ir.Value {
	var parts []*ir.Value
	for _, a := range run {
		parts = append(parts, find(w.repl, a.v.Args[1]))
	}
	return e.make(ir.OpStruct, t, parts...)
}
