package pass

import (
	"math"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// separateOffsets splits constants off indices, so that adjacent accesses share an address and
// differ only in the constant offset of the memory operand, which costs nothing.
//
//	%3 = add i64 %1, 1                %4 = index ptr.global %0, %1 {4}
//	%4 = index ptr.global %0, %3 {4}  %5 = offset ptr.global %4 {4}
//	%6 = load f32 %4              ->  %6 = load f32 %5
//	%7 = add i64 %1, -1               %8 = offset ptr.global %4 {-4}
//	%8 = index ptr.global %0, %7 {4}  %9 = load f32 %8
//	%9 = load f32 %8
func separateOffsets(f *ir.Func, _ *Options) {
	dom := ir.Dominators(f)
	ranges := analysis.NewRanges(dom)
	places := map[*ir.Value]analysis.Point{}
	for _, b := range dom.Order() {
		for i, v := range b.Values {
			places[v] = analysis.Point{Block: b, Index: i}
		}
	}
	rewrite(f, func(e *editor, v *ir.Value) *ir.Value {
		switch v.Op {
		case ir.OpIndex:
			return splitIndex(e, v, func(x *ir.Value) analysis.Range { return ranges.At(x, places[v]) })
		case ir.OpOffset:
			return simplifyAddress(e, v)
		}
		return v
	})
}

// splitIndex makes p + (x+c)*scale the address p + x*scale, plus a constant.
func splitIndex(e *editor, v *ir.Value, at func(*ir.Value) analysis.Range) *ir.Value {
	p, i := v.Args[0], v.Args[1]
	constant := int64(0)
	if p.Op == ir.OpOffset && p.Type.Space != ir.Generic {
		p, constant = p.Args[0], p.Imm
	}
	if c, ok := constArg(i, ir.OpAdd); ok && splits(v, at(i), at(i.Args[0])) {
		i, constant = i.Args[0], constant+c*v.Imm
	}
	if i == v.Args[1] && p == v.Args[0] {
		return v
	}
	return e.offset(e.makeImm(ir.OpIndex, v.Type, v.Imm, p, i), constant)
}

// splits reports whether index i = x+c may lose its constant. Addresses of 64 bits wrap as
// integers do. The windows of other spaces have 32: there, x alone must stay in the window.
func splits(v *ir.Value, i, x analysis.Range) bool {
	switch {
	case v.Args[1].Type.Bits() < 64: // an i32 index wraps before it is extended
		return false
	case v.Type.Space == ir.Global:
		return true
	case v.Type.Space == ir.Generic:
		return false // which may be an address of either kind
	}
	limit := int64(math.MaxInt32) / max(v.Imm, 1)
	return v.Imm > 0 && x.Lo >= 0 && x.Hi <= limit && i.Lo >= 0
}
