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

// TestRandomExpressions compares straight-line integer code with the few lines of evaluate:
// what selection folds (wide products, sums of products, lower halves, constant parts of
// addresses) has no other meaning than the values that it folds.
func TestRandomExpressions(t *testing.T) {
	for seed := range uint64(300) {
		g := newExpressions(seed)
		f := g.kernel()
		if err := ir.Verify(f); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, f)
		}
		r, err := ptx.Emit(f, ptx.Options{})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		args := [4]uint64{seed * 0x123456789abcdef, seed, -seed, 1<<63 + seed}
		want, got := g.evaluate(args), g.launch(t, r.PTX, args)
		if !slices.Equal(want, got) {
			t.Fatalf("seed %d: the kernel stores %#x, the IR says %#x\n%s\n%s", seed, got, want, f, r.PTX)
		}
		if seed < 10 {
			t.Run("ptxas", func(t *testing.T) { assemble(t, r.PTX) })
		}
	}
}

// tableLen is the number of elements, of i16, of the tables that expressions read.
const tableLen = 16

// expressions makes kernels of random integer expressions of two parameters of each of
// i32 and i64, and elements of tables in global, shared and constant memory.
type expressions struct {
	rnd    *rand.Rand
	f      *ir.Func
	b      *ir.Block
	tables []*ir.Value
	vals   map[*ir.Type][]*ir.Value
	stored []*ir.Value
}

func newExpressions(seed uint64) *expressions {
	f := ir.NewFunc("expressions", ir.Void)
	f.Kernel, f.ParamBytes = true, 64
	return &expressions{rnd: rand.New(rand.NewPCG(seed, 1)), f: f, vals: map[*ir.Type][]*ir.Value{}}
}

func (g *expressions) kernel() *ir.Func {
	out := g.f.NewParam(ir.PtrTo(ir.Global), 0)
	table := g.f.NewParam(ir.PtrTo(ir.Global), 8)
	for i, t := range []*ir.Type{ir.I64, ir.I64, ir.I32, ir.I32} {
		g.keep(g.f.NewParam(t, int64(16+8*i)))
	}
	g.b = g.f.NewBlock()
	g.makeTables(table)
	for range 40 {
		g.value()
	}
	for i, v := range g.stored {
		p := g.b.Append(ir.OpOffset, out.Type, out)
		p.Imm = int64(8 * i)
		g.b.Append(ir.OpStore, ir.Void, p, v)
	}
	g.b.Append(ir.OpRet, ir.Void)
	return g.f
}

// element is what every table holds at i.
func element(i int) uint16 { return uint16(i*i*1237 + 40000) }

// makeTables makes a constant table and copies it to shared memory; the global one is given.
func (g *expressions) makeTables(global *ir.Value) {
	var data []byte
	for i := range tableLen {
		data = binary.LittleEndian.AppendUint16(data, element(i))
	}
	array := ir.ArrayOf(tableLen, ir.I16)
	constants := g.b.Append(ir.OpVar, ir.PtrTo(ir.Constant))
	constants.Aux = &ir.Variable{Name: "table", Space: ir.Constant, Type: array, Init: data}
	shared := g.b.Append(ir.OpVar, ir.PtrTo(ir.Shared))
	shared.Aux = &ir.Variable{Name: "copy", Space: ir.Shared, Type: array}
	for i := range int64(tableLen) {
		p := g.b.Append(ir.OpOffset, shared.Type, shared)
		p.Imm = 2 * i
		g.b.Append(ir.OpStore, ir.Void, p, g.b.Const(ir.I16, int64(int16(element(int(i))))))
	}
	g.tables = []*ir.Value{global, constants, shared}
}

func (g *expressions) keep(v *ir.Value) {
	g.vals[v.Type] = append(g.vals[v.Type], v)
	if v.Op != ir.OpParam && g.rnd.IntN(3) == 0 {
		g.stored = append(g.stored, v)
	}
}

// pick returns a value of type t: an earlier one, mostly one of the last, or a constant.
func (g *expressions) pick(t *ir.Type) *ir.Value {
	vals := g.vals[t]
	if len(vals) == 0 || g.rnd.IntN(5) == 0 {
		edges := []int64{0, 1, -1, 3, 4, 8, 100, 255, -128, 65536, 1 << 31, 1<<32 - 1, -1 << 31, 1 << 40}
		unused := 64 - t.Bits()
		return g.b.Const(t, edges[g.rnd.IntN(len(edges))]<<unused>>unused)
	}
	return vals[max(0, len(vals)-1-g.rnd.IntN(4))]
}

// value adds a random value.
func (g *expressions) value() {
	types := []*ir.Type{ir.I8, ir.I16, ir.I32, ir.I32, ir.I64, ir.I64, ir.I64}
	t, from := types[g.rnd.IntN(len(types))], types[g.rnd.IntN(len(types))]
	ops := []ir.Op{ir.OpAdd, ir.OpSub, ir.OpMul, ir.OpAnd, ir.OpOr, ir.OpXor}
	switch n := g.rnd.IntN(12); {
	case n < 4 && t.Bits() > from.Bits():
		g.keep(g.b.Append([]ir.Op{ir.OpSExt, ir.OpZExt}[n&1], t, g.pick(from)))
	case n < 4 && t.Bits() < from.Bits():
		g.keep(g.b.Append(ir.OpTrunc, t, g.pick(from)))
	case n == 4:
		count := g.b.Const(ir.I32, int64(g.rnd.IntN(70)))
		g.keep(g.b.Append([]ir.Op{ir.OpShl, ir.OpShl, ir.OpLShr, ir.OpAShr}[g.rnd.IntN(4)], t, g.pick(t), count))
	case n == 5 && t.Bits() >= 32:
		g.element(t)
	default:
		g.keep(g.b.Append(ops[g.rnd.IntN(len(ops))], t, g.pick(t), g.pick(t)))
	}
}

// element loads from a table at an index of type t that is in range, with constant parts in
// the index and after it.
func (g *expressions) element(t *ir.Type) {
	table := g.tables[g.rnd.IntN(len(g.tables))]
	c, d := g.rnd.IntN(4), g.rnd.IntN(4)
	i := g.b.Append(ir.OpAnd, t, g.pick(t), g.b.Const(t, 7))
	i = g.b.Append(ir.OpAdd, t, i, g.b.Const(t, int64(c)))
	p := g.b.Append(ir.OpIndex, table.Type, table, i)
	p.Imm = 2
	p = g.b.Append(ir.OpOffset, table.Type, p)
	p.Imm = int64(2 * d)
	g.keep(g.b.Append(ir.OpLoad, ir.I16, p))
}

// evaluate returns what the kernel stores. Of addresses it knows the index.
func (g *expressions) evaluate(args [4]uint64) []uint64 {
	vals := map[*ir.Value]uint64{}
	for i, a := range args {
		p := g.f.Params[2+i]
		vals[p] = cut(p.Type, a)
	}
	for _, v := range g.b.Values {
		if v.Type.IsInt() || v.Op == ir.OpIndex || v.Op == ir.OpOffset {
			vals[v] = cut(v.Type, evaluate(v, func(i int) uint64 { return vals[v.Args[i]] }))
		}
	}
	var out []uint64
	for _, v := range g.stored {
		out = append(out, vals[v])
	}
	return out
}

func cut(t *ir.Type, x uint64) uint64 {
	n := 64 - t.Bits()
	return x << n >> n
}

// evaluate computes v from its arguments.
func evaluate(v *ir.Value, arg func(int) uint64) uint64 {
	sign := func() uint64 { return uint64(signed(arg(0), v.Args[0].Type.Bits())) }
	switch v.Op {
	case ir.OpConst:
		return uint64(v.Imm)
	case ir.OpAdd:
		return arg(0) + arg(1)
	case ir.OpSub:
		return arg(0) - arg(1)
	case ir.OpMul:
		return arg(0) * arg(1)
	case ir.OpAnd:
		return arg(0) & arg(1)
	case ir.OpOr:
		return arg(0) | arg(1)
	case ir.OpXor:
		return arg(0) ^ arg(1)
	case ir.OpShl:
		return arg(0) << arg(1)
	case ir.OpLShr:
		return arg(0) >> arg(1)
	case ir.OpAShr:
		return uint64(int64(sign()) >> arg(1))
	case ir.OpSExt:
		return sign()
	case ir.OpZExt, ir.OpTrunc:
		return arg(0)
	case ir.OpIndex:
		return arg(1)
	case ir.OpOffset:
		return arg(0) + uint64(v.Imm/2)
	case ir.OpLoad:
		return uint64(element(int(arg(0))))
	}
	return 0
}

// launch runs the kernel in one thread and returns what it stored.
func (g *expressions) launch(t *testing.T, text string, args [4]uint64) []uint64 {
	mem := machine.NewMemory()
	const size = 512
	address, err := mem.Allocate(size)
	if err != nil {
		t.Fatal(err)
	}
	data, err := mem.Bytes(address, size)
	if err != nil {
		t.Fatal(err)
	}
	clear(data)
	table := size - 2*tableLen
	for i := range tableLen {
		binary.LittleEndian.PutUint16(data[table+2*i:], element(i))
	}
	params := binary.LittleEndian.AppendUint64(nil, address)
	params = binary.LittleEndian.AppendUint64(params, address+uint64(table))
	for _, a := range args {
		params = binary.LittleEndian.AppendUint64(params, a)
	}
	run(t, text, mem, machine.Launch{Grid: [3]int{1, 1, 1}, Block: [3]int{1, 1, 1}, Params: append(params, make([]byte, 16)...)})
	var out []uint64
	for i := range g.stored {
		out = append(out, binary.LittleEndian.Uint64(data[8*i:]))
	}
	return out
}
