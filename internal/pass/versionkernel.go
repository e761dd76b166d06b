package pass

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
	"github.com/gopherwarp/gopherwarp/internal/ir/edit"
)

const (
	maxBounded = 300 // values of a kernel that is copied
	perBounded = 32  // values for each check that is saved, in a larger kernel
	maxTested  = 800 // values of the largest kernel that is copied
	minBounded = 2   // checks that must be saved for it
	minSimple  = 12  // checks of indices without products that must be saved for it
	perNested  = 4   // such checks that one in nested loops counts for
	inLoop     = 4   // checks that one in a loop costs as much as
	maxDepth   = 8   // of operations that are done again
)

// versionKernel copies kernels with checks. A test at the start decides, from the parameters and the
// grid's size, whether the lengths of slices are such that all indices are in range on the paths on
// which they are used: y*n+x is below n*n where x and y are below n, by comparisons, as induction
// variables, because they are clamped, or because the grid has no more threads. If so, the kernel runs without those checks;
// otherwise a copy with them runs. All threads decide alike, so that barriers stay uniform. After
// the test, the indices are known to fit 32 bits where the lengths do.
//
//	                                  b9: %8 = ule i1 %n, %length
//	b0: %1 = a thread's index             if %8 b0 b5
//	    %2 = slt i1 %1, %n            b0: as before
//	    if %2 b1 b2               ->  b1: store to %a + 4*%1, without the check
//	b1: %3 = ult i1 %1, %length           jump b2
//	    check %3                      b2: ret
//	    store to %a + 4*%1            b5 cold: a copy with the check
//	    jump b2
func versionKernel(f *ir.Func, _ *Options) {
	if !f.Kernel || f.NumValues() > 20*maxTested {
		return
	}
	size, ok := copySize(f)
	if !ok || size > maxTested {
		return
	}
	b := newBounder(f)
	b.lookAll()
	if b.linear = b.simple >= minSimple; b.linear {
		b.lookAll()
	}
	if len(b.checks) >= minBounded && size <= max(maxBounded, perBounded*len(b.checks)) && b.pays() {
		b.apply()
	}
}

// pays reports whether the test before the kernel costs less than the checks that it saves, those in loops in every iteration.
// Where no parameter's sign has to be tested, it always does.
func (b *bounder) pays() bool {
	saved := 0
	for _, c := range b.checks {
		saved += b.weights[c.Block]
	}
	return len(b.least) == 0 || saved >= len(b.bounds)+len(b.caps)/2
}

// copySize returns the number of values in f. It reports false if there may not be two of one of them.
func copySize(f *ir.Func) (n int, ok bool) {
	for _, b := range f.Blocks {
		n += len(b.Values)
		if hasProduct(b) || slices.ContainsFunc(b.Values, func(v *ir.Value) bool { return v.Op == ir.OpAlloca }) {
			return 0, false
		}
	}
	return n, true
}

// launched reports whether v is computed from parameters alone.
func launched(v *ir.Value, depth int) bool {
	switch {
	case v.Op == ir.OpParam || isConst(v):
		return true
	case depth == 0 || !v.Op.Pure() || len(v.Args) == 0:
		return false
	}
	return !slices.ContainsFunc(v.Args, func(a *ir.Value) bool { return !launched(a, depth-1) })
}

// apply inserts the test before the kernel and its copy.
func (b *bounder) apply() {
	body := slices.Clone(b.f.Blocks)
	copied := edit.NewCloner(b.f, b.f)
	copied.Clone(body)
	entry := b.f.NewBlock()
	e := &editor{b: entry, pos: b.checks[0].Pos}
	e.make(ir.OpIf, ir.Void, b.test(e))
	entry.Values = e.out
	entry.AddEdge(body[0])
	entry.AddEdge(copied.Block(body[0]))
	b.f.Note(ir.Note{Pos: e.pos, Kind: ir.KernelVersioned, Count: len(b.checks)})
	rest := b.f.Blocks[len(body) : len(b.f.Blocks)-1]
	for _, x := range rest {
		x.Cold = true
	}
	b.f.Blocks = slices.Concat([]*ir.Block{entry}, body, slices.Clone(rest))
	for _, c := range b.checks {
		b.drop(c)
	}
}

// test computes whether all bounds are below their lengths, and what they are computed from so small that they do not
// overflow.
func (b *bounder) test(e *editor) *ir.Value {
	made := map[*ir.Value]*ir.Value{}
	var ok *ir.Value
	and := func(op ir.Op, x, y *ir.Value) {
		t := e.make(op, ir.I1, x, y)
		if ok != nil {
			t = e.make(ir.OpAnd, ir.I1, ok, t)
		}
		ok = t
	}
	for _, v := range slices.SortedFunc(maps.Keys(b.least), byID) {
		and(ir.OpSLe, e.constant(v.Type, b.least[v]), again(e, v, made))
	}
	for _, v := range slices.SortedFunc(maps.Keys(b.caps), byID) {
		x := again(e, v, made)
		and(ir.OpULt, x, e.constant(ir.I64, b.caps[v]))
		made[v] = e.make(ir.OpZExt, ir.I64, e.make(ir.OpTrunc, ir.I32, x)) // products of that are short
	}
	for _, c := range b.bounds {
		and(ir.OpULe, sum(e, c.end, made), again(e, c.length, made))
	}
	return ok
}

// byID orders values.
func byID(x, y *ir.Value) int { return cmp.Compare(x.ID, y.ID) }

// sum computes a polynomial of what is launched.
func sum(e *editor, p analysis.Polynomial, made map[*ir.Value]*ir.Value) *ir.Value {
	var total *ir.Value
	for factors, times := range p.Terms() {
		if times == 0 {
			continue
		}
		var x *ir.Value
		for _, v := range factors {
			if y := again(e, v, made); x == nil {
				x = y
			} else {
				x = e.make(ir.OpMul, ir.I64, x, y)
			}
		}
		switch {
		case x == nil:
			x = e.constant(ir.I64, times)
		case times != 1:
			x = e.make(ir.OpMul, ir.I64, x, e.constant(ir.I64, times))
		}
		if total != nil {
			x = e.make(ir.OpAdd, ir.I64, total, x)
		}
		total = x
	}
	if total == nil {
		total = e.constant(ir.I64, 0)
	}
	return total
}

// again computes v, which is launched.
func again(e *editor, v *ir.Value, made map[*ir.Value]*ir.Value) *ir.Value {
	switch {
	case made[v] != nil:
	case v.Op == ir.OpParam:
		return v
	default:
		var args []*ir.Value
		for _, a := range v.Args {
			args = append(args, again(e, a, made))
		}
		made[v] = e.makeImm(v.Op, v.Type, v.Imm, args...)
		made[v].Aux = v.Aux
	}
	return made[v]
}

// drop removes a check, and computes its index in 32 bits after it where the length fits 32 bits.
func (b *bounder) drop(check *ir.Value) {
	block, index := check.Block, check.Args[0].Args[0]
	i := slices.Index(block.Values, check)
	length := b.ranges.At(check.Args[0].Args[1], b.ranges.Facts.PointOf(check))
	if length.Lo < 0 || length.Hi > math.MaxUint32 {
		block.Values = slices.Delete(block.Values, i, i+1)
		return
	}
	e := &editor{b: block, pos: check.Pos}
	with := map[*ir.Value]*ir.Value{index: b.shortener.short(&halver{e: e, made: map[*ir.Value]*ir.Value{}}, index)}
	behind := block.Values[i+1:]
	block.Values = slices.Concat(block.Values[:i], e.out, behind)
	for _, x := range b.dom.Order() {
		switch {
		case x == block:
			replaceIndices(behind, with)
		case b.dom.Dominates(block, x):
			replaceIndices(x.Values, with)
		}
	}
}
