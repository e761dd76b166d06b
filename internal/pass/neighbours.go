package pass

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

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
