package pass

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
	"github.com/gopherwarp/gopherwarp/internal/ir/edit"
)

const (
	maxApart      = 300 // values of a kernel that is copied
	maxApartPairs = 10  // of slices that the launcher compares
)

// versionApart lets the launcher test whether the slices that a kernel writes overlap others, if they could otherwise not be
// kept in registers in a loop. If they do not, a copy of the kernel runs whose blocks say so; where versionKernel has made a
// copy, it is the one with all checks that runs otherwise.
//
//	b0: ...                              b5: t = or (ule ptr+8*cap, q), (ule q+4*n, ptr)
//	b1: x = load ptr                         if t b0 b6
//	    store ptr, (add x, (load q+i))   ->  b0 apart: ...
//	    if less b1 b2                        b1 apart: x = load ptr, as before
//	                                         b6: a copy of b0, and so on
func versionApart(f *ir.Func, o *Options) {
	if !f.Kernel || f.Coarse > 0 {
		return
	}
	a := &aparter{f: f}
	if !a.find() || len(a.pairs) > maxApartPairs || !a.pays() {
		return
	}
	entry := f.Blocks[0]
	if t := entry.Term(); t.Op == ir.OpIf && entry.Succs[1].Cold {
		if _, ok := launchTest(t.Args[0]); ok {
			a.extend(entry)
			return
		}
	}
	if size, ok := copySize(f); ok && size <= maxApart {
		a.copy()
	}
}

// An aparter handles one kernel.
type aparter struct {
	f       *ir.Func
	written []*ir.Value    // the addresses of slices
	pairs   [][2]*ir.Value // the kernel writes the first one
}

// find gathers the pairs of slices. It reports false if there are none, or if the kernel writes to other memory, or synchronizes
// with other threads by what it writes.
func (a *aparter) find() bool {
	var accessed []*ir.Value
	for _, b := range a.f.Blocks {
		for _, v := range b.Values {
			far := len(v.Args) > 0 && v.Args[0].Type.IsPtr() && (v.Args[0].Type.Space == ir.Global || v.Args[0].Type.Space == ir.Generic)
			switch {
			case v.Op.Atomic() && far || synchronizes(v.Op):
				return false
			case !far || v.Op != ir.OpLoad && v.Op != ir.OpStore:
				continue
			}
			p := analysis.SliceOf(v)
			if p == nil && v.Op == ir.OpStore {
				return false
			}
			if p != nil && v.Op == ir.OpStore && !slices.Contains(a.written, p) {
				a.written = append(a.written, p)
			}
			if p != nil && !slices.Contains(accessed, p) {
				accessed = append(accessed, p)
			}
		}
	}
	for i, p := range a.written {
		for _, q := range accessed {
			if q != p && !slices.Contains(a.written[:i], q) {
				a.pairs = append(a.pairs, [2]*ir.Value{p, q})
			}
		}
	}
	return len(a.pairs) > 0
}

// synchronizes reports whether an operation makes other threads' writes visible, or writes to memory that is no argument's slice.
func synchronizes(op ir.Op) bool {
	switch op {
	case ir.OpFence, ir.OpGridBarrier, ir.OpTileStore, ir.OpBulkStore, ir.OpStoreMatrix:
		return true
	}
	return false
}

// pays reports whether there is an innermost loop that stores to one slice and loads from another one, either one that the kernel never
// writes, or at least one of both at an address that does not change.
func (a *aparter) pays() bool {
	nest := analysis.Loops(ir.Dominators(a.f))
	return slices.ContainsFunc(nest, func(l *analysis.Loop) bool {
		return !l.Header.Cold && isInnermost(nest, l) && a.helps(l)
	})
}

func (a *aparter) helps(l *analysis.Loop) bool {
	var stored, others []*ir.Value
	for _, b := range l.Blocks {
		for _, v := range b.Values {
			switch p := v; {
			case v.Op != ir.OpLoad && v.Op != ir.OpStore || analysis.SliceOf(p) == nil:
			case v.Op == ir.OpStore:
				stored = append(stored, v)
			default:
				others = append(others, v)
			}
		}
	}
	fixed := func(v *ir.Value) bool { return v.Args[0].Block == nil || !l.Contains(v.Args[0].Block) }
	return slices.ContainsFunc(stored, func(v *ir.Value) bool {
		return slices.ContainsFunc(others, func(w *ir.Value) bool {
			p := analysis.SliceOf(w)
			return p != analysis.SliceOf(v) && (!slices.Contains(a.written, p) || fixed(v) || fixed(w))
		})
	})
}

// test computes whether no pair overlaps.
func (a *aparter) test(e *editor) (ok *ir.Value) {
	from, to := map[*ir.Value]*ir.Value{}, map[*ir.Value]*ir.Value{}
	limits := func(p *ir.Value) (*ir.Value, *ir.Value) {
		if from[p] == nil {
			capacity := slices.IndexFunc(a.f.Params, func(c *ir.Value) bool { return c.Imm == p.Imm+16 })
			slice := slices.IndexFunc(a.f.Slices, func(s ir.SliceParam) bool { return s.Offset == p.Imm })
			size := e.make(ir.OpMul, ir.I64, a.f.Params[capacity], e.constant(ir.I64, a.f.Slices[slice].Elem))
			from[p] = e.make(ir.OpBitcast, ir.I64, p)
			to[p] = e.make(ir.OpAdd, ir.I64, from[p], size)
		}
		return from[p], to[p]
	}
	for _, x := range a.pairs {
		p, afterP := limits(x[0])
		q, afterQ := limits(x[1])
		t := e.make(ir.OpOr, ir.I1, e.make(ir.OpULe, ir.I1, afterP, q), e.make(ir.OpULe, ir.I1, afterQ, p))
		ok = both(e, ok, t)
	}
	return ok
}

// extend adds the test to that at the end of the entry, before the copies of the kernel.
func (a *aparter) extend(entry *ir.Block) {
	cond := atEnd(entry, func(e *editor) *ir.Value {
		return both(e, entry.Term().Args[0], a.test(e))
	})
	entry.Term().Args[0] = cond
	a.mark(entry.Succs[0], reachedFrom(entry.Succs[1]))
}

// copy copies the kernel and adds the test before both.
func (a *aparter) copy() {
	body := slices.Clone(a.f.Blocks)
	copied := edit.NewCloner(a.f, a.f)
	copied.Clone(body)
	rest := slices.Clone(a.f.Blocks[len(body):])
	for _, b := range rest {
		b.Cold = true
	}
	entry := a.f.NewBlock()
	e := &editor{b: entry, pos: body[0].Values[0].Pos}
	e.make(ir.OpIf, ir.Void, a.test(e))
	entry.Values = e.out
	entry.AddEdge(body[0])
	entry.AddEdge(copied.Block(body[0]))
	a.f.Blocks = slices.Concat([]*ir.Block{entry}, body, rest)
	a.mark(body[0], nil)
}

// mark marks the blocks that can be reached from b, without those that others reach.
func (a *aparter) mark(b *ir.Block, others map[*ir.Block]bool) {
	for x := range reachedFrom(b) {
		x.Apart = !others[x]
	}
}

// reachedFrom returns b and the blocks that can be reached from there, without those that are reached only through some others.
func reachedFrom(b *ir.Block, others ...*ir.Block) map[*ir.Block]bool {
	seen := map[*ir.Block]bool{b: true}
	for work := []*ir.Block{b}; len(work) > 0; {
		x := work[len(work)-1]
		work = work[:len(work)-1]
		if slices.Contains(others, x) {
			continue
		}
		for _, s := range x.Succs {
			if !seen[s] {
				seen[s] = true
				work = append(work, s)
			}
		}
	}
	return seen
}
