package pass

import (
	"cmp"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

const (
	maxStrides     = 6 // addresses of a loop that advance, each in a register pair
	maxStrideTerms = 8 // of an index
)

// reduceStrides lets addresses advance with innermost loops if the loop's counter is multiplied by a value that is not
// constant: a product, a sum and an address of 64 bits become one sum.
//
//	b1: i = phi 0, j            ->  b0: q0 = index p, k {4}
//	    x = add (mul i, n), k       b1: q = phi q0, r
//	    y = load (index p, x {4})       y = load q
//	    j = add i, 1                    r = index q, n {4}
func reduceStrides(f *ir.Func, _ *Options) bool {
	nest := analysis.Loops(ir.Dominators(f))
	changed := false
	for _, l := range nest {
		if l.Preheader() == nil || len(l.Latches) != 1 || l.Header.Cold || !isInnermost(nest, l) {
			continue
		}
		r := &strideReducer{loop: l, users: uses(f)}
		changed = r.run() || changed
	}
	return changed
}

// A strideReducer handles the addresses of one loop.
type strideReducer struct {
	loop    *analysis.Loop
	users   *userLists
	strides []*stride
}

// A stride is an address that advances: base plus the sum of terms and of iv times factor, in elements of size bytes.
type stride struct {
	base, iv, factor *ir.Value
	size, step       int64       // of iv
	start            *ir.Value   // of iv
	terms            []*ir.Value // invariant
	offset           int64       // a constant, in elements
	uses             []*ir.Value // the addresses that are this one, but for their offsets
	offsets          []int64
}

// run replaces the addresses.
func (r *strideReducer) run() bool {
	for _, b := range r.loop.Blocks {
		for _, v := range b.Values {
			if v.Op == ir.OpIndex && v.Type.Space == ir.Global {
				r.add(v)
			}
		}
	}
	if len(r.strides) == 0 || len(r.strides) > maxStrides {
		return false
	}
	for _, s := range r.strides {
		r.replace(s)
	}
	return true
}

// add notes address v if it advances by a stride.
func (r *strideReducer) add(v *ir.Value) {
	s := &stride{base: v.Args[0], size: v.Imm}
	if !r.invariant(s.base) || !r.onlyAddresses(v.Args[1]) || !r.sum(s, v.Args[1]) || s.factor == nil || isConst(s.factor) {
		return
	}
	slices.SortFunc(s.terms, func(a, b *ir.Value) int { return cmp.Compare(a.ID, b.ID) })
	i := slices.IndexFunc(r.strides, func(t *stride) bool {
		return s.base == t.base && s.size == t.size && s.iv == t.iv && s.factor == t.factor && slices.Equal(s.terms, t.terms)
	})
	if i < 0 {
		i = len(r.strides)
		r.strides = append(r.strides, s)
	}
	t := r.strides[i]
	t.uses, t.offsets = append(t.uses, v), append(t.offsets, s.offset)
}

// onlyAddresses reports whether x serves only to compute addresses, of x or of x and a constant. For others, the product would remain.
func (r *strideReducer) onlyAddresses(x *ir.Value) bool {
	return x.Type.Bits() == 64 && !slices.ContainsFunc(r.users.of(x), func(u *ir.Value) bool {
		_, ok := constArg(u, ir.OpAdd)
		return u.Op != ir.OpIndex && !(ok && r.onlyAddresses(u))
	})
}

// sum adds the terms of x to s, and reports whether only one of them depends on the loop, and that as it must.
func (r *strideReducer) sum(s *stride, x *ir.Value) bool {
	switch {
	case isConst(x):
		s.offset += x.Imm
		return true
	case r.invariant(x):
		s.terms = append(s.terms, x)
		return len(s.terms) <= maxStrideTerms
	case x.Op == ir.OpAdd:
		return r.sum(s, x.Args[0]) && r.sum(s, x.Args[1])
	case x.Op != ir.OpMul || s.factor != nil:
		return false
	}
	iv, factor := x.Args[0], x.Args[1]
	if !r.invariant(factor) {
		iv, factor = factor, iv
	}
	s.iv, s.factor = iv, factor
	return r.invariant(factor) && r.counts(s)
}

// counts reports whether iv is a counter of the loop.
func (r *strideReducer) counts(s *stride) bool {
	if s.iv.Op != ir.OpPhi || s.iv.Block != r.loop.Header {
		return false
	}
	start, next := r.loop.PhiArgs(s.iv)
	if next == nil || next.Op != ir.OpAdd || next.Args[0] != s.iv {
		return false
	}
	step, ok := analysis.IntConst(next.Args[1])
	s.start, s.step = start, step
	return ok
}

func (r *strideReducer) invariant(v *ir.Value) bool {
	return v.Block == nil || !r.loop.Contains(v.Block)
}

// replace makes the address a phi.
func (r *strideReducer) replace(s *stride) {
	l, latch := r.loop, r.loop.Latches[0]
	var start, by *ir.Value
	t := s.uses[0].Type
	atEnd(l.Preheader(), func(e *editor) *ir.Value {
		e.pos = s.uses[0].Pos
		at := e.make(ir.OpMul, ir.I64, s.start, s.factor)
		for _, x := range s.terms {
			at = e.make(ir.OpAdd, ir.I64, at, x)
		}
		start = e.makeImm(ir.OpIndex, t, s.size, s.base, at)
		by = e.make(ir.OpMul, ir.I64, s.factor, e.constant(ir.I64, s.step))
		return nil
	})
	phi := l.Header.Make(ir.OpPhi, t)
	phi.Pos = s.uses[0].Pos
	next := atEnd(latch, func(e *editor) *ir.Value { return e.makeImm(ir.OpIndex, t, s.size, phi, by) })
	for _, p := range l.Header.Preds {
		if p == latch {
			phi.Args = append(phi.Args, next)
		} else {
			phi.Args = append(phi.Args, start)
		}
	}
	l.Header.Values = slices.Insert(l.Header.Values, 0, phi)
	for i, v := range s.uses {
		v.Op, v.Args, v.Imm = ir.OpOffset, []*ir.Value{phi}, s.offsets[i]*s.size
	}
}
