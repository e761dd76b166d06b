package pass

import (
	"math"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// truncateIntegers computes 64-bit integers that fit 32 bits, or of which only the lower half is needed, by 32-bit
// operations: the lower half of a sum, a product and the like depends on the lower halves of the arguments alone, so the
// value is the extension of a 32-bit result. A GPU's integer units have 32 bits; a 64-bit operation
// costs two or more of theirs.
//
//	%1 = tid i32 {0}                  %1 = tid i32 {0}
//	%2 = zext i64 %1                  %6 = trunc i32 %0
//	%3 = mul i64 %2, %0           ->  %7 = mul i32 %1, %6
//	%4 = add i64 %3, %2               %8 = add i32 %7, %1
//	%5 = index ptr.global %9, %4      %4 = zext i64 %8
//	                                  %5 = index ptr.global %9, %4
func truncateIntegers(f *ir.Func, _ *Options) {
	dom := ir.Dominators(f)
	s := &integerTruncator{ranges: analysis.NewRanges(dom), demands: analysis.NewDemands(f), by: map[*ir.Value]ir.Op{}, args: map[*ir.Value]ir.Op{}}
	for _, p := range f.Params {
		s.classify(p, analysis.Point{Block: f.Blocks[0]})
	}
	for _, b := range dom.Order() {
		for i, v := range b.Values {
			s.classify(v, analysis.Point{Block: b, Index: i})
		}
	}
	s.params(f)
	var repl ir.Replacements
	for _, b := range dom.Order() {
		s.phis(b, &repl)
	}
	f.Replace(&repl)
	rewrite(f, s.truncate)
}

// An integerTruncator holds the values of one function that fit 32 bits.
type integerTruncator struct {
	ranges  *analysis.Ranges
	demands []analysis.Demand
	by      map[*ir.Value]ir.Op // the extension that a value fits, for those that fit one
	args    map[*ir.Value]ir.Op // the same for both arguments of a comparison or product
}

// extends returns the extension by which 32 bits become v, or another value with the lower half of v where no more is needed.
func (s *integerTruncator) extends(v *ir.Value) (ir.Op, bool) {
	if op, ok := s.by[v]; ok {
		return op, true
	}
	return ir.OpZExt, s.needsLower(v)
}

// needsLower reports whether only the lower half of v is needed, and does not depend on more than the lower halves of its
// arguments.
func (s *integerTruncator) needsLower(v *ir.Value) bool {
	if v.Type.Kind != ir.KindI64 || int(v.ID) >= len(s.demands) || s.demands[v.ID] != analysis.Lower {
		return false
	}
	return v.Op != ir.OpShl || isConst(v.Args[1]) && v.Args[1].Imm >= 0 && v.Args[1].Imm < 32
}

// classify notes how v, which stands at p, can be extended from 32 bits, or its arguments.
func (s *integerTruncator) classify(v *ir.Value, p analysis.Point) {
	if v.Type.Kind == ir.KindI64 {
		if op, ok := extension(s.ranges.At(v, p)); ok {
			s.by[v] = op
			return
		}
	}
	switch v.Op {
	case ir.OpMul, ir.OpEq, ir.OpNe, ir.OpSLt, ir.OpSLe, ir.OpULt, ir.OpULe:
	default:
		return
	}
	if v.Args[0].Type.Kind != ir.KindI64 {
		return
	}
	x, y := s.ranges.At(v.Args[0], p), s.ranges.At(v.Args[1], p)
	for _, op := range []ir.Op{ir.OpSExt, ir.OpZExt} {
		if fitsBy(x, op) && fitsBy(y, op) {
			s.args[v] = op
		}
	}
}

// extension returns the extension from 32 bits that all numbers of x fit, unsigned where
// that is possible.
func extension(x analysis.Range) (ir.Op, bool) {
	for _, op := range []ir.Op{ir.OpZExt, ir.OpSExt} {
		if fitsBy(x, op) {
			return op, true
		}
	}
	return ir.OpInvalid, false
}

func fitsBy(x analysis.Range, op ir.Op) bool {
	if op == ir.OpZExt {
		return x.Within(analysis.Range{Hi: math.MaxUint32})
	}
	return x.Within(analysis.Range{Lo: math.MinInt32, Hi: math.MaxInt32})
}

// params replaces parameters that fit by extensions in the entry.
func (s *integerTruncator) params(f *ir.Func) {
	entry := f.Blocks[0]
	var repl ir.Replacements
	e := &editor{b: entry}
	for _, p := range f.Params {
		if op, ok := s.by[p]; ok {
			repl.Add(p, e.make(op, ir.I64, e.make(ir.OpTrunc, ir.I32, p)))
		}
	}
	f.Replace(&repl)
	entry.Values = slices.Concat(e.out, entry.Values)
}

// phis makes extensions of 32-bit phis, which replace those of b that fit.
func (s *integerTruncator) phis(b *ir.Block, repl *ir.Replacements) {
	e := &editor{b: b}
	phis := slices.Clone(b.Phis())
	var kept []*ir.Value
	for _, phi := range phis {
		op, ok := s.extends(phi)
		if !ok {
			kept = append(kept, phi)
			continue
		}
		short := b.Make(ir.OpPhi, ir.I32)
		for i, a := range phi.Args {
			short.Args = append(short.Args, truncAtEnd(b.Preds[i], a))
		}
		kept = append(kept, short)
		repl.Add(phi, e.make(op, ir.I64, short))
	}
	b.Values = slices.Concat(kept, e.out, b.Values[len(phis):])
}

// truncAtEnd inserts the lower half of v before b's terminator.
func truncAtEnd(b *ir.Block, v *ir.Value) *ir.Value {
	t := b.Make(ir.OpTrunc, ir.I32, v)
	b.Values = slices.Insert(b.Values, len(b.Values)-1, t)
	return t
}

// truncate computes v in 32 bits where it fits.
func (s *integerTruncator) truncate(e *editor, v *ir.Value) *ir.Value {
	if ext, ok := s.args[v]; ok && !(v.Op == ir.OpMul && s.needsLower(v)) {
		return s.compareOrMultiply(e, v, ext)
	}
	if ext, ok := s.extends(v); ok && s.lowerHalf(v) {
		return e.make(ext, ir.I64, e.make(v.Op, ir.I32, halves(e, v.Args)...))
	}
	return v
}

// halves returns the lower halves of those arguments that have 64 bits.
func halves(e *editor, args []*ir.Value) []*ir.Value {
	short := slices.Clone(args)
	for i, a := range args {
		if a.Type.Kind == ir.KindI64 {
			short[i] = e.make(ir.OpTrunc, ir.I32, a)
		}
	}
	return short
}

// compareOrMultiply compares in 32 bits, or makes both factors of a product extensions of
// one kind, which is a single wide multiplication. Extension by the sign keeps the order of unsigned numbers,
// too; that without needs an unsigned comparison.
func (s *integerTruncator) compareOrMultiply(e *editor, v *ir.Value, ext ir.Op) *ir.Value {
	short := halves(e, v.Args)
	if v.Op == ir.OpMul {
		return e.make(ir.OpMul, ir.I64, e.make(ext, ir.I64, short[0]), e.make(ext, ir.I64, short[1]))
	}
	op := v.Op
	if ext == ir.OpZExt && op == ir.OpSLt {
		op = ir.OpULt
	}
	if ext == ir.OpZExt && op == ir.OpSLe {
		op = ir.OpULe
	}
	return e.make(op, ir.I1, short...)
}

// lowerHalf reports whether the lower half of v is the operation on its arguments' lower
// halves.
func (s *integerTruncator) lowerHalf(v *ir.Value) bool {
	switch v.Op {
	case ir.OpAdd, ir.OpSub, ir.OpMul, ir.OpAnd, ir.OpOr, ir.OpXor, ir.OpShl, ir.OpSelect:
		return true
	case ir.OpLShr:
		return s.by[v.Args[0]] == ir.OpZExt
	case ir.OpAShr:
		return s.by[v.Args[0]] == ir.OpSExt
	}
	return false
}

// An indexShortener computes indices that have been checked, and whose lengths have no more than 32 bits, in 32 bits.
// Indices that differ by a constant share their address.
type indexShortener struct {
	dom     *ir.Dom
	anchors []anchor // what has been computed
}

// anchor is an index, a value and a constant, that has been computed in 32 bits.
type anchor struct {
	base *ir.Value
	off  int64
	at   *ir.Value
}

// short computes an index by half.
func (s *indexShortener) short(half *halver, index *ir.Value) *ir.Value {
	e := half.e
	base, off := plus(index)
	for _, a := range s.anchors {
		switch {
		case a.base != base || a.at.Block != e.b && !s.dom.Dominates(a.at.Block, e.b):
		case a.off == off:
			return a.at
		default:
			return e.make(ir.OpAdd, ir.I64, a.at, e.constant(ir.I64, off-a.off))
		}
	}
	at := e.make(ir.OpZExt, ir.I64, half.half(index, maxHalved))
	s.anchors = append(s.anchors, anchor{base, off, at})
	return at
}

// replaceIndices replaces indices in the values' addresses.
func replaceIndices(values []*ir.Value, with map[*ir.Value]*ir.Value) {
	for _, v := range values {
		if v.Op == ir.OpIndex && with[v.Args[1]] != nil {
			v.Args[1] = with[v.Args[1]]
		}
	}
}

// A halver computes the lower halves of integers of 64 bits.
type halver struct {
	e    *editor
	made map[*ir.Value]*ir.Value
}

// maxHalved is through how many operations a half is computed.
const maxHalved = 8

// half returns the lower half of v: that of a sum or product is the sum or product of the halves.
func (h *halver) half(v *ir.Value, depth int) *ir.Value {
	if h.made[v] != nil {
		return h.made[v]
	}
	var x *ir.Value
	switch {
	case isConst(v):
		x = h.e.constant(ir.I32, analysis.SignExtend(ir.I32, v.Imm))
	case (v.Op == ir.OpZExt || v.Op == ir.OpSExt) && v.Args[0].Type.Kind == ir.KindI32:
		x = v.Args[0]
	case depth > 0 && (v.Op == ir.OpAdd || v.Op == ir.OpSub || v.Op == ir.OpMul):
		x = h.e.make(v.Op, ir.I32, h.half(v.Args[0], depth-1), h.half(v.Args[1], depth-1))
	case depth > 0 && v.Op == ir.OpShl && isConst(v.Args[1]) && v.Args[1].Imm >= 0 && v.Args[1].Imm < 32:
		x = h.e.make(ir.OpShl, ir.I32, h.half(v.Args[0], depth-1), h.half(v.Args[1], 0))
	default:
		x = h.e.make(ir.OpTrunc, ir.I32, v)
	}
	h.made[v] = x
	return x
}
