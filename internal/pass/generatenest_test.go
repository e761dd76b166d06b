package pass

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// A counter is how a loop counts.
type counter struct {
	start, limit, step *ir.Value // i64
	narrow             *ir.Type  // of the counter, if not nil
	goesOn             ir.Op     // the comparison of the counter with the limit
	down               bool      // from the limit to the start
}

// loop writes a loop and calls body to write what it repeats.
func (g *loopGenerator) loop(c counter, body func()) {
	cut := func(v *ir.Value) *ir.Value {
		if c.narrow != nil {
			return g.b.Append(ir.OpTrunc, c.narrow, v)
		}
		return v
	}
	start, limit, step, next := cut(c.start), cut(c.limit), cut(c.step), ir.OpAdd
	if c.down {
		start, limit, next = limit, start, ir.OpSub
	}
	a := g.local(start)
	var second *ir.Value // a counter that differs from the first by a constant
	if c.narrow == nil && g.pick(4) == 0 {
		second = g.local(g.do(ir.OpAdd, start, g.c(int64(g.pick(3)-1))))
	}
	head, in, done := g.f.NewBlock(), g.f.NewBlock(), g.f.NewBlock()
	g.jump(head)
	g.b = head
	i := g.b.Append(ir.OpLoad, start.Type, a)
	x, y := i, limit
	if c.down {
		x, y = y, x
	}
	g.b.Append(ir.OpIf, ir.Void, g.test(c.goesOn, x, y))
	g.b.AddEdge(in)
	g.b.AddEdge(done)
	g.b = in
	around := len(g.loops)
	g.loops = append(g.loops, g.extend(i, c.goesOn))
	if second != nil {
		g.loops = append(g.loops, g.b.Append(ir.OpLoad, ir.I64, second))
	}
	body()
	if second != nil {
		g.b.Append(ir.OpStore, ir.Void, second, g.do(next, g.b.Append(ir.OpLoad, ir.I64, second), step))
	}
	g.loops = g.loops[:around]
	g.b.Append(ir.OpStore, ir.Void, a, g.do(next, i, step))
	g.jump(head)
	g.b = done
}

// extend returns an integer as an i64: without sign if that is how the loop compares it.
func (g *loopGenerator) extend(i *ir.Value, compare ir.Op) *ir.Value {
	switch {
	case i.Type.Kind == ir.KindI64:
		return i
	case compare == ir.OpULt:
		return g.b.Append(ir.OpZExt, ir.I64, i)
	}
	return g.b.Append(ir.OpSExt, ir.I64, i)
}

// counter returns how a loop begins, ends and proceeds.
func (g *loopGenerator) counter() counter {
	start := []*ir.Value{g.c(0), g.c(0), g.c(1), g.index, g.rows}[g.pick(5)]
	limit := []*ir.Value{g.slices[0][1], g.slices[2][1], g.rows, g.cols, g.c(4), g.c(9), g.c(16), g.c(32)}[g.pick(8)]
	if g.pick(5) == 0 {
		limit = g.do(ir.OpSub, limit, g.c(int64(1+g.pick(3))))
	}
	step := g.c([]int64{1, 1, 1, 2, 3, 4}[g.pick(6)])
	if start == g.index || g.pick(8) == 0 {
		step = []*ir.Value{g.count, g.cols, g.c(1)}[g.pick(3)]
	}
	return counter{
		start: start, limit: limit, step: step,
		narrow: []*ir.Type{nil, nil, nil, ir.I32, ir.I32, ir.I16}[g.pick(6)],
		goesOn: []ir.Op{ir.OpSLt, ir.OpSLt, ir.OpSLt, ir.OpULt, ir.OpSLe, ir.OpNe}[g.pick(6)],
		down:   g.pick(6) == 0,
	}
}

// place returns an index made of the loops' counters.
func (g *loopGenerator) place() *ir.Value {
	i := g.loops[g.pick(len(g.loops))]
	switch g.pick(9) {
	case 8: // where an element says
		if !g.elem.IsFloat() {
			return g.extend(g.load(g.slices[1], i), ir.OpSLt+ir.Op(g.pick(2))*(ir.OpULt-ir.OpSLt))
		}
	case 0:
		return g.do(ir.OpAdd, i, g.c(int64(g.pick(4)-1)))
	case 1:
		return g.do(ir.OpAdd, g.do(ir.OpMul, g.loops[0], g.cols), i)
	case 2:
		return g.do(ir.OpAdd, g.do(ir.OpMul, i, g.cols), g.index)
	case 3:
		return g.do(ir.OpAdd, g.do(ir.OpMul, g.index, g.cols), i)
	case 4:
		return g.do(ir.OpAdd, g.do(ir.OpMul, i, g.c(int64(1+g.pick(4)))), g.c(int64(g.pick(3))))
	case 5:
		return g.do([]ir.Op{ir.OpSDiv, ir.OpSRem, ir.OpUDiv, ir.OpURem}[g.pick(4)], i, g.b.Append(ir.OpOr, ir.I64, g.cols, g.c(1)))
	}
	return i
}

// nest writes one or two loops around each other, and what they compute.
func (g *loopGenerator) nest() {
	g.locals = []*ir.Value{g.local(g.scale), g.local(g.scale)}
	g.loop(g.counter(), func() {
		if g.pick(2) == 0 {
			g.loop(g.counter(), func() { g.iteration() })
			if g.pick(2) == 0 {
				g.store(g.loops[0], g.b.Append(ir.OpLoad, g.elem, g.locals[0]))
			}
			return
		}
		g.iteration()
	})
	g.guard(g.test(ir.OpSLt, g.index, g.slices[2][1]), func() { g.store(g.index, g.b.Append(ir.OpLoad, g.elem, g.locals[0])) })
}

// iteration adds elements to a local or to an element, and stores some.
func (g *loopGenerator) iteration() {
	switch g.pick(8) {
	case 2:
		g.b.Append(ir.OpBarrier, ir.Void)
	case 3:
		p := g.b.Append(ir.OpPrint, ir.Void, g.place())
		p.Aux = &ir.Site{Format: "%d", Args: []dtype.Type{dtype.Int64}}
	case 0: // in every iteration of an inner loop the same element
		i := g.loops[0]
		g.store(i, g.value(g.load(g.slices[2], i), g.load(g.slices[0], g.place())))
		return
	case 1: // the guard proves the check
		i := g.do(ir.OpAdd, g.index, g.loops[len(g.loops)-1])
		g.guard(g.test(ir.OpSLt, i, g.slices[0][1]), func() {
			sum := g.b.Append(ir.OpLoad, g.elem, g.locals[0])
			g.b.Append(ir.OpStore, ir.Void, g.locals[0], g.value(sum, g.load(g.slices[0], i)))
		})
		return
	}
	sum := g.b.Append(ir.OpLoad, g.elem, g.locals[g.pick(2)])
	x := g.load(g.slices[0], g.place())
	list := []*ir.Value{sum, x}
	if g.pick(2) == 0 {
		list = append(list, g.load(g.slices[1], g.place()))
	}
	v := g.value(list...)
	if g.pick(3) == 0 {
		op := ir.OpSLt
		if g.elem.IsFloat() {
			op = ir.OpFLt
		}
		g.guard(g.test(op, x, g.scale), func() { g.b.Append(ir.OpStore, ir.Void, g.locals[0], v) })
	} else {
		g.b.Append(ir.OpStore, ir.Void, g.locals[0], v)
	}
	if g.pick(3) == 0 {
		g.store(g.place(), v)
	}
}
