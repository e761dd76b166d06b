package pass

import (
	"math/rand/v2"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// A teamGenerator writes a random kernel whose threads do partly the same: branches and loops on what is equal in all
// threads and on what is not, early returns, barriers, and memory that threads share.
type teamGenerator struct {
	r      *rand.Rand
	f      *ir.Func
	b      *ir.Block
	shared *ir.Value
	own    *ir.Value   // the address of a number in shared memory that is the thread's own
	locals []*ir.Value // allocas of i32
	values []*ir.Value // i32, that dominate the current place
	depth  int
}

// ownNumbers is where the threads' own numbers begin in shared memory; before are those that all may write.
const ownNumbers = 4

func generateTeam(seed uint64) *ir.Func {
	f := ir.NewFunc("team", ir.Void)
	f.Kernel, f.ParamBytes = true, 32
	f.Block = [][3]int{{4, 2, 1}, {}, {32, 2, 1}, {64, 1, 1}, {8, 3, 2}, {40, 2, 1}}[seed%6]
	g := &teamGenerator{r: rand.New(rand.NewPCG(seed, 15)), f: f, b: f.NewBlock()}
	x := &ir.Variable{Name: "x", Space: ir.Shared, Type: ir.ArrayOf(ownNumbers+maxTeam, ir.I32)}
	g.shared = g.b.Append(ir.OpVar, ir.PtrTo(ir.Shared))
	g.shared.Aux = x
	for i := range int64(2) {
		g.values = append(g.values, f.NewParam(ir.I32, 4*i))
	}
	g.threads()
	for i := range int64(4) {
		g.values = append(g.values, g.b.Const(ir.I32, i))
	}
	for range 3 {
		a := g.b.Append(ir.OpAlloca, ir.Ptr)
		a.Aux = ir.I32
		g.b.Append(ir.OpStore, ir.Void, a, g.values[g.pick(len(g.values))])
		g.locals = append(g.locals, a)
	}
	g.block(12)
	g.b.Append(ir.OpRet, ir.Void)
	mem2reg(f, &Options{})
	simplifyCFG(f, &Options{})
	return f
}

// threads makes the thread's indices, and its number in the block.
func (g *teamGenerator) threads() {
	var tid, n [3]*ir.Value
	for axis := range 3 {
		tid[axis], n[axis] = g.b.Append(ir.OpTid, ir.I32), g.b.Append(ir.OpNTid, ir.I32)
		tid[axis].Imm, n[axis].Imm = int64(axis), int64(axis)
	}
	row := g.b.Append(ir.OpAdd, ir.I32, g.b.Append(ir.OpMul, ir.I32, tid[2], n[1]), tid[1])
	number := g.b.Append(ir.OpAdd, ir.I32, g.b.Append(ir.OpMul, ir.I32, row, n[0]), tid[0])
	at := g.b.Append(ir.OpOffset, g.shared.Type, g.shared)
	at.Imm = 4 * ownNumbers
	g.own = g.b.Append(ir.OpIndex, g.shared.Type, at, number)
	g.own.Imm = 4
	g.values = append(g.values, tid[0], tid[1], number, number, g.b.Append(ir.OpCtaid, ir.I32))
}

func (g *teamGenerator) pick(n int) int { return g.r.IntN(n) }

// block writes up to n statements; what they define is not visible after them.
func (g *teamGenerator) block(n int) {
	before := len(g.values)
	g.depth++
	for range 2 + g.pick(n) {
		g.statement()
	}
	g.depth--
	g.values = g.values[:before]
}

func (g *teamGenerator) statement() {
	k := g.pick(12)
	if g.depth > 3 {
		k = g.pick(8)
	}
	switch k {
	case 0, 1:
		g.values = append(g.values, g.expr())
	case 2, 3:
		v := g.leaf()
		if g.pick(2) == 0 {
			v = g.expr()
		}
		g.b.Append(ir.OpStore, ir.Void, g.locals[g.pick(len(g.locals))], v)
	case 4:
		g.b.Append(ir.OpStore, ir.Void, g.own, g.expr())
	case 5:
		if g.pick(3) == 0 {
			g.values = append(g.values, g.exchange())
			return
		}
		g.values = append(g.values, g.load())
	case 6, 7:
		if g.depth < 3 || g.pick(4) == 0 {
			g.b.Append(ir.OpBarrier, ir.Void)
		}
	case 8:
		g.loop()
	case 9:
		if g.pick(2) == 0 {
			g.leave()
		}
	default:
		g.branch()
	}
}

// exchange exchanges values in the warp. The interpreter does not execute that, but the analyses know it.
func (g *teamGenerator) exchange() *ir.Value {
	switch g.pick(4) {
	case 0:
		return g.b.Append(ir.OpBallot, ir.I32, g.condition())
	case 1:
		return g.b.Append(ir.OpWarpReduce, ir.I32, g.leaf())
	case 2:
		return g.b.Append(ir.OpShuffle, ir.I32, g.leaf(), g.leaf())
	}
	return g.b.Append(ir.OpLane, ir.I32)
}

// load loads a number from shared memory: the thread's own, or one at a random place.
func (g *teamGenerator) load() *ir.Value {
	p := g.own
	if g.pick(3) > 0 {
		i := g.b.Append(ir.OpAnd, ir.I32, g.leaf(), g.b.Const(ir.I32, 63))
		p = g.b.Append(ir.OpIndex, g.shared.Type, g.shared, i)
		p.Imm = 4
	}
	return g.b.Append(ir.OpLoad, ir.I32, p)
}

func (g *teamGenerator) leaf() *ir.Value {
	switch g.pick(5) {
	case 0, 1, 2:
		return g.b.Append(ir.OpLoad, ir.I32, g.locals[g.pick(len(g.locals))])
	}
	return g.values[g.pick(len(g.values))]
}

// expr returns an i32, of constants that matter for warps now and then.
func (g *teamGenerator) expr() *ir.Value {
	c := g.b.Const(ir.I32, []int64{1, 4, 5, 6, 31, 32, 16, -32, -16, 64, 48, 3}[g.pick(12)])
	ops := []ir.Op{ir.OpAdd, ir.OpAnd, ir.OpSDiv, ir.OpUDiv, ir.OpAShr, ir.OpLShr, ir.OpSub, ir.OpXor}
	op := ops[g.pick(len(ops))]
	if g.pick(3) == 0 && op != ir.OpSDiv && op != ir.OpUDiv {
		c = g.leaf()
	}
	return g.b.Append(op, ir.I32, g.leaf(), c)
}

func (g *teamGenerator) condition() *ir.Value {
	x, y := g.leaf(), g.b.Const(ir.I32, []int64{0, 1, 2, 3, 31, 32, 33, 63}[g.pick(8)])
	if g.pick(3) == 0 {
		x = g.b.Append(ir.OpAnd, ir.I32, x, g.b.Const(ir.I32, 1))
	}
	if g.pick(2) == 0 {
		x, y = y, x
	}
	return g.b.Append(ir.OpEq+ir.Op(g.pick(6)), ir.I1, x, y)
}

// split ends the block with a branch, and goes on in the first of two new blocks.
func (g *teamGenerator) split() (then, other *ir.Block) {
	c := g.condition()
	then, other = g.f.NewBlock(), g.f.NewBlock()
	g.b.Append(ir.OpIf, ir.Void, c)
	g.b.AddEdge(then)
	g.b.AddEdge(other)
	g.b = then
	return then, other
}

func (g *teamGenerator) jump(to *ir.Block) {
	g.b.Append(ir.OpJump, ir.Void)
	g.b.AddEdge(to)
}

func (g *teamGenerator) branch() {
	_, other := g.split()
	done := g.f.NewBlock()
	g.block(3)
	g.jump(done)
	g.b = other
	if g.pick(2) == 0 {
		g.block(3)
	}
	g.jump(done)
	g.b = done
}

// leave returns under a condition.
func (g *teamGenerator) leave() {
	_, other := g.split()
	g.b.Append(ir.OpRet, ir.Void)
	g.b = other
}

// loop writes a loop of up to three iterations, some left in their middle.
func (g *teamGenerator) loop() {
	i := g.b.Append(ir.OpAlloca, ir.Ptr)
	i.Aux = ir.I32
	g.b.Append(ir.OpStore, ir.Void, i, g.b.Const(ir.I32, 0))
	limit := g.b.Append(ir.OpAnd, ir.I32, g.leaf(), g.b.Const(ir.I32, 3))
	head := g.f.NewBlock()
	g.jump(head)
	g.b = head
	now := g.b.Append(ir.OpLoad, ir.I32, i)
	body, done := g.f.NewBlock(), g.f.NewBlock()
	g.b.Append(ir.OpIf, ir.Void, g.b.Append(ir.OpSLt, ir.I1, now, limit))
	g.b.AddEdge(body)
	g.b.AddEdge(done)
	g.b = body
	before := len(g.values)
	g.values = append(g.values, now)
	g.block(3)
	if g.pick(3) == 0 {
		_, on := g.split()
		g.jump(done)
		g.b = on
	}
	g.values = g.values[:before]
	g.b.Append(ir.OpStore, ir.Void, i, g.b.Append(ir.OpAdd, ir.I32, now, g.b.Const(ir.I32, 1)))
	g.jump(head)
	g.b = done
}
