package pass

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
	"github.com/gopherwarp/gopherwarp/internal/ir/edit"
	"github.com/gopherwarp/gopherwarp/internal/verify/sweep"
)

// TestRandomPrograms compiles random kernels, verifying after each pass, and runs them
// before and after.
func TestRandomPrograms(t *testing.T) {
	n := uint64(100)
	switch {
	case testing.Short():
		n = 50
	case sweep.Whole():
		n = 200
	}
	defined := 0
	for seed := range n {
		m := generate(seed)
		k := m.Func("random")
		if err := ir.Verify(k); err != nil {
			t.Fatalf("the generator is wrong: %v\n%v", err, m)
		}
		f, err := Compile(k, Options{Verify: true, Wide: seed%2 == 1, Unroll: seed%3 == 1})
		if err != nil {
			t.Fatal(err)
		}
		defined += sameBehaviour(t, k, f, compiledSetting(k, f), rand.New(rand.NewPCG(3, seed)))
		runsAsClaimed(t, k, rand.New(rand.NewPCG(4, seed)))
		runsAsClaimed(t, f, rand.New(rand.NewPCG(5, seed)))
		if t.Failed() {
			t.Fatalf("seed %d\n%s", seed, blame(t, m, k))
		}
	}
	if defined < int(n)*10 {
		t.Errorf("only %d runs of %d programs were defined", defined, n)
	}
}

// blame names the first step after which k behaves differently.
func blame(t *testing.T, m *ir.Module, k *ir.Func) string {
	f := edit.CloneFunc(k)
	first, second := newMachine(usual), newMachine(setting{limit: 1000 * maxSteps, align: paramAlign})
	for i, s := range pipeline {
		last := f.String()
		s.apply(f, &Options{Verify: true, Wide: true}, &ir.Verifier{})
		for seed := range uint64(2000) {
			want, err := first.runRandom(k, seed)
			if err != nil {
				continue
			}
			got, err := second.runRandom(f, seed)
			if want.fault != "" && got.fault != "" {
				want.memory, got.memory = "", ""
			}
			if err != nil || got != want {
				return fmt.Sprintf("step %d, %s, on input %d: %v\n%+v\n%+v\n--- before\n%s\n--- after\n%v", i, s.name, seed, err, want, got, last, f)
			}
		}
	}
	return "no step is to blame"
}

// A generator writes a random kernel, as the frontend would: locals in memory, checks in
// front of accesses.
type generator struct {
	r      *rand.Rand
	f      *ir.Func
	b      *ir.Block
	locals []*ir.Value   // allocas of scalars
	arrays []*ir.Value   // allocas of arrays of 4
	slices [][]*ir.Value // pointer, length
	values []*ir.Value   // that dominate the current place
	exits  []*ir.Block   // of the open loops
	depth  int
	callee *ir.Func
}

var genTypes = []*ir.Type{ir.I32, ir.I64, ir.I64, ir.F32, ir.F64, ir.I8, ir.I1}

func generate(seed uint64) *ir.Module {
	r := rand.New(rand.NewPCG(seed, 77))
	callee := generateFunc(r, nil, ir.NewFunc("callee", ir.F32))
	kernel := ir.NewFunc("random", ir.Void)
	kernel.Kernel, kernel.ParamBytes, kernel.Narrow = true, 128, seed%2 == 1
	if r.IntN(3) == 0 {
		kernel.Block = [3]int{4, 2, 1}
	}
	generateFunc(r, callee, kernel)
	if seed%4 > 0 { // else it is as one of the standard library
		placeValues(callee)
	}
	placeValues(kernel)
	return &ir.Module{Funcs: []*ir.Func{callee, kernel}}
}

// placeValues gives each value a line of its own, which faults must keep.
func placeValues(f *ir.Func) {
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			v.Pos = ir.Pos{File: f.Name, Line: 1 + v.ID}
		}
	}
}

func generateFunc(r *rand.Rand, callee, f *ir.Func) *ir.Func {
	g := &generator{r: r, f: f, callee: callee}
	g.b = f.NewBlock()
	if f.Kernel {
		for i := range int64(3) {
			p := f.NewParam(ir.Ptr, 24*i)
			g.slices = append(g.slices, []*ir.Value{p, f.NewParam(ir.I64, 24*i+8)})
			f.NewParam(ir.I64, 24*i+16)
		}
		for axis := range int64(2) {
			tid := g.b.Append(ir.OpTid, ir.I32)
			tid.Imm = axis
			g.values = append(g.values, g.b.Append(ir.OpZExt, ir.I64, tid))
		}
	}
	for i, t := range genTypes {
		g.values = append(g.values, f.NewParam(t, int64(72+8*i)))
	}
	g.block(10)
	if f.Result.Kind == ir.KindVoid {
		g.b.Append(ir.OpRet, ir.Void)
	} else {
		g.b.Append(ir.OpRet, ir.Void, g.expr(f.Result, 2))
	}
	for i, p := range f.Params {
		if !f.Kernel {
			p.Imm = int64(i)
		}
	}
	return f
}

// block writes up to n statements; what they define is not visible after them.
func (g *generator) block(n int) {
	locals, arrays, values := len(g.locals), len(g.arrays), len(g.values)
	g.depth++
	for range 1 + n/3 + g.r.IntN(n) {
		g.statement()
	}
	g.depth--
	g.locals, g.arrays, g.values = g.locals[:locals], g.arrays[:arrays], g.values[:values]
}

func (g *generator) pick(n int) int { return g.r.IntN(n) }

func (g *generator) statement() {
	k := g.pick(14)
	if g.depth > 3 {
		k = g.pick(10)
	}
	switch k {
	case 0, 1:
		local := g.alloca(genTypes[g.pick(len(genTypes))])
		g.locals = append(g.locals, local)
	case 2, 3:
		if len(g.locals) > 0 {
			l := g.locals[g.pick(len(g.locals))]
			g.b.Append(ir.OpStore, ir.Void, l, g.expr(l.Aux.(*ir.Type), 3))
		}
	case 4:
		n := []int64{4, 4, 4, 70}[g.pick(4)]
		g.arrays = append(g.arrays, g.alloca(ir.ArrayOf(n, []*ir.Type{ir.F32, ir.StructOf(ir.I64, ir.F32)}[g.pick(2)])))
	case 5:
		g.arrayStore()
	case 6:
		g.sliceStore()
	case 7:
		g.quad()
	case 8:
		g.print()
	case 9:
		t := genTypes[g.pick(len(genTypes))]
		g.values = append(g.values, g.expr(t, 3))
	case 10, 11:
		g.branch()
	case 12, 13:
		g.loop()
	}
}

func (g *generator) alloca(t *ir.Type) *ir.Value {
	v := g.b.Append(ir.OpAlloca, ir.Ptr)
	v.Aux = t
	return v
}

func (g *generator) print() {
	v := g.b.Append(ir.OpPrint, ir.Void, g.expr(ir.I64, 2))
	v.Aux = &ir.Site{Format: "%d", Args: []dtype.Type{dtype.Int64}}
}

// element returns the address of an element of a local array, and its type.
func (g *generator) element() (*ir.Value, *ir.Type) {
	a := g.arrays[g.pick(len(g.arrays))]
	t := a.Aux.(*ir.Type)
	i := g.b.Const(ir.I64, int64(g.pick(4)))
	if g.pick(2) == 0 {
		i = g.b.Append(ir.OpAnd, ir.I64, g.expr(ir.I64, 2), g.b.Const(ir.I64, 3))
	}
	p := g.b.Append(ir.OpIndex, ir.Ptr, a, i)
	p.Imm = t.Elem.Size()
	return p, t.Elem
}

func (g *generator) arrayStore() {
	if len(g.arrays) == 0 {
		return
	}
	if g.pick(4) == 0 {
		g.arrayCopy()
		return
	}
	p, t := g.element()
	if !isAggregate(t) {
		g.b.Append(ir.OpStore, ir.Void, p, g.expr(t, 3))
		return
	}
	q, u := g.element()
	if u.Equal(t) { // copy a struct
		g.b.Append(ir.OpStore, ir.Void, p, g.b.Append(ir.OpLoad, t, q))
		return
	}
	s := g.b.Append(ir.OpStruct, t, g.expr(ir.I64, 2), g.expr(ir.F32, 2))
	c := g.expr(ir.I1, 2)
	g.b.Append(ir.OpStore, ir.Void, p, g.b.Append(ir.OpSelect, t, c, s, g.b.Append(ir.OpLoad, t, p)))
}

// arrayCopy copies one array to another of its type, by way of a select now and then.
func (g *generator) arrayCopy() {
	a, b := g.arrays[g.pick(len(g.arrays))], g.arrays[g.pick(len(g.arrays))]
	t := a.Aux.(*ir.Type)
	if !t.Equal(b.Aux.(*ir.Type)) {
		return
	}
	v := g.b.Append(ir.OpLoad, t, b)
	if g.pick(2) == 0 {
		old := g.b.Append(ir.OpLoad, t, a)
		v = g.b.Append(ir.OpSelect, t, g.expr(ir.I1, 1), v, old)
	}
	g.b.Append(ir.OpStore, ir.Void, a, v)
}

// slot checks an index into a slice of 4-byte elements and returns the element's address.
func (g *generator) slot() *ir.Value {
	s := g.slices[g.pick(len(g.slices))]
	i := g.expr(ir.I64, 2)
	op := ir.OpULt
	if g.pick(4) == 0 {
		i = g.b.Append(ir.OpAnd, ir.I64, i, g.b.Const(ir.I64, 15))
		if g.pick(2) == 0 {
			op = ir.OpSLt
		}
	}
	c := g.b.Append(ir.OpCheck, ir.Void, g.b.Append(op, ir.I1, i, s[1]), i, s[1])
	c.Aux = &ir.Site{Format: fmt.Sprintf("index %d", c.ID), Args: []dtype.Type{dtype.Int64, dtype.Int64}}
	p := g.b.Append(ir.OpIndex, ir.Ptr, s[0], i)
	p.Imm = 4
	return p
}

func (g *generator) sliceStore() {
	if len(g.slices) == 0 {
		g.check()
		return
	}
	t := []*ir.Type{ir.F32, ir.I32}[g.pick(2)]
	v := g.expr(t, 3)
	g.b.Append(ir.OpStore, ir.Void, g.slot(), v)
}

// check checks a number that is rarely wrong.
func (g *generator) check() {
	x := g.expr(ir.I64, 2)
	c := g.b.Append(ir.OpCheck, ir.Void, g.b.Append(ir.OpNe, ir.I1, x, g.b.Const(ir.I64, int64(g.pick(3)))), x)
	c.Aux = &ir.Site{Format: fmt.Sprintf("number %d", c.ID), Args: []dtype.Type{dtype.Int64}}
}

// quad copies four elements side by side, in any order, aligned most of the time.
func (g *generator) quad() {
	if len(g.slices) == 0 {
		return
	}
	i := g.b.Append(ir.OpAnd, ir.I64, g.expr(ir.I64, 2), g.b.Const(ir.I64, []int64{12, 12, 10, 7}[g.pick(4)]))
	last := g.b.Append(ir.OpAdd, ir.I64, i, g.b.Const(ir.I64, 3))
	var base [2]*ir.Value
	for k := range base {
		s := g.slices[g.pick(len(g.slices))]
		c := g.b.Append(ir.OpCheck, ir.Void, g.b.Append(ir.OpULt, ir.I1, last, s[1]), last, s[1])
		c.Aux = &ir.Site{Format: fmt.Sprintf("quad %d", c.ID), Args: []dtype.Type{dtype.Int64, dtype.Int64}}
		base[k] = g.b.Append(ir.OpIndex, ir.Ptr, s[0], i)
		base[k].Imm = 4
	}
	at := func(p *ir.Value, k int) *ir.Value {
		q := g.b.Append(ir.OpOffset, ir.Ptr, p)
		q.Imm = int64(4 * k)
		return q
	}
	var loaded []*ir.Value
	for _, k := range g.r.Perm(4) {
		loaded = append(loaded, g.b.Append(ir.OpLoad, ir.F32, at(base[0], k)))
		if g.pick(6) == 0 {
			g.b.Append(ir.OpStore, ir.Void, at(base[1], g.pick(4)), g.expr(ir.F32, 1))
		}
	}
	for i, k := range g.r.Perm(4) {
		g.b.Append(ir.OpStore, ir.Void, at(base[1], k), loaded[i])
	}
}

func (g *generator) branch() {
	c := g.expr(ir.I1, 2)
	then, other, done := g.f.NewBlock(), g.f.NewBlock(), g.f.NewBlock()
	g.b.Append(ir.OpIf, ir.Void, c)
	g.b.AddEdge(then)
	g.b.AddEdge(other)
	g.b = then
	g.block(3)
	g.jump(done)
	g.b = other
	if g.pick(2) == 0 {
		g.block(3)
	}
	g.jump(done)
	g.b = done
}

func (g *generator) jump(to *ir.Block) {
	g.b.Append(ir.OpJump, ir.Void)
	g.b.AddEdge(to)
}

// loop writes a loop of few iterations, with a break sometimes.
func (g *generator) loop() {
	i := g.alloca(ir.I64)
	g.b.Append(ir.OpStore, ir.Void, i, g.b.Const(ir.I64, int64(g.pick(3))))
	limit := g.b.Const(ir.I64, int64(g.pick(6)))
	if g.pick(3) == 0 {
		limit = g.b.Append(ir.OpAnd, ir.I64, g.expr(ir.I64, 1), g.b.Const(ir.I64, 7))
	} else if g.pick(3) == 0 && len(g.slices) > 0 {
		limit = g.slices[g.pick(3)][1]
	}
	head, body, next, done := g.f.NewBlock(), g.f.NewBlock(), g.f.NewBlock(), g.f.NewBlock()
	g.jump(head)
	g.b = head
	now := g.b.Append(ir.OpLoad, ir.I64, i)
	g.b.Append(ir.OpIf, ir.Void, g.b.Append(ir.OpSLt, ir.I1, now, limit))
	g.b.AddEdge(body)
	g.b.AddEdge(done)
	g.b = body
	g.values = append(g.values, now, now)
	g.exits = append(g.exits, done)
	g.block(4)
	if g.pick(3) == 0 {
		g.leave(next)
	} else {
		g.jump(next)
	}
	g.exits = g.exits[:len(g.exits)-1]
	g.values = g.values[:len(g.values)-2]
	g.b = next
	old := g.b.Append(ir.OpLoad, ir.I64, i)
	g.b.Append(ir.OpStore, ir.Void, i, g.b.Append(ir.OpAdd, ir.I64, old, g.b.Const(ir.I64, int64(1+g.pick(2)))))
	g.jump(head)
	g.b = done
}

// leave ends the current block with a branch out of one of the open loops, or on to next.
func (g *generator) leave(next *ir.Block) {
	c := g.expr(ir.I1, 2)
	g.b.Append(ir.OpIf, ir.Void, c)
	g.b.AddEdge(g.exits[g.pick(len(g.exits))])
	g.b.AddEdge(next)
}

// expr returns a value of type t.
func (g *generator) expr(t *ir.Type, depth int) *ir.Value {
	if depth == 0 || g.pick(4) == 0 {
		return g.leaf(t)
	}
	a := func(t *ir.Type) *ir.Value { return g.expr(t, depth-1) }
	switch {
	case g.pick(8) == 0:
		return g.b.Append(ir.OpSelect, t, a(ir.I1), a(t), a(t))
	case t.Kind == ir.KindI1:
		if g.pick(3) == 0 {
			return g.b.Append(ir.OpFEq+ir.Op(g.pick(4)), t, a(ir.F32), a(ir.F32))
		}
		u := genTypes[g.pick(3)]
		return g.b.Append(ir.OpEq+ir.Op(g.pick(6)), t, a(u), a(u))
	case t.IsFloat():
		return g.floatExpr(t, a)
	}
	return g.intExpr(t, a)
}

func (g *generator) floatExpr(t *ir.Type, a func(*ir.Type) *ir.Value) *ir.Value {
	switch g.pick(8) {
	case 7:
		if t.Kind == ir.KindF32 {
			n := ir.Op(2 * g.pick(2))
			return g.b.Append(ir.OpF16ToF+n, t, g.b.Append(ir.OpFToF16+n, ir.I16, a(t)))
		}
	case 0:
		return g.b.Append(ir.OpSToF, t, a(ir.I64))
	case 1:
		if t.Kind == ir.KindF32 {
			return g.b.Append(ir.OpFRound, t, a(ir.F64))
		}
		return g.b.Append(ir.OpFExt, t, a(ir.F32))
	case 2:
		return g.b.Append(ir.OpFNeg, t, a(t))
	case 3:
		if t.Kind == ir.KindF32 && len(g.slices) > 0 {
			return g.b.Append(ir.OpLoad, t, g.slot())
		}
	case 4:
		if t.Kind == ir.KindF32 && g.callee != nil && g.pick(3) == 0 {
			var args []*ir.Value
			for _, p := range g.callee.Params {
				args = append(args, a(p.Type))
			}
			v := g.b.Append(ir.OpCall, t, args...)
			v.Aux = g.callee
			return v
		}
	}
	return g.b.Append(ir.OpFAdd+ir.Op(g.pick(4)), t, a(t), a(t))
}

func (g *generator) intExpr(t *ir.Type, a func(*ir.Type) *ir.Value) *ir.Value {
	switch g.pick(9) {
	case 0:
		op := []ir.Op{ir.OpShl, ir.OpLShr, ir.OpAShr}[g.pick(3)]
		return g.b.Append(op, t, a(t), a(ir.I32))
	case 1:
		if t.Bits() < 64 {
			return g.b.Append(ir.OpTrunc, t, a(ir.I64))
		}
		return g.b.Append([]ir.Op{ir.OpSExt, ir.OpZExt}[g.pick(2)], t, a([]*ir.Type{ir.I32, ir.I8, ir.I1}[g.pick(3)]))
	case 2:
		return g.b.Append([]ir.Op{ir.OpPopc, ir.OpClz, ir.OpBrev}[g.pick(3)], t, a(t))
	case 3, 4:
		d := g.b.Const(t, []int64{1, 2, 3, 7, 8, 10, 64, 100, -1, -4, -7}[g.pick(11)])
		if g.pick(2) == 0 { // anything but 0, for which the result is arbitrary
			d = g.b.Append(ir.OpOr, t, a(t), g.b.Const(t, 1))
		}
		return g.b.Append(ir.OpSDiv+ir.Op(g.pick(4)), t, a(t), d)
	case 5:
		return g.b.Append([]ir.Op{ir.OpAnd, ir.OpOr, ir.OpXor}[g.pick(3)], t, a(t), a(t))
	}
	return g.b.Append([]ir.Op{ir.OpAdd, ir.OpSub, ir.OpMul, ir.OpAdd, ir.OpUMulHi, ir.OpSMulHi}[g.pick(6)], t, a(t), a(t))
}

// leaf returns a constant, a value that is there already or the value of a local.
func (g *generator) leaf(t *ir.Type) *ir.Value {
	var found []*ir.Value
	for _, v := range g.values {
		if v.Type.Equal(t) {
			found = append(found, v)
		}
	}
	if len(found) > 0 && g.pick(3) > 0 {
		return found[g.pick(len(found))]
	}
	for _, l := range g.locals {
		if l.Aux.(*ir.Type).Equal(t) && g.pick(2) == 0 {
			return g.b.Append(ir.OpLoad, t, l)
		}
	}
	if t.Kind == ir.KindF32 && len(g.arrays) > 0 {
		if p, elem := g.element(); elem.Equal(t) {
			return g.b.Append(ir.OpLoad, t, p)
		}
	}
	if t.IsFloat() {
		c, _ := analysis.FloatBits(t, randomFloat(g.r))
		return g.b.Const(t, c)
	}
	return g.b.Const(t, analysis.SignExtend(t, int64(randomInt(g.r))))
}
