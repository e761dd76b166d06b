package ptx_test

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/internal/backend/ptx"
	"github.com/gopherwarp/gopherwarp/internal/ir"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/machine"
)

// TestRandomControlFlow compares random graphs of blocks and phis, executed by the few
// lines of walk below, with their PTX: layout, coalescing, moves and branches have no other
// meaning than these.
func TestRandomControlFlow(t *testing.T) {
	seeds := []uint64{33805} // moves of both edges of a branch that write one register
	for seed := range uint64(400) {
		seeds = append(seeds, seed)
	}
	for _, seed := range seeds {
		g := &generator{rnd: rand.New(rand.NewPCG(seed, 0)), f: ir.NewFunc("random", ir.Void)}
		f := g.kernel()
		if err := ir.Verify(f); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, f)
		}
		r, err := ptx.Emit(f, ptx.Options{})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		args := []int32{int32(seed), 7, -3}
		want, got := walk(f, args), launch1(t, r.PTX, args)
		if !slices.Equal(want, got) {
			t.Fatalf("seed %d: the kernel stores %v, the IR says %v\n%s\n%s", seed, got, want, f, r.PTX)
		}
		if seed < 10 {
			t.Run("ptxas", func(t *testing.T) { assemble(t, r.PTX) })
		}
	}
}

// outputs is the number of values that a random kernel stores at the end.
const outputs = 5

// generator makes functions of nested loops and branches over a few variables that are
// changed, exchanged and joined at random.
type generator struct {
	rnd  *rand.Rand
	f    *ir.Func
	at   *ir.Block
	vars []*ir.Value
	left int // statements that may still be made
}

func (g *generator) kernel() *ir.Func {
	g.f.Kernel, g.f.ParamBytes, g.left = true, 40, 60
	out := g.f.NewParam(ir.PtrTo(ir.Global), 0)
	for i := range 3 {
		g.vars = append(g.vars, g.f.NewParam(ir.I32, int64(8+4*i)))
	}
	g.at = g.f.NewBlock()
	g.vars = append(g.vars, g.at.Const(ir.I32, 1), g.at.Const(ir.I32, -5))
	g.statements(3)
	for i, v := range g.vars {
		p := g.at.Append(ir.OpOffset, out.Type, out)
		p.Imm = int64(4 * i)
		g.at.Append(ir.OpStore, ir.Void, p, v)
	}
	g.at.Append(ir.OpRet, ir.Void)
	return g.f
}

func (g *generator) pick() *ir.Value { return g.vars[g.rnd.IntN(len(g.vars))] }

func (g *generator) statements(depth int) {
	for range 1 + g.rnd.IntN(5) {
		if g.left--; g.left < 0 {
			return
		}
		switch n := g.rnd.IntN(10); {
		case n < 2 && depth > 0:
			g.loop(depth)
		case n < 5 && depth > 0:
			g.choice(depth)
		case n < 7:
			i, j := g.rnd.IntN(len(g.vars)), g.rnd.IntN(len(g.vars))
			g.vars[i], g.vars[j] = g.vars[j], g.vars[i]
		case n < 8:
			g.vars[g.rnd.IntN(len(g.vars))] = g.pick()
		default:
			ops := []ir.Op{ir.OpAdd, ir.OpSub, ir.OpMul, ir.OpXor}
			g.vars[g.rnd.IntN(len(g.vars))] = g.at.Append(ops[g.rnd.IntN(len(ops))], ir.I32, g.pick(), g.pick())
		}
	}
}

// choice makes a branch with one or two sides that join again.
func (g *generator) choice(depth int) {
	cond := g.at.Append(ir.OpSLt, ir.I1, g.pick(), g.pick())
	head, before := g.at, slices.Clone(g.vars)
	head.Append(ir.OpIf, ir.Void, cond)
	join := g.f.NewBlock()
	var sides [][]*ir.Value
	side := func(empty bool) {
		g.vars = slices.Clone(before)
		if empty {
			head.AddEdge(join)
		} else {
			g.at = g.f.NewBlock()
			head.AddEdge(g.at)
			g.statements(depth - 1)
			g.at.Append(ir.OpJump, ir.Void)
			g.at.AddEdge(join)
		}
		sides = append(sides, g.vars)
	}
	empty := g.rnd.IntN(3)
	side(empty == 0)
	side(empty == 1)
	g.at, g.vars = join, nil
	for i := range before {
		g.vars = append(g.vars, join.Append(ir.OpPhi, ir.I32, sides[0][i], sides[1][i]))
	}
}

// loop makes a loop of a few rounds with its test at the top or the bottom.
func (g *generator) loop(depth int) {
	if g.rnd.IntN(2) == 0 {
		g.loopTop(depth)
	} else {
		g.loopBottom(depth, g.rnd.IntN(2) == 0)
	}
}

// head starts a loop: its phis, the first of them counting rounds.
func (g *generator) head() (head *ir.Block, phis []*ir.Value) {
	zero := g.at.Const(ir.I32, 0)
	head = g.f.NewBlock()
	g.at.Append(ir.OpJump, ir.Void)
	g.at.AddEdge(head)
	for _, v := range append([]*ir.Value{zero}, g.vars...) {
		phis = append(phis, head.Append(ir.OpPhi, ir.I32, v))
	}
	g.at = head
	copy(g.vars, phis[1:])
	return head, phis
}

// again counts a round and completes the phis.
func (g *generator) again(phis []*ir.Value) (rounds *ir.Value) {
	rounds = g.at.Append(ir.OpAdd, ir.I32, phis[0], g.at.Const(ir.I32, 1))
	for k, v := range append([]*ir.Value{rounds}, g.vars...) {
		phis[k].Args = append(phis[k].Args, v)
	}
	return rounds
}

func (g *generator) loopTop(depth int) {
	head, phis := g.head()
	done := g.branch(g.compare(phis[0]))
	after := slices.Clone(g.vars)
	g.statements(depth - 1)
	g.again(phis)
	g.at.Append(ir.OpJump, ir.Void)
	g.at.AddEdge(head)
	g.at, g.vars = done, after
}

// loopBottom makes a loop that, with a guard, may be skipped: then both ways out of its last
// block lead to phis.
func (g *generator) loopBottom(depth int, guard bool) {
	var done *ir.Block
	before := slices.Clone(g.vars)
	if guard {
		done = g.branch(g.compare(g.pick()))
	} else {
		done = g.f.NewBlock()
	}
	head, phis := g.head()
	g.statements(depth - 1)
	g.endLoop(g.again(phis), head, done)
	g.at = done
	if guard {
		for k, v := range before {
			g.vars[k] = done.Append(ir.OpPhi, ir.I32, v, g.vars[k])
		}
	}
}

// compare compares v, which counts up from 0 or is anything, with a small number.
func (g *generator) compare(v *ir.Value) *ir.Value {
	op := []ir.Op{ir.OpSLt, ir.OpSLe}[g.rnd.IntN(2)]
	return g.at.Append(op, ir.I1, v, g.at.Const(ir.I32, int64(g.rnd.IntN(4))))
}

// branch goes on in a new block where cond holds, and returns the one for the rest.
func (g *generator) branch(cond *ir.Value) (other *ir.Block) {
	from, inner, other := g.at, g.f.NewBlock(), g.f.NewBlock()
	from.Append(ir.OpIf, ir.Void, cond)
	from.AddEdge(inner)
	from.AddEdge(other)
	g.at = inner
	return other
}

// endLoop goes back to head after fewer than a few rounds, written in one of three ways.
func (g *generator) endLoop(rounds *ir.Value, head, done *ir.Block) {
	b, way, end := g.at, g.rnd.IntN(3), g.at.Const(ir.I32, int64(g.rnd.IntN(4)))
	ops, yes, no := [2]ir.Op{ir.OpSLt, ir.OpSLe}, head, done
	strict := g.rnd.IntN(2)
	cond := b.Append(ops[strict], ir.I1, rounds, end)
	switch way {
	case 1:
		cond, yes, no = b.Append(ir.OpXor, ir.I1, cond, b.Const(ir.I1, -1)), done, head
	case 2:
		cond, yes, no = b.Append(ops[1-strict], ir.I1, end, rounds), done, head
	}
	b.Append(ir.OpIf, ir.Void, cond)
	b.AddEdge(yes)
	b.AddEdge(no)
}

// walk executes f and returns what it stores.
func walk(f *ir.Func, args []int32) []int32 {
	vals, out := map[*ir.Value]int32{}, make([]int32, outputs)
	for i, a := range args {
		vals[f.Params[1+i]] = a
	}
	b, from := f.Blocks[0], (*ir.Block)(nil)
	for b != nil {
		var now []int32
		for _, v := range b.Phis() {
			now = append(now, vals[v.Args[b.PredIndex(from)]])
		}
		for i, v := range b.Phis() {
			vals[v] = now[i]
		}
		next := (*ir.Block)(nil)
		for _, v := range b.Values[len(now):] {
			next = walkValue(v, vals, out)
		}
		b, from = next, b
	}
	return out
}

// walkValue executes v and returns the block that a terminator goes to.
func walkValue(v *ir.Value, vals map[*ir.Value]int32, out []int32) *ir.Block {
	arg := func(i int) int32 { return vals[v.Args[i]] }
	switch v.Op {
	case ir.OpConst:
		vals[v] = int32(v.Imm)
	case ir.OpAdd:
		vals[v] = arg(0) + arg(1)
	case ir.OpSub:
		vals[v] = arg(0) - arg(1)
	case ir.OpMul:
		vals[v] = arg(0) * arg(1)
	case ir.OpXor:
		vals[v] = arg(0) ^ arg(1)
	case ir.OpSLt:
		vals[v] = int32(-int(truth(arg(0) < arg(1))))
	case ir.OpSLe:
		vals[v] = int32(-int(truth(arg(0) <= arg(1))))
	case ir.OpStore:
		out[v.Args[0].Imm/4] = arg(1)
	case ir.OpJump:
		return v.Block.Succs[0]
	case ir.OpIf:
		if arg(0) != 0 {
			return v.Block.Succs[0]
		}
		return v.Block.Succs[1]
	}
	return nil
}

// launch1 runs a random kernel in one thread and returns what it stored.
func launch1(t *testing.T, text string, args []int32) []int32 {
	mem := machine.NewMemory()
	address, err := mem.Allocate(4 * outputs)
	if err != nil {
		t.Fatal(err)
	}
	params := make([]byte, 40)
	binary.LittleEndian.PutUint64(params, address)
	for i, a := range args {
		binary.LittleEndian.PutUint32(params[8+4*i:], uint32(a))
	}
	run(t, text, mem, machine.Launch{Grid: [3]int{1, 1, 1}, Block: [3]int{1, 1, 1}, Params: params})
	data, err := mem.Bytes(address, 4*outputs)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]int32, outputs)
	for i := range out {
		out[i] = int32(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return out
}
