package pass

import "github.com/gopherwarp/gopherwarp/internal/ir"

// contract makes x*y+z one operation that rounds once, where the options and the source
// allow it. It is the only place that does: everything emitted rounds as the IR says. A
// product that more than one sum wants is computed in each of them.
func contract(f *ir.Func, o *Options) {
	if !o.Contract {
		return
	}
	rewrite(f, func(e *editor, v *ir.Value) *ir.Value {
		switch v.Op {
		case ir.OpFAdd:
			for i, a := range v.Args {
				if fusable(a) {
					return e.make(ir.OpFma, v.Type, a.Args[0], a.Args[1], v.Args[1-i])
				}
			}
		case ir.OpFSub:
			x, y := v.Args[0], v.Args[1]
			if fusable(x) {
				return e.make(ir.OpFma, v.Type, x.Args[0], x.Args[1], e.make(ir.OpFNeg, v.Type, y))
			}
			if fusable(y) {
				return e.make(ir.OpFma, v.Type, e.make(ir.OpFNeg, v.Type, y.Args[0]), y.Args[1], x)
			}
		}
		return v
	})
}

// fusable reports whether v is a product that may be rounded together with a sum.
func fusable(v *ir.Value) bool { return v.Op == ir.OpFMul && v.Imm == 0 }
