package vector

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/layout"
	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/units"
	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/vasm"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// vectorizer writes what a row of threads does in a region as vector code: as many at once as a register has lanes of
// 32 bits; values of 64 bits have two registers. It returns how many threads it has
// done: it leaves the rest to Go where that is no full vector, and from where a check fails on,
// before any thread of that vector has written anything.
//
// Where conditions of integers may differ between lanes but rarely do, the loop over the vectors is there twice:
// see plan.agree.
type vectorizer struct {
	*Kernel
	*plan
	*shared
	vals     map[*ir.Value]*vector
	left     map[*ir.Value]*vector     // what lanes that have left a loop keep of values that stay
	maskRegs map[*laneSet]vasm.Reg     // registers of masks
	heads    map[*layout.Node]loopCode // of headers
	label    map[*layout.Node]string
	block    *layout.Node
	tx       vasm.Reg
	wrote    bool   // something was written in this block
	end      string // of a vector
	begin    string // a label before a vector's code, if any
	part     string // where lanes that do not agree do the vector again; "" in the loop that takes all
}

// shared is what the loops of a function share.
type shared struct {
	*units.Assembler
	row       vasm.Reg // how many threads are in it
	Inputs    []Input
	inputRegs []units.Vreg
	pointers  map[*ir.Value]*vector       // from outside
	counted   vasm.Reg                    // the number of the lane
	outside   map[units.Constant]vasm.Reg // vectors of uniform registers that never change
	strides   map[units.Constant][2]units.Vreg
	bail      string
}

// Input is a parameter of the function: what the caller passes for it.
type Input struct {
	Of   *ir.Value // v below
	What InputKind
}

// InputKind is what of v an Input is.
type InputKind int

// The kinds of inputs.
const (
	InputValue   InputKind = iota // of v; the bytes from its root for a pointer that is none
	InputRoot                     // the pointer that v, a root, is
	InputElement                  // the address that keeps v for the row's first thread
	InputSpecial                  // an index or a size
	InputBrought                  // the address of what the row's first thread brings to v, where threads of a warp exchange values
)

// vector is a value in vector code. It has one register, or two of 64 bits.
type vector struct {
	shape
	reg [2]vasm.Reg // of a uniform value, or of an affine one's first lane, one for integers
}

type loopCode struct {
	back              vasm.Reg // the lanes that go on, where lanes part
	start, tail, exit string
}

// Kernel is what vector code has to know of a kernel, and what is known of the code.
type Kernel struct {
	*layout.Placement
	F     *ir.Func
	Array []*ir.Value                   // by value ID: whose array keeps it
	Apart map[*ir.Value]bool            // locals that are in arrays, one for each thread
	Name  func(wanted string) string    // declares a function for a unit; nil for no vector code
	found map[*layout.Region][]*Routine // of the regions that were looked at
	plans map[planned]*plans
	Why   []string // why regions have no vector code
}

// NewKernel returns k with nothing known of its code.
func NewKernel(k Kernel) *Kernel {
	k.found, k.plans = map[*layout.Region][]*Routine{}, map[planned]*plans{}
	return &k
}

// RoutinesOf returns the vector code for g.
func (e *Kernel) RoutinesOf(g *layout.Region) []*Routine { return e.found[g] }

// Routine is vector code for a row of threads in a region.
type Routine struct {
	Code   *vasm.Func
	Lanes  int
	Inputs []Input
}

// Vectorize returns vector code for g, for all units that there is any for.
func (e *Kernel) Vectorize(g *layout.Region) []*Routine {
	known, ok := e.found[g]
	if ok {
		return known
	}
	for _, unit := range units.All() {
		f, why := e.vectorCodeOf(g, unit(), true)
		if why != "" {
			f, why = e.vectorCodeOf(g, unit(), false)
		}
		e.Remark(why)
		if f != nil {
			known = append(known, f)
		}
	}
	e.found[g] = known
	return known
}

// vectorCodeOf is vectorize for one unit with a loop for lanes that agree, or without. Where there is no code it says why, if
// it is worth saying.
func (e *Kernel) vectorCodeOf(g *layout.Region, a *units.Assembler, agree bool) (f *Routine, why Reason) {
	c := a.Code
	c.At(linePlace(g.Place()))
	defer func() {
		if r := recover(); r != nil {
			ok := false
			if why, ok = r.(Reason); !ok {
				panic(r)
			}
		}
		if why != "" {
			why = why.Standing(ir.Pos{File: c.Here().File, Line: c.Here().Line})
		}
	}()
	switch {
	case e.Name == nil || !WorthVectors(g):
		return nil, ""
	case e.AnyLeaves():
		return nil, Because("threads that exit while others wait")
	case e.F.Block[0] > 0 && e.F.Block[0] < a.Unit.Lanes():
		return nil, Because(fmt.Sprintf("rows of %d threads, fewer than the lanes of a vector,", e.F.Block[0]))
	}
	s := &shared{
		Assembler: a, row: c.Reg(vasm.Integer), bail: c.NewLabel(), pointers: map[*ir.Value]*vector{},
		outside: map[units.Constant]vasm.Reg{}, strides: map[units.Constant][2]units.Vreg{},
	}
	s.write(e, e.plansOf(g, agree))
	if c.Lost() != "" {
		return nil, Because("a jump to code that no lane reaches")
	}
	c.SetName(e.Name(a.Unit.Name()))
	return &Routine{c, a.Unit.Lanes(), s.Inputs}, ""
}

// newVectorizer returns one for a loop over the vectors, tx being the register of the first thread's number.
func (s *shared) newVectorizer(e *Kernel, p *plan, tx vasm.Reg) *vectorizer {
	return &vectorizer{
		Kernel: e, plan: p, shared: s, tx: tx, end: s.Code.NewLabel(),
		vals: map[*ir.Value]*vector{}, left: map[*ir.Value]*vector{}, maskRegs: map[*laneSet]vasm.Reg{}, heads: map[*layout.Node]loopCode{}, label: map[*layout.Node]string{},
	}
}

// Remark notes why a region has no vector code, once.
func (e *Kernel) Remark(why Reason) {
	if why != "" && !slices.Contains(e.Why, string(why)) {
		e.Why = append(e.Why, string(why))
	}
}

// Reason is why a region has no vector code; a panic with it ends the writing of the region's.
type Reason string

// Because returns why as a Reason.
func Because(why string) Reason { return Reason(why) }

// Standing returns why with the place in the kernel, and what would help, if anything.
func (why Reason) Standing(p ir.Pos) Reason {
	if p.Known() {
		why += Because(fmt.Sprintf(" at %s:%d", p.File, p.Line))
	}
	for begin, help := range remedies {
		if strings.HasPrefix(string(why), begin) {
			why += Because(" (" + help + ")")
		}
	}
	return why
}

// remedies are changes to a kernel that give it vector code, by how the reasons why it has none begin.
var remedies = map[string]string{
	"a check after a store":                  "test lengths and indices before the first store",
	"a fault after a store":                  "panic before the first store",
	"a 64-bit division after a store":        "divide before the first store, or in 32 bits",
	"rows of":                                "make blocks at least 16 threads wide",
	"a local array":                          "indices that are constants, or loops of few iterations, keep an array in registers",
	"an atomic operation":                    "combine the values of a block before one thread updates memory",
	"the threads of a warp exchange":         "make blocks of one dimension",
	"threads that exit while others wait":    "return after the last Sync",
	"a conversion of a float to an unsigned": "convert to an int64 first",
}

// WorthVectors reports whether a region does enough.
func WorthVectors(g *layout.Region) bool {
	return slices.ContainsFunc(g.Blocks, func(b *ir.Block) bool {
		return slices.ContainsFunc(b.Values, func(v *ir.Value) bool { return v.Op == ir.OpLoad || v.Op == ir.OpStore })
	})
}

// write writes the function.
func (s *shared) write(e *Kernel, p *plans) {
	c := s.Code
	tx := c.Reg(vasm.Integer)
	c.Once("MOVQ", c.Param("int"), vasm.Def(s.row))
	if e.Warps {
		c.Once("MOVQ", c.Param("int"), vasm.Def(tx))
	} else {
		c.Once("XORQ", vasm.Def(tx), vasm.Def(tx))
	}
	all, alike := s.newVectorizer(e, p.all, tx), s.newVectorizer(e, p.alike, tx)
	if len(all.order) == 0 || len(alike.order) == 0 {
		panic(Because("code that no lane reaches"))
	}
	s.loops(all, alike, p.quick)
	c.Label(s.bail)
	c.Op("VZEROUPPER")
	c.Op("MOVQ", vasm.Use(tx), c.Result())
	c.Op("RET")
}

// plans are those of the loops over the vectors, which are the same for all units.
type plans struct {
	all, alike *plan
	quick      *plan // or nil
}

// plansOf returns the plans for g.
func (e *Kernel) plansOf(g *layout.Region, agree bool) *plans {
	key := planned{g, agree}
	p := e.plans[key]
	if p != nil {
		return p
	}
	if agree {
		p = &plans{all: e.plansOf(g, false).all, alike: newPlan(e, g, true, nil)}
		p.quick = p.alike.fastPathPlan()
	} else {
		all := newPlan(e, g, false, nil)
		p = &plans{all: all, alike: all}
	}
	e.plans[key] = p
	return p
}

// planned is what plans depend on.
type planned struct {
	g     *layout.Region
	agree bool
}

// loops writes the loop for all lanes, and that for lanes that agree and that which takes more for granted, where there
// are any: from those, lanes that do not agree go to the start of the first one's body.
func (s *shared) loops(all, alike *vectorizer, fast *plan) {
	c := s.Code
	all.begin = c.NewLabel()
	var quick *vectorizer
	var in *span
	if fast != nil {
		quick = s.newVectorizer(alike.Kernel, fast, all.tx)
		quick.part = all.begin
		in = s.find(quick)
	}
	next := c.NewLabel()
	start := next
	if len(alike.agreeing) > 0 {
		start, alike.part = c.NewLabel(), all.begin
		c.Deeper(1)
		alike.loop(start, in)
		c.Jump("JMP", start)
		c.Deeper(-1)
	}
	all.loop(next, in)
	c.Jump("JMP", start)
	if quick != nil {
		c.Deeper(2)
		quick.rounds(in)
		c.Jump("JMP", start)
		c.Deeper(-2)
	}
}

// loop writes a loop over the vectors of the row, but for the jump to its start. It leaves those in the span to another.
func (z *vectorizer) loop(start string, in *span) {
	c := z.Code
	c.Label(start)
	limit := c.Reg(vasm.Integer)
	c.Op("LEAQ", vasm.Mem(z.tx, int64(z.Unit.Lanes())), vasm.Def(limit))
	if in != nil {
		other := c.NewLabel()
		c.Op("CMPQ", vasm.Use(limit), vasm.Use(in.to))
		c.Jump("JGT", other)
		c.Op("CMPQ", vasm.Use(z.tx), vasm.Use(in.from))
		c.Jump("JGE", in.loop)
		c.Label(other)
	}
	c.Op("CMPQ", vasm.Use(limit), vasm.Use(z.shared.row))
	c.Jump("JGT", z.bail)
	if z.begin != "" {
		c.Label(z.begin)
	}
	z.body()
}

// rounds writes the loop over the vectors in the span.
func (z *vectorizer) rounds(in *span) {
	c := z.Code
	c.Label(in.loop)
	z.body()
	limit := c.Reg(vasm.Integer)
	c.Op("LEAQ", vasm.Mem(z.tx, int64(z.Unit.Lanes())), vasm.Def(limit))
	c.Op("CMPQ", vasm.Use(limit), vasm.Use(in.to))
	c.Jump("JLE", in.loop)
}

// body writes what the threads of a vector do.
func (z *vectorizer) body() {
	z.user = nil
	z.zeroMasks(nil)
	z.foreign()
	for i, n := range z.order {
		z.node(n)
		for l := n.Loop; l != nil; l = l.Parent {
			if i+1 == len(z.order) || !l.In[z.order[i+1]] {
				z.loopTail(l, i)
			}
		}
	}
	z.user = nil
	z.Code.Label(z.end)
	z.Code.Op("ADDQ", vasm.Imm(int64(z.Unit.Lanes())), vasm.Mod(z.tx))
}

// node writes a block.
func (z *vectorizer) node(n *layout.Node) {
	c := z.Code
	z.block, z.user, z.wrote = n, n, false
	if z.label[n] == "" {
		z.label[n] = c.NewLabel()
	}
	if n.Heads() {
		z.loopHead(n)
	} else {
		c.Label(z.label[n])
		z.skip(n)
	}
	for _, v := range z.vectorOrder(n.Block) {
		z.at(v.Pos)
		z.value(v)
	}
	z.begins(n)
	z.at(n.Block.Term().Pos)
	z.ends(n)
}

// at describes which line of the kernel the next instructions are for, where it has one.
func (z *vectorizer) at(p ir.Pos) {
	if p.Known() {
		z.Code.At(linePlace(p))
	}
}

// linePlace returns where p is for the assembler. The code is in a folder below that of the kernel, and "../" would show
// where; but then go build -trimpath would leave the name of the folder that it was built in.
func linePlace(p ir.Pos) vasm.Pos {
	if !p.Known() {
		return vasm.Pos{}
	}
	return vasm.Pos{File: p.File, Line: p.Line}
}

// loopHead begins a loop. One in which lanes part is passed over where there are none.
func (z *vectorizer) loopHead(n *layout.Node) {
	c := z.Code
	l := loopCode{back: z.Unit.Mask(), start: c.NewLabel(), tail: c.NewLabel(), exit: c.NewLabel()}
	z.heads[n] = l
	c.Label(z.label[n])
	if z.splits[n.Loop] {
		z.Unit.Test(z.lane(z.mask[n.Rank]))
		c.Jump("JEQ", l.exit)
	}
	c.Deeper(1)
	c.Label(l.start)
	if z.splits[n.Loop] {
		z.Unit.None(l.back)
	}
	z.zeroMasks(n.Loop)
}

// skip jumps over what n dominates where no lane comes to it: it may read memory that is not there, and its
// loops may have no end.
func (z *vectorizer) skip(n *layout.Node) {
	if m := z.mask[n.Rank]; m != nil && m.root == n {
		z.Unit.Test(z.lane(m))
		z.Code.Jump("JEQ", z.behind(n))
	}
}

// after returns where control goes on that passes over n and what n dominates.
func (z *vectorizer) behind(n *layout.Node) string {
	for _, x := range z.order[z.rankOf(n)+1:] {
		switch {
		case n.Loop != nil && !n.Loop.In[x]:
			return z.tailOf(n.Loop)
		case !n.Dominates(x) && z.follows(x, n):
			return z.labelOf(x)
		}
	}
	if n.Loop != nil {
		return z.tailOf(n.Loop)
	}
	return z.end
}

// tailOf returns the end of a loop in which lanes part.
func (z *vectorizer) tailOf(l *layout.Loop) string {
	if !z.splits[l] {
		panic(Because("a loop exit that not all lanes reach"))
	}
	return z.heads[l.Header].tail
}

func (z *vectorizer) labelOf(n *layout.Node) string {
	if z.label[n] == "" {
		z.label[n] = z.Code.NewLabel()
	}
	return z.label[n]
}

// zeroMasks begins a round of the loop l, or of the loop over the vectors for nil: no lane has come yet to any
// block of it. Whatever control then passes over keeps none: where it goes on after, it finds that out by
// the mask. What all ways write before they read it is swept from the code.
func (z *vectorizer) zeroMasks(l *layout.Loop) {
	for _, k := range z.order {
		home := k.Loop
		if k.Heads() {
			home = home.Parent
		}
		if m := z.mask[k.Rank]; m != nil && m.root == k && home == l {
			z.Unit.None(z.lane(m))
		}
	}
}

// begins readies what the blocks need into which several ways from n lead, but for n itself.
func (z *vectorizer) begins(n *layout.Node) {
	for _, k := range z.order {
		if k == z.order[0] || z.placeFor(k) != n {
			continue
		}
		for _, v := range k.Block.Values {
			if v.Op != ir.OpPhi && !z.sticky[v.ID] {
				continue
			}
			if r := z.inner(v); r.kind == varying {
				z.undefined(r)
			}
			if z.stays(v) {
				z.undefined(z.outer(v))
			}
		}
	}
}

func (z *vectorizer) undefined(r *vector) {
	for _, reg := range z.regs(r) {
		z.Code.Undefined(reg)
	}
}

// placeFor returns the last block that all threads that come to k have passed, outside of
// loops that k is not in, or in which lanes part.
func (z *vectorizer) placeFor(k *layout.Node) *layout.Node {
	d := k.Idom
	for d.Loop != nil && !d.Loop.In[k] || d.Loop != nil && z.needsOuter(d.Loop, k) {
		d = d.Loop.Header.Idom
	}
	return d
}

// needsOuter reports whether a value of k must outlive rounds of l.
func (z *vectorizer) needsOuter(l *layout.Loop, k *layout.Node) bool {
	return z.splits[l] && slices.ContainsFunc(k.Block.Values, func(v *ir.Value) bool { return z.sticky[v.ID] })
}

// loopTail ends a loop after block last; where lanes part it goes on while any does.
func (z *vectorizer) loopTail(l *layout.Loop, last int) {
	code := z.heads[l.Header]
	z.Code.Label(code.tail)
	if z.splits[l] {
		m := z.lane(z.mask[l.Header.Rank])
		z.Unit.CopyMask(code.back, m)
		z.Unit.Test(m)
		z.Code.Jump("JNE", code.start)
	}
	z.Code.Deeper(-1)
	z.Code.Label(code.exit)
	if z.splits[l] {
		z.goOn(last, l.Parent)
	}
}

// lane returns the register of a mask.
func (z *vectorizer) lane(m *laneSet) vasm.Reg {
	if z.maskRegs[m] == 0 {
		z.maskRegs[m] = z.Unit.Mask()
	}
	return z.maskRegs[m]
}

// vectorOrder returns the values of b with checks before the first store where they do not depend on
// what is read after it: then nothing is written yet where one fails.
func (z *vectorizer) vectorOrder(b *ir.Block) []*ir.Value {
	first := slices.IndexFunc(b.Values, func(v *ir.Value) bool { return v.Op == ir.OpStore })
	if first < 0 {
		return b.Values
	}
	bound := map[*ir.Value]bool{}
	var early, late []*ir.Value
	for _, v := range b.Values[first:] {
		if v.Op != ir.OpCheck && !v.Op.Pure() || slices.ContainsFunc(v.Args, func(a *ir.Value) bool { return bound[a] }) {
			bound[v] = true
			late = append(late, v)
		} else {
			early = append(early, v)
		}
	}
	return slices.Concat(b.Values[:first], early, late)
}

// foreign computes, at the top, what other regions have computed for each thread.
func (z *vectorizer) foreign() {
	done := map[*ir.Value]bool{}
	var need func(v *ir.Value)
	need = func(v *ir.Value) {
		if v.Op == ir.OpParam || done[v] || z.Of[v.Block.ID] == z.g && !z.IsFirstPhi(v) || z.Level[v.ID] < layout.PerThread {
			return
		}
		done[v] = true
		switch {
		case z.Keep[v.ID] == layout.KeepEach:
			z.loadKept(v)
		case z.Level[v.ID] == layout.PerThread:
			for _, a := range v.Args {
				need(a)
			}
			z.value(v)
		}
	}
	z.block = z.order[0]
	for _, n := range z.order {
		for _, v := range n.Block.Values {
			if v.Op == ir.OpPhi {
				continue
			}
			for i, a := range v.Args {
				if !layout.Shown(v, i) {
					need(a)
				}
			}
		}
		for _, s := range n.Block.Succs {
			for _, phi := range s.Phis() {
				need(phi.Args[s.PredIndex(n.Block)])
			}
		}
	}
}

// keptAddress returns the address of the element that keeps v for the vector's first thread.
func (z *vectorizer) keptAddress(v *ir.Value) vasm.Reg {
	return z.elementAddress(Input{z.Array[v.ID], InputElement}, z.keptSize(v))
}

// elementAddress returns the address of the element of size bytes for the vector's first thread, in the array of an input.
func (z *vectorizer) elementAddress(in Input, size int64) vasm.Reg {
	base := z.input(in)
	at := z.Code.Reg(vasm.Integer)
	z.Code.Op("MOVQ", vasm.Use(z.tx), vasm.Def(at))
	if size > 1 {
		z.Code.Op("SHLQ", vasm.Imm(int64(bits.TrailingZeros64(uint64(size)))), vasm.Mod(at))
	}
	z.Code.Op("ADDQ", vasm.Use(base), vasm.Mod(at))
	return at
}

func (z *vectorizer) keptSize(v *ir.Value) int64 {
	if v.Type.IsPtr() {
		panic(Because("a saved pointer"))
	}
	return v.Type.Size()
}

func (z *vectorizer) loadKept(v *ir.Value) {
	at := z.keptAddress(v)
	r := z.result(v)
	z.loadLanes(r, v, vasm.Mem(at, 0))
}

// keeps reports whether the region's own value v is stored for other regions.
func (z *vectorizer) keeps(v *ir.Value) bool {
	return z.Keep[v.ID] == layout.KeepEach && !z.IsFirstPhi(v) && !layout.Waits(v)
}

// bring stores what lanes bring to v, at which the threads of a warp meet.
func (z *vectorizer) bring(v *ir.Value) {
	switch {
	case v.Type.Kind == ir.KindVoid:
	case z.IsShared(v):
		panic(Because("the threads of a warp combine values"))
	case z.Keep[v.ID] != layout.KeepEach:
	case v.Op == ir.OpMatch || !z.MovesAlike(v):
		panic(Because("the threads of a warp choose whose values they get"))
	default:
		x := v.Args[0]
		at := z.elementAddress(Input{v, InputBrought}, x.Type.Size())
		z.storeLanes(z.vectorOf(x), x.Type, vasm.Mem(at, 0), z.activeMask())
	}
}

// Input returns the register of a parameter.
func (z *vectorizer) input(in Input) vasm.Reg {
	if i := slices.Index(z.Inputs, in); i >= 0 {
		return z.inputRegs[i]
	}
	typ := "int"
	switch {
	case in.What == InputRoot || in.What == InputElement || in.What == InputBrought:
		typ = "unsafe.Pointer"
	case in.What == InputValue && in.Of.Type.Kind == ir.KindF32:
		typ = "float32"
	case in.What == InputValue && in.Of.Type.Kind == ir.KindF64:
		typ = "float64"
	case in.What == InputValue && in.Of.Type.Kind == ir.KindI1:
		typ = "bool"
	}
	at := z.Code.Param(typ)
	var r vasm.Reg
	switch typ {
	case "float32":
		r = z.Code.Reg(vasm.Vector)
		z.Code.Once("VBROADCASTSS", at, vasm.Def(r))
	case "float64":
		r = z.Code.Reg(vasm.Vector)
		z.Code.Once("VBROADCASTSD", at, vasm.Def(r))
	case "bool":
		r = z.Code.Reg(vasm.Integer)
		z.Code.Once("MOVBLZX", at, vasm.Def(r))
	default:
		r = z.Code.Reg(vasm.Integer)
		z.Code.Once("MOVQ", at, vasm.Def(r))
	}
	z.Inputs, z.inputRegs = append(z.Inputs, in), append(z.inputRegs, r)
	return r
}

// newPlan decides what the lanes of g do together.
func newPlan(e *Kernel, g *layout.Region, agree bool, known *fastPath) *plan {
	entry, err := e.GraphOf(g, known.ways())
	if err != nil {
		panic(Because(err.Error()))
	}
	n := len(e.Level)
	p := &plan{
		e: e, g: g, agree: agree, splits: map[*layout.Loop]bool{}, mixes: map[*layout.Node]bool{}, agreeing: map[*ir.Value]bool{}, assumed: known,
		shapes: make([]shape, n), sticky: make([]bool, n), varied: make([]bool, n), nodes: make([]*layout.Node, len(e.Of)),
	}
	p.dirty, p.replays = e.Written(g), !analysis.MayReload(g.Blocks) // threads that have done a part of g can begin again
	p.order = p.layout(entry, nil)
	p.places, p.seen, p.mask = slices.Repeat([]int{-1}, len(p.order)), make([]int, len(p.order)), make([]*laneSet, len(p.order))
	p.order = slices.DeleteFunc(p.order, func(n *layout.Node) bool { return isFault(n) })
	for i, n := range p.order {
		p.places[n.Rank] = i
		p.nodes[n.Block.ID] = n
	}
	p.touched = p.storedBefore()
	for again := true; again; { // the more branches differ, the more values do
		for p.masks() {
		}
		clear(p.shapes)
		p.findSticky()
		p.findShapes()
		again = p.findVaried()
	}
	p.findAgreeing()
	p.user = nil
	for _, n := range p.order {
		for _, v := range n.Block.Values {
			if p.stays(v) {
				p.staying = append(p.staying, v)
			}
		}
	}
	return p
}

// findVaried finds conditions that differ between lanes and reports whether any is new.
func (p *plan) findVaried() (found bool) {
	for _, n := range p.order {
		if len(n.Succs) != 2 {
			continue
		}
		p.user = n
		if c := n.Block.Term().Args[0]; !p.varied[c.ID] && p.shape(c).kind != uniform {
			p.varied[c.ID], found = true, true
		}
	}
	return found
}

// layout returns n and all that it dominates in the loop l, or anywhere for nil, so that what any block
// dominates is in one piece, and any loop is: that n heads first, then what follows it.
func (p *plan) layout(n *layout.Node, l *layout.Loop) []*layout.Node {
	list, kids := []*layout.Node{n}, n.Kids
	if n.Heads() && n.Loop != l {
		list, kids = p.layout(n, n.Loop), n.Loop.Followers()
	}
	for _, k := range kids {
		if l.Contains(k) {
			list = append(list, p.layout(k, l)...)
		}
	}
	return list
}

// isFault reports whether threads that come to n have faulted.
func isFault(n *layout.Node) bool { return n != nil && n.Block.Term().Op == ir.OpFault }
