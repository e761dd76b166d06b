package pass

import (
	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

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
		k := boolBits(holds)
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
