package pass

import (
	"math/bits"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
	"github.com/gopherwarp/gopherwarp/internal/ir/edit"
)

const (
	coarse    = 4  // elements that a thread does, or half of it where they have 8 bytes
	maxCoarse = 60 // values on the way of an element: a larger one does not wait for memory alone
)

// coarsen gives a thread four neighbouring elements where a kernel does one a thread, two of 8 bytes: loads
// and stores of 16 bytes keep more of the memory busy than those of 4. With 32 bytes a thread, those
// of a warp would not be neighbours in one access. The kernel must know its
// thread by the global index alone and have neither loops nor ways to meet other threads.
//
// Where all elements exist, take the way to the stores and pass its checks, and where the
// addresses are aligned, all of their loads come first, then all of their stores. Else
// a loop does them one by one, with their checks. Both are orders in which four threads could have
// run: nothing orders accesses of threads that do not synchronise, so a load of one element need
// not see the store of another, and within an element no load stands after a store.
//
//	b0: %i = a thread's index         b0: %i = four times a thread's index
//	    if %i < %n b1 b2                  if all four exist and are aligned b1 b3
//	b1: %x = load %a + 4*%i       ->  b1: %v = load [4 x f32] %a + 4*%i
//	    %y = fmul %x, %k                  %y0 = fmul %v.0, %k, and so on
//	    store %b + 4*%i, %y               store %b + 4*%i, {%y0, %y1, %y2, %y3}
//	    jump b2                           jump b2
//	b2: ret                           b2: ret
//	                                  b3: a loop over the elements, each as before
func coarsen(f *ir.Func, o *Options) {
	if !o.Coarse || !f.Kernel || !f.Narrow || f.Coarse > 0 {
		return
	}
	c := &coarsener{f: f, by: coarse, from: map[*ir.Block]*ir.Block{}, each: map[*ir.Value]bool{}, loaded: map[*ir.Value]bool{}}
	if c.simple() && c.findIndex() && c.trace() && c.accesses() {
		c.apply()
	}
}

type coarsener struct {
	f     *ir.Func
	by    int         // elements that a thread does
	index *ir.Value   // of the thread in the grid, an i32
	of    []*ir.Value // what it is computed from and nothing else is

	path   []*ir.Block             // from the entry to the return, past the stores
	from   map[*ir.Block]*ir.Block // its predecessor on the path
	conds  []condition             // that lead along it
	each   map[*ir.Value]bool      // values of the path that depend on the index
	loaded map[*ir.Value]bool      // and on loads
}

// A condition says whether a value must hold.
type condition struct {
	v     *ir.Value
	holds bool
}

// simple reports whether the kernel has only operations of which four can be done at once.
func (c *coarsener) simple() bool {
	if c.f.Block[1] > 1 || c.f.Block[2] > 1 || len(analysis.Loops(ir.Dominators(c.f))) > 0 {
		return false
	}
	for _, b := range c.f.Blocks {
		for _, v := range b.Values {
			if !c.copies(v) {
				return false
			}
		}
	}
	return true
}

func (c *coarsener) copies(v *ir.Value) bool {
	switch v.Op {
	case ir.OpTid, ir.OpNTid, ir.OpCtaid:
		return v.Imm == 0
	case ir.OpNCtaid, ir.OpLane, ir.OpDynamicBytes, ir.OpClusterid, ir.OpNClusterCtaid, ir.OpClusterCtaid, ir.OpClusterRank, ir.OpClusterSize, ir.OpPeer:
		return false
	case ir.OpLoad:
		return !isAggregate(v.Type) && (v.Args[0].Type.Space == ir.Global || v.Args[0].Type.Space == ir.Constant)
	case ir.OpStore:
		return !isAggregate(v.Args[1].Type) && v.Args[0].Type.Space == ir.Global
	case ir.OpPhi, ir.OpCheck, ir.OpFault, ir.OpJump, ir.OpIf, ir.OpRet:
		return true
	}
	return v.Op.Pure() && !isAggregate(v.Type)
}

// findIndex finds the one value that depends on where the thread is.
func (c *coarsener) findIndex() bool {
	for _, b := range c.f.Blocks {
		for _, v := range b.Values {
			if v.Op == ir.OpTid && c.index == nil {
				c.setIndex(v)
			}
		}
	}
	if c.index == nil {
		return false
	}
	users := uses(c.f)
	for _, b := range c.f.Blocks {
		for _, v := range b.Values {
			inner := slices.Contains(c.of, v)
			if !inner && (v.Op == ir.OpTid || v.Op == ir.OpCtaid || v.Op == ir.OpNTid) {
				return false
			}
			if inner && slices.ContainsFunc(users.of(v), func(u *ir.Value) bool { return u != c.index && !slices.Contains(c.of, u) }) {
				return false
			}
		}
	}
	return true
}

// setIndex notes the index that is computed from tid, if there is one.
func (c *coarsener) setIndex(tid *ir.Value) {
	for _, b := range c.f.Blocks {
		for _, v := range b.Values {
			i := slices.Index(v.Args, tid)
			if v.Op != ir.OpAdd || i < 0 {
				continue
			}
			if start := v.Args[1-i]; c.isBlockStart(start) {
				c.index, c.of = v, []*ir.Value{tid, start}
				for _, a := range start.Args {
					if !isConst(a) {
						c.of = append(c.of, a)
					}
				}
				return
			}
		}
	}
}

// isBlockStart reports whether v is the index of the block's first thread.
func (c *coarsener) isBlockStart(v *ir.Value) bool {
	if v.Op != ir.OpMul && v.Op != ir.OpShl || v.Type.Kind != ir.KindI32 {
		return false
	}
	size := v.Args[1]
	if v.Args[0].Op != ir.OpCtaid {
		if size.Op != ir.OpCtaid || v.Op == ir.OpShl {
			return false
		}
		size = v.Args[0]
	}
	if isConst(size) && v.Op == ir.OpShl {
		return bits.OnesCount(uint(c.f.Block[0])) == 1 && bits.TrailingZeros(uint(c.f.Block[0])) == int(size.Imm)
	}
	if isConst(size) {
		return c.f.Block[0] > 0 && size.Imm == int64(c.f.Block[0])
	}
	return v.Op == ir.OpMul && size.Op == ir.OpNTid
}

// trace follows the one way to the stores, and on to the return.
func (c *coarsener) trace() bool {
	stores := c.beforeStores()
	for b := c.f.Blocks[0]; ; {
		c.path = append(c.path, b)
		for _, v := range b.Values {
			if v.Op == ir.OpCheck {
				c.conds = append(c.conds, condition{v.Args[0], true})
			}
		}
		next := (*ir.Block)(nil)
		switch t := b.Term(); t.Op {
		case ir.OpRet:
			return true
		case ir.OpFault:
			return false
		case ir.OpJump:
			next = b.Succs[0]
		case ir.OpIf:
			yes, no := stores[b.Succs[0]], stores[b.Succs[1]]
			if yes == no {
				return false
			}
			c.conds = append(c.conds, condition{t.Args[0], yes})
			next = b.Succs[1-analysis.BoolBits(yes)]
		}
		c.from[next], b = b, next
	}
}

// beforeStores returns the blocks that have stores and those from which one is reached.
func (c *coarsener) beforeStores() map[*ir.Block]bool {
	found := map[*ir.Block]bool{}
	var add func(b *ir.Block)
	add = func(b *ir.Block) {
		if !found[b] {
			found[b] = true
			for _, p := range b.Preds {
				add(p)
			}
		}
	}
	for _, b := range c.f.Blocks {
		if slices.ContainsFunc(b.Values, func(v *ir.Value) bool { return v.Op == ir.OpStore }) {
			add(b)
		}
	}
	return found
}

// accesses looks at the values of the path. It reports whether all conditions can be decided
// before the loads, all loads done before the stores, and a store is worth the pains.
func (c *coarsener) accesses() bool {
	count, stored, worth, least := 0, false, false, int64(8)
	for _, b := range c.path {
		for _, v := range b.Values {
			c.depend(v)
			if !isConst(v) {
				count++
			}
			if v.Op != ir.OpLoad && v.Op != ir.OpStore {
				continue
			}
			if v.Op == ir.OpLoad && stored {
				return false
			}
			stored = v.Op == ir.OpStore
			if x := c.vector(v); x != nil {
				worth, least = worth || stored, min(least, x.elem.Size())
			}
		}
	}
	if least == 8 {
		c.by = coarse / 2
	}
	blind := func(k condition) bool { return c.loaded[k.v] }
	return worth && count <= maxCoarse && !slices.ContainsFunc(c.conds, blind)
}

// depend notes what v depends on.
func (c *coarsener) depend(v *ir.Value) {
	args := v.Args
	if v.Op == ir.OpPhi {
		args = []*ir.Value{c.argument(v)}
	}
	each, loaded := v == c.index, v.Op == ir.OpLoad
	for _, a := range args {
		each, loaded = each || c.each[a], loaded || c.loaded[a]
	}
	c.each[v], c.loaded[v] = each, loaded
}

// argument returns what a phi of the path is.
func (c *coarsener) argument(phi *ir.Value) *ir.Value {
	return phi.Args[phi.Block.PredIndex(c.from[phi.Block])]
}

// isIndex reports whether v is the index, extended or not: it is never negative.
func (c *coarsener) isIndex(v *ir.Value) bool {
	if v.Op == ir.OpZExt || v.Op == ir.OpSExt {
		v = v.Args[0]
	}
	return v == c.index
}

// A vector is how neighbouring accesses become accesses of arrays.
type vector struct {
	base  *ir.Value // that is aligned to bytes where the first address is
	elem  *ir.Type
	bytes int64 // of an access; all take one or two
}

// vector returns how the load or store v can be done for all elements at once, or nil.
func (c *coarsener) vector(v *ir.Value) *vector {
	at, elem, off := v.Args[0], v.Type, int64(0)
	if v.Op == ir.OpStore {
		elem = v.Args[1].Type
	}
	if at.Op == ir.OpOffset {
		at, off = at.Args[0], at.Imm
	}
	if at.Op != ir.OpIndex || !c.isIndex(at.Args[1]) || c.each[at.Args[0]] || c.loaded[at.Args[0]] {
		return nil
	}
	if elem.IsPtr() || elem.Kind == ir.KindI1 || at.Imm != elem.Size() {
		return nil
	}
	x := &vector{base: at.Args[0], elem: elem, bytes: min(analysis.Aligned, int64(c.by)*elem.Size())}
	if off%x.bytes != 0 {
		return nil
	}
	return x
}

// apply puts the fast path and the loop in place of the body.
func (c *coarsener) apply() {
	f, body := c.f, slices.Clone(c.f.Blocks)
	f.Coarse = c.by
	total := f.NewParam(ir.I64, int64(f.ParamBytes))
	entry, fast, slow := f.NewBlock(), f.NewBlock(), f.NewBlock()

	e := &editor{b: entry, pos: c.index.Pos}
	n := &neighbours{c: c, e: e, same: map[*ir.Value]*ir.Value{}, asked: map[condition]bool{}}
	for k := range n.own {
		n.own[k] = map[*ir.Value]*ir.Value{}
	}
	first := e.make(ir.OpShl, ir.I32, c.thread(e), e.constant(ir.I32, int64(c.by/2)))
	n.own[0][c.index] = first
	count := e.make(ir.OpTrunc, ir.I32, total)
	ok := e.make(ir.OpULt, ir.I1, n.value(c.index, c.by-1), count)
	e.make(ir.OpIf, ir.Void, n.test(ok))
	entry.Values = e.out
	entry.AddEdge(fast)
	entry.AddEdge(slow)

	n.e = &editor{b: fast}
	n.accesses()
	n.e.make(ir.OpRet, ir.Void)
	fast.Values = n.e.out
	rest := c.loop(body, slow, first, count)
	f.Blocks = slices.Concat([]*ir.Block{entry, fast, slow}, body, rest)
}

// thread computes the index of the thread that runs, as the kernel computed that of the
// element.
func (c *coarsener) thread(e *editor) *ir.Value {
	made := map[*ir.Value]*ir.Value{}
	var copied func(v *ir.Value) *ir.Value
	copied = func(v *ir.Value) *ir.Value {
		if made[v] == nil {
			var args []*ir.Value
			for _, a := range v.Args {
				args = append(args, copied(a))
			}
			made[v] = e.makeImm(v.Op, v.Type, v.Imm, args...)
		}
		return made[v]
	}
	return copied(c.index)
}

// loop makes the body a loop that slow enters, and returns the blocks after it.
func (c *coarsener) loop(body []*ir.Block, slow *ir.Block, first, count *ir.Value) []*ir.Block {
	latch, exit := c.f.NewBlock(), c.f.NewBlock()
	element := edit.InsertPhi(body[0], ir.I32)
	element.Pos = c.index.Pos
	var repl ir.Replacements
	repl.Add(c.index, element)
	c.f.Replace(&repl)
	for _, b := range body {
		c.element(b, element)
		if b.Term().Op == ir.OpRet {
			edit.SetTerm(b, ir.OpJump)
			b.AddEdge(latch)
		}
	}
	e := &editor{b: slow, pos: c.index.Pos}
	end := e.make(ir.OpAdd, ir.I32, first, e.constant(ir.I32, int64(c.by)))
	end = e.make(ir.OpSelect, ir.I32, e.make(ir.OpULt, ir.I1, end, count), end, count)
	e.make(ir.OpIf, ir.Void, e.make(ir.OpULt, ir.I1, first, count))
	slow.Values = e.out

	e = &editor{b: latch, pos: c.index.Pos}
	next := e.make(ir.OpAdd, ir.I32, element, e.constant(ir.I32, 1))
	e.make(ir.OpIf, ir.Void, e.make(ir.OpULt, ir.I1, next, end))
	latch.Values = e.out

	for _, b := range []*ir.Block{slow, latch} {
		b.AddEdge(body[0])
		b.AddEdge(exit)
	}
	element.Args = []*ir.Value{first, next}
	exit.Append(ir.OpRet, ir.Void)
	return []*ir.Block{latch, exit}
}

// element makes b do an element instead of the thread's, and its faults say which one.
func (c *coarsener) element(b *ir.Block, element *ir.Value) {
	b.Values = slices.DeleteFunc(b.Values, func(v *ir.Value) bool { return v == c.index || slices.Contains(c.of, v) })
	for _, v := range b.Values {
		if v.Op == ir.OpCheck || v.Op == ir.OpFault {
			v.Args = append(v.Args, element)
		}
	}
}

// neighbours makes the straight code of pass coarsen, which does all elements of a thread at once. What
// does not depend on the element is computed once.
type neighbours struct {
	c    *coarsener
	e    *editor
	same map[*ir.Value]*ir.Value         // copies of what is the same for all
	own  [coarse]map[*ir.Value]*ir.Value // copies for one element

	asked map[condition]bool // conditions that are tested
}

// value returns v of the path for element k.
func (n *neighbours) value(v *ir.Value, k int) *ir.Value {
	if v.Op == ir.OpParam {
		return v
	}
	made := n.same
	if n.c.each[v] {
		made = n.own[k]
	}
	if made[v] == nil {
		made[v] = n.copy(v, k)
	}
	return made[v]
}

// copy computes v for element k. Loads are there already.
func (n *neighbours) copy(v *ir.Value, k int) *ir.Value {
	switch {
	case v == n.c.index:
		return n.e.make(ir.OpAdd, ir.I32, n.value(v, 0), n.e.constant(ir.I32, int64(k)))
	case v.Op == ir.OpPhi:
		return n.value(n.c.argument(v), k)
	case v.Op == ir.OpIndex && k > 0 && n.c.isIndex(v.Args[1]) && !n.c.each[v.Args[0]]:
		return n.e.offset(n.value(v, 0), int64(k)*v.Imm) // no element's index wraps
	case !v.Op.Pure():
		panic("BUG: pass: coarsen copies " + v.LongString())
	}
	return n.again(v, k)
}

// again appends the operation of v for element k.
func (n *neighbours) again(v *ir.Value, k int) *ir.Value {
	args := make([]*ir.Value, len(v.Args))
	for i, a := range v.Args {
		args[i] = n.value(a, k)
	}
	x := n.e.makeImm(v.Op, v.Type, v.Imm, args...)
	x.Aux, x.Pos = v.Aux, v.Pos
	return x
}

// test returns whether ok, all conditions of the path hold for all elements, and all vectors
// are aligned.
func (n *neighbours) test(ok *ir.Value) *ir.Value {
	for _, k := range n.c.conds {
		ok = n.holds(ok, k)
	}
	misaligned := map[int64]*ir.Value{}
	var bases []*ir.Value
	for _, b := range n.c.path {
		for _, v := range b.Values {
			if v.Op != ir.OpLoad && v.Op != ir.OpStore {
				continue
			}
			x := n.c.vector(v)
			if x == nil || slices.Contains(bases, x.base) {
				continue
			}
			bases = append(bases, x.base)
			p := n.e.make(ir.OpBitcast, ir.I64, n.value(x.base, 0))
			if misaligned[x.bytes] != nil {
				p = n.e.make(ir.OpOr, ir.I64, misaligned[x.bytes], p)
			}
			misaligned[x.bytes] = p
		}
	}
	for _, bytes := range []int64{16, 8, 4} {
		if p := misaligned[bytes]; p != nil {
			low := n.e.make(ir.OpAnd, ir.I64, p, n.e.constant(ir.I64, bytes-1))
			ok = n.e.make(ir.OpAnd, ir.I1, ok, n.e.make(ir.OpEq, ir.I1, low, n.e.constant(ir.I64, 0)))
		}
	}
	return ok
}

// holds returns whether ok, and the condition holds for all elements, unless ok says that already.
func (n *neighbours) holds(ok *ir.Value, k condition) *ir.Value {
	if n.asked[k] {
		return ok
	}
	n.asked[k] = true
	if k.v.Op == ir.OpAnd && k.holds || k.v.Op == ir.OpOr && !k.holds {
		ok = n.holds(ok, condition{k.v.Args[0], k.holds})
		return n.holds(ok, condition{k.v.Args[1], k.holds})
	}
	from, to := 0, n.c.by
	switch {
	case !n.c.each[k.v]:
		to = 1
	case n.rises(k):
		from = n.c.by - 1
	}
	for i := from; i < to; i++ {
		c := n.value(k.v, i)
		if !k.holds {
			c = n.e.make(ir.OpXor, ir.I1, c, n.e.constant(ir.I1, 1))
		}
		ok = n.e.make(ir.OpAnd, ir.I1, ok, c)
	}
	return ok
}

// rises reports whether the condition says that the index lies below a bound: it then holds
// for all elements where it does for the last one.
func (n *neighbours) rises(k condition) bool {
	switch k.v.Op {
	case ir.OpULt, ir.OpULe, ir.OpSLt, ir.OpSLe:
		x, bound := k.v.Args[0], k.v.Args[1]
		if !k.holds {
			x, bound = bound, x
		}
		return n.c.isIndex(x) && !n.c.each[bound]
	}
	return false
}

// accesses appends the loads, then the stores with what they need.
func (n *neighbours) accesses() {
	for _, op := range []ir.Op{ir.OpLoad, ir.OpStore} {
		for _, b := range n.c.path {
			for _, v := range b.Values {
				if v.Op == op {
					n.e.pos = v.Pos
					n.access(v)
				}
			}
		}
	}
}

func (n *neighbours) access(v *ir.Value) {
	x := n.c.vector(v)
	switch {
	case v.Op == ir.OpLoad && !n.c.each[v]:
		n.same[v] = n.again(v, 0)
	case v.Op == ir.OpLoad && x != nil:
		n.load(v, x)
	case x != nil:
		n.store(v, x)
	default:
		for k := range n.c.by {
			n.own[k][v] = n.again(v, k)
		}
	}
}

// load loads v for all elements by arrays.
func (n *neighbours) load(v *ir.Value, x *vector) {
	t := ir.ArrayOf(x.bytes/x.elem.Size(), x.elem)
	for k := 0; k < n.c.by; k += int(t.Len) {
		all := n.e.make(ir.OpLoad, t, n.e.offset(n.value(v.Args[0], 0), int64(k)*x.elem.Size()))
		for i := range t.Len {
			n.own[k+int(i)][v] = n.e.makeImm(ir.OpExtract, x.elem, i, all)
		}
	}
}

// store stores v for all elements by arrays.
func (n *neighbours) store(v *ir.Value, x *vector) {
	t := ir.ArrayOf(x.bytes/x.elem.Size(), x.elem)
	for k := 0; k < n.c.by; k += int(t.Len) {
		var parts []*ir.Value
		for i := range int(t.Len) {
			parts = append(parts, n.value(v.Args[1], k+i))
		}
		all := n.e.make(ir.OpStruct, t, parts...)
		n.e.make(ir.OpStore, ir.Void, n.e.offset(n.value(v.Args[0], 0), int64(k)*x.elem.Size()), all)
	}
}
