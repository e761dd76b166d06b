package pass

import (
	"fmt"
	"math/rand/v2"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// A loopGenerator writes a random kernel as most kernels are: it computes elements of slices, each at the index of the
// thread, in loops over rows, columns and strides, and by search.
type loopGenerator struct {
	r      *rand.Rand
	f      *ir.Func
	b      *ir.Block
	elem   *ir.Type        // of the slices
	slices [3][2]*ir.Value // address, length
	index  *ir.Value       // of the thread
	count  *ir.Value       // of the threads
	rows   *ir.Value       // i64 parameters
	cols   *ir.Value
	scale  *ir.Value   // of type elem
	loops  []*ir.Value // the counters of the loops around
	locals []*ir.Value // allocas of type elem
}

// generateLoops returns a kernel whose shape depends on the seed.
func generateLoops(seed uint64) *ir.Func {
	f := ir.NewFunc("loops", ir.Void)
	f.Kernel, f.ParamBytes = true, 104
	g := &loopGenerator{r: rand.New(rand.NewPCG(seed, 18)), f: f, b: f.NewBlock()}
	g.elem = []*ir.Type{ir.F32, ir.F32, ir.F32, ir.F64, ir.I32, ir.I16, ir.I8}[g.pick(7)]
	f.Block = [][3]int{{}, {}, {4, 1, 1}, {32, 1, 1}, {3, 2, 1}}[g.pick(5)]
	f.Narrow = g.pick(2) == 0
	for i := range int64(3) {
		g.slices[i] = [2]*ir.Value{f.NewParam(ir.PtrTo(ir.Global), 24*i), f.NewParam(ir.I64, 24*i+8)}
	}
	g.rows, g.cols, g.scale = f.NewParam(ir.I64, 72), f.NewParam(ir.I64, 80), f.NewParam(g.elem, 88)
	g.threads()
	switch g.pick(8) {
	case 0, 1, 2:
		g.elements()
	case 3:
		g.search()
	default:
		g.nest()
	}
	g.b.Append(ir.OpRet, ir.Void)
	placeValues(f)
	mem2reg(f, &Options{})
	return f
}

func (g *loopGenerator) pick(n int) int { return g.r.IntN(n) }

func (g *loopGenerator) c(n int64) *ir.Value { return g.b.Const(ir.I64, n) }

func (g *loopGenerator) do(op ir.Op, args ...*ir.Value) *ir.Value {
	return g.b.Append(op, args[0].Type, args...)
}

func (g *loopGenerator) test(op ir.Op, x, y *ir.Value) *ir.Value {
	return g.b.Append(op, ir.I1, x, y)
}

// threads computes the thread's index and the number of threads, as package gpu does.
func (g *loopGenerator) threads() {
	long := func(op ir.Op) *ir.Value { return g.b.Append(ir.OpZExt, ir.I64, g.b.Append(op, ir.I32)) }
	n := long(ir.OpNTid)
	if k := g.f.Block[0]; k > 0 {
		n = g.c(int64(k))
	}
	either := func(x, y *ir.Value) (*ir.Value, *ir.Value) {
		if g.pick(4) == 0 {
			return y, x
		}
		return x, y
	}
	block, first := long(ir.OpCtaid), long(ir.OpTid)
	if x, y := either(block, n); g.pick(10) > 0 {
		block = g.do(ir.OpMul, x, y)
	}
	x, y := either(block, first)
	g.index = g.do(ir.OpAdd, x, y)
	if g.pick(12) == 0 {
		g.cols = first
	}
	g.count = g.do(ir.OpMul, long(ir.OpNCtaid), n)
}

// address checks an index and returns the address of an element.
func (g *loopGenerator) address(s [2]*ir.Value, i *ir.Value) *ir.Value {
	c := g.b.Append(ir.OpCheck, ir.Void, g.test(ir.OpULt, i, s[1]), i, s[1])
	c.Aux = &ir.Site{Format: fmt.Sprintf("index %d", c.ID), Args: []dtype.Type{dtype.Int64, dtype.Int64}}
	p := g.b.Append(ir.OpIndex, s[0].Type, s[0], i)
	p.Imm = g.elem.Size()
	return p
}

func (g *loopGenerator) load(s [2]*ir.Value, i *ir.Value) *ir.Value {
	return g.b.Append(ir.OpLoad, g.elem, g.address(s, i))
}

func (g *loopGenerator) store(i, v *ir.Value) {
	g.b.Append(ir.OpStore, ir.Void, g.address(g.slices[2], i), v)
}

// guard runs body if a condition holds, and else returns or does nothing.
func (g *loopGenerator) guard(c *ir.Value, body func()) {
	then, other := g.f.NewBlock(), g.f.NewBlock()
	g.b.Append(ir.OpIf, ir.Void, c)
	g.b.AddEdge(then)
	g.b.AddEdge(other)
	g.b = then
	body()
	g.jump(other)
	g.b = other
}

func (g *loopGenerator) jump(to *ir.Block) {
	g.b.Append(ir.OpJump, ir.Void)
	g.b.AddEdge(to)
}

// value combines elements.
func (g *loopGenerator) value(list ...*ir.Value) *ir.Value {
	v := list[0]
	for _, w := range append(list[1:], g.scale) {
		switch {
		case g.pick(3) == 0:
		case !g.elem.IsFloat():
			v = g.do([]ir.Op{ir.OpAdd, ir.OpSub, ir.OpMul, ir.OpXor, ir.OpAnd, ir.OpSDiv}[g.pick(5)], v, w)
		default:
			v = g.do([]ir.Op{ir.OpFAdd, ir.OpFSub, ir.OpFMul, ir.OpFDiv, ir.OpFMax}[g.pick(5)], v, w)
		}
	}
	if g.pick(5) == 0 {
		op := ir.OpSLt
		if g.elem.IsFloat() {
			op = ir.OpFLt
		}
		v = g.b.Append(ir.OpSelect, g.elem, g.test(op, v, g.scale), v, g.scale)
	}
	return v
}

// elements writes a kernel that computes the element at the thread's index.
func (g *loopGenerator) elements() {
	limit := []*ir.Value{g.slices[0][1], g.slices[2][1], g.rows}[g.pick(3)]
	body := func() {
		var list []*ir.Value
		for range 1 + g.pick(3) {
			i := g.index
			if g.pick(5) == 0 {
				i = g.do(ir.OpAdd, i, g.c(int64(g.pick(3)-1)))
			}
			list = append(list, g.load(g.slices[g.pick(2)], i))
		}
		if g.pick(6) == 0 {
			list = append(list, g.load(g.slices[1], g.c(int64(g.pick(4)))))
		}
		g.store(g.index, g.value(list...))
	}
	if g.pick(4) == 0 {
		body()
		return
	}
	g.guard(g.test(ir.OpSLt, g.index, limit), body)
}

// local returns a new local that holds v.
func (g *loopGenerator) local(v *ir.Value) *ir.Value {
	a := g.b.Append(ir.OpAlloca, ir.Ptr)
	a.Aux = v.Type
	g.b.Append(ir.OpStore, ir.Void, a, v)
	return a
}

// search writes a binary search for the scale.
func (g *loopGenerator) search() {
	ends := [2]*ir.Value{g.local(g.c(0)), g.local(g.slices[0][1])}
	head, in, up, down, done := g.f.NewBlock(), g.f.NewBlock(), g.f.NewBlock(), g.f.NewBlock(), g.f.NewBlock()
	g.jump(head)
	g.b = head
	low, high := g.b.Append(ir.OpLoad, ir.I64, ends[0]), g.b.Append(ir.OpLoad, ir.I64, ends[1])
	g.b.Append(ir.OpIf, ir.Void, g.test(ir.OpSLt, low, high))
	g.b.AddEdge(in)
	g.b.AddEdge(done)
	g.b = in
	middle := g.middle(low, high)
	op := ir.OpSLt
	if g.elem.IsFloat() {
		op = ir.OpFLt
	}
	g.b.Append(ir.OpIf, ir.Void, g.test(op, g.load(g.slices[0], middle), g.scale))
	g.b.AddEdge(up)
	g.b.AddEdge(down)
	g.b = up
	g.b.Append(ir.OpStore, ir.Void, ends[0], g.do(ir.OpAdd, middle, g.c(int64([]int{1, 1, 1, 0, 2}[g.pick(5)]))))
	g.jump(head)
	g.b = down
	g.b.Append(ir.OpStore, ir.Void, ends[1], g.do(ir.OpSub, middle, g.c(int64(g.pick(4)/3))))
	g.jump(head)
	g.b = done
	g.store(g.b.Append(ir.OpLoad, ir.I64, ends[0]), g.scale)
}

// middle returns the middle of an interval, in one of the ways that programs compute it.
func (g *loopGenerator) middle(low, high *ir.Value) *ir.Value {
	one := g.b.Const(ir.I32, int64(1+g.pick(5)/4)) // or 2, which is not the middle
	sum := g.do(ir.OpAdd, low, high)
	switch g.pick(6) {
	case 0:
		return g.do(ir.OpSDiv, sum, g.c(2))
	case 1:
		return g.do(ir.OpAShr, sum, one)
	case 2:
		return g.do(ir.OpAdd, low, g.do(ir.OpLShr, g.do(ir.OpSub, high, low), one))
	case 3:
		return g.b.Append(ir.OpZExt, ir.I64, g.do(ir.OpLShr, g.b.Append(ir.OpTrunc, ir.I32, sum), one))
	}
	return g.do(ir.OpLShr, sum, one)
}
