package pass

import "github.com/gopherwarp/gopherwarp/internal/ir"

// contract makes x*y+z one operation that rounds once, where the options and the source
// allow it. It is the only place that does: everything emitted rounds as the IR says. A
// product that more than one sum wants is computed in each of them. One that goes to other
// threads is left as it is: where threads add each other's products they get the same sum.
//
//	%3 = fmul f32 %0, %1          %5 = fma f32 %0, %1, %2
//	%4 = fadd f32 %3, %2      ->  %6 = fma f32 %0, %1, %7
//	%6 = fadd f32 %3, %7          store %8, %5
//	store %8, %4                  store %9, %6
//	store %9, %6
func contract(f *ir.Func, o *Options) {
	if !o.Contract {
		return
	}
	exchanged := exchangedValues(f)
	fusable := func(v *ir.Value) bool { return v.Op == ir.OpFMul && v.Imm == 0 && !exchanged[v.ID] }
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

// exchangedValues returns, by ID, the values that other threads get to see.
func exchangedValues(f *ir.Func) []bool {
	found := make([]bool, f.NumValues())
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			for _, a := range v.Args {
				found[a.ID] = found[a.ID] || v.Op.Convergent()
			}
		}
	}
	return found
}
