package lint

import (
	"fmt"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// access is a load from shared memory or a store to it.
type access struct {
	v      *ir.Value
	root   *ir.Variable
	size   int64
	write  bool
	addr   number
	guards guards // that differ between threads
	common guards // that do not
}

// races finds pairs of accesses to the same location in shared memory by different threads, at
// least one of which writes, between which a path has no barrier. If the accesses are in
// consecutive iterations of a loop, they must collide for all values of the loop's counters.
func (k *kernel) races() {
	accesses := map[*ir.Value]*access{}
	k.each(func(v *ir.Value, _ analysis.Point) {
		if a := k.access(v); a != nil {
			accesses[v] = a
		}
	})
	if len(accesses) == 0 {
		return
	}
	near, far := k.pending(accesses, false), k.pending(accesses, true)
	for _, b := range k.dom.Order() {
		sameIteration, carried := slices.Clone(near[b.ID]), slices.Clone(far[b.ID])
		for _, v := range b.Values {
			if a := accesses[v]; a != nil {
				k.race(a, sameIteration, carried)
			}
			sameIteration, carried = step(sameIteration, v, accesses), step(carried, v, accesses)
		}
	}
}

// access returns v as an access, or nil if v is none or its address is unknown.
func (k *kernel) access(v *ir.Value) *access {
	if v.Op != ir.OpLoad && v.Op != ir.OpStore {
		return nil
	}
	root := shared(v.Args[0])
	a := &access{v: v, root: root, write: v.Op == ir.OpStore}
	if root == nil || root.Type.Size() == 0 {
		return nil
	}
	a.size = accessed(v).Size()
	if a.addr = k.eval.of(v.Args[0]); !a.addr.known {
		return nil
	}
	a.guards = k.guards(v.Block, k.uniform)
	a.common = k.conditions(v.Block, func(c *ir.Value) bool { return !k.uniform.Varying(c) })
	return a
}

// accessed returns the type that v loads or stores.
func accessed(v *ir.Value) *ir.Type {
	if v.Op == ir.OpStore {
		return v.Args[1].Type
	}
	return v.Type
}

// shared returns the variable in shared memory that an address points into, or nil.
func shared(addr *ir.Value) *ir.Variable {
	object := analysis.Object(addr)
	if object == nil || object.Op != ir.OpVar {
		return nil
	}
	if x := object.Aux.(*ir.Variable); x.Space == ir.Shared {
		return x
	}
	return nil
}

// pending returns, by block ID, the accesses since the last barrier at the entry of each block. If
// carried is set, it also follows the back edges of loops.
func (k *kernel) pending(accesses map[*ir.Value]*access, carried bool) [][]*ir.Value {
	in := make([][]*ir.Value, k.f.NumBlocks())
	for changed := true; changed; {
		changed = false
		for _, b := range k.dom.Order() {
			out := slices.Clone(in[b.ID])
			for _, v := range b.Values {
				out = step(out, v, accesses)
			}
			for _, s := range b.Succs {
				if !carried && k.dom.Dominates(s, b) {
					continue
				}
				for _, v := range out {
					if !slices.Contains(in[s.ID], v) {
						in[s.ID], changed = append(in[s.ID], v), true
					}
				}
			}
		}
	}
	return in
}

// step returns the accesses since the last barrier after v. It treats every operation that
// synchronizes the threads of a warp as a barrier, regardless of the threads that the operation
// orders.
func step(pending []*ir.Value, v *ir.Value, accesses map[*ir.Value]*access) []*ir.Value {
	switch {
	case v.Op.Convergent():
		return nil
	case accesses[v] != nil && !slices.Contains(pending, v):
		return append(pending, v)
	}
	return pending
}

// race reports the first of the pending accesses that races with a, either of the same iteration or
// of the previous one.
func (k *kernel) race(a *access, sameIteration, carried []*ir.Value) {
	for _, v := range carried {
		p := k.access(v)
		same := slices.Contains(sameIteration, v)
		if p.root != a.root || p.write == a.write || p.size != a.size || !k.collide(p, a, same) {
			continue
		}
		f := Finding{Pos: a.v.Pos, Category: Race, Other: v.Pos}
		if a.write {
			f.Message, f.Says = "this overwrites shared memory that other threads read, with no barrier in between", "the read"
		} else {
			f.Message, f.Says = "this reads shared memory that other threads write, with no barrier in between", "the write"
		}
		k.report(f)
		return
	}
}

// An accessSet is the elements that a set of threads accesses.
type accessSet struct {
	at []int64
	in []bool
}

// overlap reports whether x.at[i] == y.at[j]+d for a thread i of x and a different thread j of y.
func overlap(x, y accessSet, d int64) bool {
	at := map[int64][]int{}
	for i, n := range x.at {
		if x.in[i] && len(at[n]) < 2 {
			at[n] = append(at[n], i)
		}
	}
	for j, n := range y.at {
		if y.in[j] && slices.ContainsFunc(at[n+d], func(i int) bool { return i != j }) {
			return true
		}
	}
	return false
}

// turns reports whether v may change between iterations of a loop around both accesses.
func (k *kernel) turns(v *ir.Value, p, a *access) bool {
	return slices.ContainsFunc(k.loops, func(l *analysis.Loop) bool {
		return v.Block != nil && l.Contains(v.Block) && l.Contains(p.v.Block) && l.Contains(a.v.Block)
	})
}

// String formats the finding for test failures.
func (f Finding) String() string { return fmt.Sprintf("%v: %s: %s", f.Pos, f.Category, f.Message) }
