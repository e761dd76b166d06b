package pass

import (
	"math"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// simplifyByRange uses value ranges to replace operations by cheaper ones: signed operations by
// unsigned ones where no argument is negative, and 64-bit divisions by 32-bit ones where both
// arguments fit. An unsigned division by a power of two is one shift; a 64-bit division costs
// several of 32 bits.
//
//	%1 = tid i32 {0}                  %1 = tid i32 {0}
//	%2 = sext i64 %1                  %2 = zext i64 %1
//	%3 = const i64 7              ->  %5 = const i32 7
//	%4 = sdiv i64 %2, %3              %6 = udiv i32 %1, %5
//	                                  %4 = zext i64 %6
func simplifyByRange(f *ir.Func, _ *Options) {
	dom := ir.Dominators(f)
	n := &rangeSimplifier{ranges: analysis.NewRanges(dom)}
	for _, b := range dom.Order() {
		for i, v := range b.Values {
			n.unsign(v, analysis.Point{Block: b, Index: i})
		}
	}
	rewrite(f, n.divide)
}

// A rangeSimplifier replaces the operations of one function.
type rangeSimplifier struct {
	ranges *analysis.Ranges
	fits   map[*ir.Value]bool // divisions whose arguments fit 32 bits
}

// unsign makes v, which stands at p, unsigned where that is the same, and notes whether it is a
// division that fits 32 bits.
func (n *rangeSimplifier) unsign(v *ir.Value, p analysis.Point) {
	ops := map[ir.Op]ir.Op{ir.OpSDiv: ir.OpUDiv, ir.OpSRem: ir.OpURem, ir.OpAShr: ir.OpLShr, ir.OpSExt: ir.OpZExt, ir.OpSToF: ir.OpUToF}
	positive := func(a *ir.Value) bool {
		return a.Type.IsInt() && a.Type.Bits() > 1 && n.ranges.At(a, p).NonNegative()
	}
	if op, ok := ops[v.Op]; ok && positive(v.Args[0]) {
		if v.Op != ir.OpSDiv && v.Op != ir.OpSRem || positive(v.Args[1]) {
			v.Op = op
		}
	}
	if v.Op == ir.OpUDiv || v.Op == ir.OpURem {
		word := analysis.Range{Hi: math.MaxUint32}
		x, y := n.ranges.At(v.Args[0], p), n.ranges.At(v.Args[1], p)
		if v.Type.Bits() == 64 && x.Within(word) && y.Within(word) {
			if n.fits == nil {
				n.fits = map[*ir.Value]bool{}
			}
			n.fits[v] = true
		}
	}
}

// divide replaces a 64-bit division whose arguments fit 32 bits by a 32-bit one.
func (n *rangeSimplifier) divide(e *editor, v *ir.Value) *ir.Value {
	if !n.fits[v] {
		return v
	}
	half := func(a *ir.Value) *ir.Value {
		if isConst(a) {
			return e.constant(ir.I32, analysis.SignExtend(ir.I32, a.Imm))
		}
		return e.make(ir.OpTrunc, ir.I32, a)
	}
	x, y := half(v.Args[0]), half(v.Args[1])
	return e.make(ir.OpZExt, v.Type, e.make(v.Op, ir.I32, x, y))
}

// prove decides conditions by what is known where they are used: the branches taken, the checks
// passed and the ranges of values. It removes checks that always pass.
func prove(f *ir.Func, _ *Options) {
	dom := ir.Dominators(f)
	ranges := analysis.NewRanges(dom)
	var constants [2]*ir.Value
	decide := func(c *ir.Value, p analysis.Point) *ir.Value {
		holds, known := ranges.True(c, p)
		if isConst(c) || !known {
			return c
		}
		k := analysis.BoolBits(holds)
		if constants[k] == nil {
			constants[k] = f.Blocks[0].Make(ir.OpConst, ir.I1)
			constants[k].Imm = k
		}
		return constants[k]
	}
	for _, b := range dom.Order() {
		for i, v := range b.Values {
			if v.Op == ir.OpCheck || v.Op == ir.OpIf || v.Op == ir.OpSelect {
				v.Args[0] = decide(v.Args[0], analysis.Point{Block: b, Index: i})
			}
		}
	}
	for _, c := range constants {
		if c != nil {
			f.Blocks[0].Values = append([]*ir.Value{c}, f.Blocks[0].Values...)
		}
	}
	rewrite(f, func(e *editor, v *ir.Value) *ir.Value {
		if v.Op == ir.OpCheck {
			return simplifyValue(e, v)
		}
		return v
	})
}
