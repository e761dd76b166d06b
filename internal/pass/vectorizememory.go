package pass

import (
	"cmp"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// vectorizeMemory joins adjacent loads, and adjacent stores, of numbers into accesses of 4, 8 or 16
// bytes, where the address is known to be aligned: four scalar stores take twice as long, measured.
// Numbers of one or two bytes are joined to integers of 32 bits. Locals are left alone, as ptxas
// may promote them to registers.
//
//	%1 = load f32 %0                  %9 = load [4 x f32] %0
//	%2 = offset %0 {4}                %1 = extract f32 %9 {0}
//	%3 = load f32 %2                  %3 = extract f32 %9 {1}
//	%4 = offset %0 {8}            ->  %5 = extract f32 %9 {2}
//	%5 = load f32 %4                  %7 = extract f32 %9 {3}
//	%6 = offset %0 {12}
//	%7 = load f32 %6
func vectorizeMemory(f *ir.Func, o *Options) {
	if !o.Wide {
		return
	}
	dom := ir.Dominators(f)
	w := &memoryVectorizer{f: f, align: analysis.NewAlignment(dom, 1)}
	w.promised = w.align
	if f.Kernel && (o.Aligned || f.Aligned) {
		w.promised = analysis.NewAlignment(dom, analysis.Aligned)
	}
	for _, b := range dom.Order() {
		w.b = b
		for _, op := range []ir.Op{ir.OpLoad, ir.OpStore} {
			for w.join(op) {
			}
		}
	}
	f.Replace(&w.repl)
}

// A memoryVectorizer joins the accesses of one function.
type memoryVectorizer struct {
	f        *ir.Func
	b        *ir.Block
	align    *analysis.Alignment
	promised *analysis.Alignment // with what launches promise, if they do
	repl     ir.Replacements
}

// An access is a load or a store of a scalar, off bytes after base.
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
func (w *memoryVectorizer) join(op ir.Op) bool {
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
	return !isAggregate(t) && t.Kind != ir.KindI1 && !t.IsPtr() && v.Args[0].Type.Space != ir.Local
}

// joinSome joins the first run of neighbours in the stretch that allows it.
func (w *memoryVectorizer) joinSome(stretch []access) bool {
	for _, first := range stretch {
		for bytes := int64(analysis.Aligned); bytes >= 4; bytes /= 2 {
			run := w.run(stretch, first, bytes)
			if run != nil && w.free(run) {
				w.f.Aligned = w.f.Aligned || alignmentOf(w.align, first)%bytes != 0
				w.replace(run)
				return true
			}
		}
	}
	return false
}

// run returns adjacent accesses of the given total size in bytes, the lowest first, or nil.
func (w *memoryVectorizer) run(stretch []access, first access, bytes int64) []access {
	size := first.scalar().Size()
	if bytes < 2*size || alignmentOf(w.promised, first)%bytes != 0 {
		return nil
	}
	run := []access{first}
	for k := int64(1); k < bytes/size; k++ {
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

// alignmentOf returns the power of two that the address of an access is a multiple of.
func alignmentOf(known *analysis.Alignment, a access) int64 {
	n := known.Of(a.base)
	for a.off%n != 0 {
		n /= 2
	}
	return n
}

// free reports whether the loads may all happen where the first one does, or the stores where
// the last one does.
func (w *memoryVectorizer) free(run []access) bool {
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

func (w *memoryVectorizer) ends(run []access) (lo, hi int) {
	byPlace := func(a, b access) int { return cmp.Compare(a.at, b.at) }
	return slices.MinFunc(run, byPlace).at, slices.MaxFunc(run, byPlace).at
}

// replace makes the run one access.
func (w *memoryVectorizer) replace(run []access) {
	lo, hi := w.ends(run)
	at := lo
	if run[0].v.Op == ir.OpStore {
		at = hi
	}
	e := &editor{b: w.b, pos: w.b.Values[at].Pos}
	p := e.offset(run[0].base, run[0].off)
	if run[0].v.Op == ir.OpStore {
		e.make(ir.OpStore, ir.Void, p, w.joined(e, run))
	} else {
		w.split(e, p, run)
	}
	dead := func(v *ir.Value) bool {
		return slices.ContainsFunc(run, func(a access) bool { return a.v == v })
	}
	values := slices.Insert(slices.Clone(w.b.Values), at, e.out...)
	w.b.Values = slices.DeleteFunc(values, dead)
}

// split loads the run, and makes its numbers of what comes.
func (w *memoryVectorizer) split(e *editor, p *ir.Value, run []access) {
	elem := run[0].scalar()
	if elem.Size() >= 4 {
		v := e.make(ir.OpLoad, ir.ArrayOf(int64(len(run)), elem), p)
		for i, a := range run {
			w.repl.Add(a.v, e.makeImm(ir.OpExtract, elem, int64(i), v))
		}
		return
	}
	bits := 8 * elem.Size()
	words := w.words(e, p, int64(len(run))*elem.Size()/4)
	for i, a := range run {
		word, shift := words[int64(i)*elem.Size()/4], int64(i)*bits%32
		if shift > 0 {
			word = e.make(ir.OpLShr, ir.I32, word, e.constant(ir.I32, shift))
		}
		w.repl.Add(a.v, e.make(ir.OpTrunc, elem, word))
	}
}

// words loads n words after p.
func (w *memoryVectorizer) words(e *editor, p *ir.Value, n int64) []*ir.Value {
	if n == 1 {
		return []*ir.Value{e.make(ir.OpLoad, ir.I32, p)}
	}
	v := e.make(ir.OpLoad, ir.ArrayOf(n, ir.I32), p)
	words := make([]*ir.Value, n)
	for i := range words {
		words[i] = e.makeImm(ir.OpExtract, ir.I32, int64(i), v)
	}
	return words
}

// joined returns the one value that the run stores.
func (w *memoryVectorizer) joined(e *editor, run []access) *ir.Value {
	var parts []*ir.Value
	elem := run[0].scalar()
	for _, a := range run {
		parts = append(parts, w.repl.Of(a.v.Args[1]))
	}
	if elem.Size() < 4 {
		elem, parts = ir.I32, packed(e, parts)
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return e.make(ir.OpStruct, ir.ArrayOf(int64(len(parts)), elem), parts...)
}

// packed returns words with the parts, the first one in the lowest bits.
func packed(e *editor, parts []*ir.Value) []*ir.Value {
	per := int(4 / parts[0].Type.Size())
	var words []*ir.Value
	for group := range slices.Chunk(parts, per) {
		var word *ir.Value
		for i, part := range group {
			x := e.make(ir.OpZExt, ir.I32, part)
			if i == 0 {
				word = x
				continue
			}
			x = e.make(ir.OpShl, ir.I32, x, e.constant(ir.I32, int64(32/per*i)))
			word = e.make(ir.OpOr, ir.I32, word, x)
		}
		words = append(words, word)
	}
	return words
}
