package pass

import (
	"math/big"
	"math/bits"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// divideByConstant replaces divisions by constants with multiplications and shifts, after
// Granlund and Montgomery, "Division by Invariant Integers using Multiplication", and
// Warren, "Hacker's Delight", chapter 10. ptxas does so only for 32 bits, and less well.
//
// It comes late: what is known about the range of a remainder is not known about the product and the difference in its place.
//
//	%2 = const i32 10             %3 = const i32 -858993459
//	%1 = udiv i32 %0, %2      ->  %4 = umulhi i32 %0, %3
//	%5 = urem i32 %0, %2          %1 = lshr i32 %4, 3
//	                              %6 = mul i32 %1, 10
//	                              %5 = sub i32 %0, %6
func divideByConstant(f *ir.Func, _ *Options) { divide(f, func(*ir.Type, int64) bool { return true }) }

// divideByPower replaces divisions by powers of two. It comes early, because ranges are known of shifts and masks.
func divideByPower(f *ir.Func, _ *Options) {
	divide(f, func(t *ir.Type, c int64) bool {
		_, ok := powerOfTwo(t, c)
		return ok
	})
}

// divide replaces divisions by the constants that are selected.
func divide(f *ir.Func, selected func(t *ir.Type, c int64) bool) {
	rewrite(f, func(e *editor, v *ir.Value) *ir.Value {
		if v.Op < ir.OpSDiv || v.Op > ir.OpURem {
			return v
		}
		c, ok := analysis.IntConst(v.Args[1])
		if !ok || c == 0 || v.Type.Bits() == 1 || !selected(v.Type, c) {
			return v
		}
		if v.Type.Bits() < 32 {
			return divideNarrow(e, v)
		}
		x := v.Args[0]
		switch v.Op {
		case ir.OpUDiv:
			return unsignedQuotient(e, x, analysis.ZeroExtend(v.Type, c))
		case ir.OpURem:
			if _, ok := powerOfTwo(v.Type, c); ok {
				return e.make(ir.OpAnd, v.Type, x, e.constant(v.Type, c-1))
			}
			return rest(e, [2]*ir.Value(v.Args), unsignedQuotient(e, x, analysis.ZeroExtend(v.Type, c)))
		case ir.OpSDiv:
			return signedQuotient(e, x, c)
		}
		return rest(e, [2]*ir.Value(v.Args), signedQuotient(e, x, c))
	})
}

// divideNarrow divides integers of fewer than 32 bits in 32 bits.
func divideNarrow(e *editor, v *ir.Value) *ir.Value {
	ext := ir.OpZExt
	if v.Op == ir.OpSDiv || v.Op == ir.OpSRem {
		ext = ir.OpSExt
	}
	x := e.make(ext, ir.I32, v.Args[0])
	c, _ := analysis.FoldConversion(ext, v.Type, ir.I32, v.Args[1].Imm)
	divisor := e.constant(ir.I32, c)
	var q *ir.Value
	if ext == ir.OpZExt {
		q = unsignedQuotient(e, x, uint64(uint32(c)))
	} else {
		q = signedQuotient(e, x, c)
	}
	if v.Op == ir.OpSRem || v.Op == ir.OpURem {
		q = rest(e, [2]*ir.Value{x, divisor}, q)
	}
	return e.make(ir.OpTrunc, v.Type, q)
}

// rest returns the first of two numbers less q times the second.
func rest(e *editor, xy [2]*ir.Value, q *ir.Value) *ir.Value {
	return e.make(ir.OpSub, q.Type, xy[0], e.make(ir.OpMul, q.Type, q, xy[1]))
}

func shiftBy(e *editor, op ir.Op, x *ir.Value, n int) *ir.Value {
	if n == 0 {
		return x
	}
	return e.make(op, x.Type, x, e.constant(ir.I32, int64(n)))
}

// unsignedQuotient returns x/c for a c that is not 0.
func unsignedQuotient(e *editor, x *ir.Value, c uint64) *ir.Value {
	t, n := x.Type, x.Type.Bits()
	zeros := bits.TrailingZeros64(c)
	if c>>zeros == 1 {
		return shiftBy(e, ir.OpLShr, x, zeros)
	}
	if m, s, ok := unsignedMagic(n, c, n); ok {
		return shiftBy(e, ir.OpLShr, e.make(ir.OpUMulHi, t, x, e.magic(t, m)), s)
	}
	if zeros > 0 { // an even divisor: the dividend loses bits first, so a smaller number does
		m, s, _ := unsignedMagic(n, c>>zeros, n-zeros)
		half := shiftBy(e, ir.OpLShr, x, zeros)
		return shiftBy(e, ir.OpLShr, e.make(ir.OpUMulHi, t, half, e.magic(t, m)), s)
	}
	// The number has n+1 bits: x*m>>n is hi + x, computed without overflow.
	s := bits.Len64(c)
	m := ceilPower(n+s, c)
	m.Sub(m, new(big.Int).Lsh(big.NewInt(1), uint(n)))
	hi := e.make(ir.OpUMulHi, t, x, e.magic(t, m))
	half := shiftBy(e, ir.OpLShr, e.make(ir.OpSub, t, x, hi), 1)
	return shiftBy(e, ir.OpLShr, e.make(ir.OpAdd, t, half, hi), s-1)
}

func (e *editor) magic(t *ir.Type, m *big.Int) *ir.Value {
	return e.constant(t, analysis.SignExtend(t, int64(m.Uint64())))
}

// ceilPower returns 1<<k / c, rounded up.
func ceilPower(k int, c uint64) *big.Int {
	d := new(big.Int).SetUint64(c)
	p := new(big.Int).Lsh(big.NewInt(1), uint(k))
	p.Add(p, d).Sub(p, big.NewInt(1))
	return p.Div(p, d)
}

// unsignedMagic returns m and s such that x/c is x*m>>(n+s) for all x of the given number
// of bits, where there is an m of n bits.
func unsignedMagic(n int, c uint64, dividend int) (m *big.Int, s int, ok bool) {
	for s := range bits.Len64(c) + 1 {
		m := ceilPower(n+s, c)
		if m.BitLen() > n {
			return nil, 0, false
		}
		// The error m*c - 2^(n+s) times the dividend must stay below 2^(n+s).
		err := new(big.Int).Mul(m, new(big.Int).SetUint64(c))
		err.Sub(err, new(big.Int).Lsh(big.NewInt(1), uint(n+s)))
		if err.Cmp(new(big.Int).Lsh(big.NewInt(1), uint(n+s-dividend))) <= 0 {
			return m, s, true
		}
	}
	return nil, 0, false
}

// signedQuotient returns x/c, rounded towards zero, for a c that is not 0.
func signedQuotient(e *editor, x *ir.Value, c int64) *ir.Value {
	t, n := x.Type, x.Type.Bits()
	abs := uint64(c)
	if c < 0 {
		abs = -abs
	}
	var q *ir.Value
	if k := bits.TrailingZeros64(abs); abs>>k == 1 {
		q = signedShift(e, x, k)
	} else {
		m, s := signedMagic(n, abs)
		q = e.make(ir.OpSMulHi, t, x, e.magic(t, m))
		if m.BitLen() == n { // it stands for m - 2^n
			q = e.make(ir.OpAdd, t, q, x)
		}
		q = shiftBy(e, ir.OpAShr, q, s)
		q = e.make(ir.OpSub, t, q, shiftBy(e, ir.OpAShr, x, n-1)) // rounds up where x is negative
	}
	if c < 0 {
		q = e.make(ir.OpSub, t, e.constant(t, 0), q)
	}
	return q
}

// signedShift returns x/(1<<k).
func signedShift(e *editor, x *ir.Value, k int) *ir.Value {
	if k == 0 {
		return x
	}
	n := x.Type.Bits()
	sign := shiftBy(e, ir.OpAShr, x, n-1)
	bias := shiftBy(e, ir.OpLShr, sign, n-k)
	return shiftBy(e, ir.OpAShr, e.make(ir.OpAdd, x.Type, x, bias), k)
}

// signedMagic returns m and s such that the quotient is x*m>>(n+s), plus 1 where x is negative.
func signedMagic(n int, c uint64) (m *big.Int, s int) {
	for s := range bits.Len64(c) {
		m := ceilPower(n+s, c)
		err := new(big.Int).Mul(m, new(big.Int).SetUint64(c))
		err.Sub(err, new(big.Int).Lsh(big.NewInt(1), uint(n+s)))
		if err.Cmp(new(big.Int).Lsh(big.NewInt(1), uint(s+1))) <= 0 {
			return m, s
		}
	}
	panic("BUG: pass: no magic number")
}

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
