package pass

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// scalarPromotion keeps an element of memory in a register while a loop runs that changes it in every iteration:
//
//	loop:                                before: %x = load %p
//	  %x = load %p                       loop:
//	  %y = fadd %x, %z                     %s = phi %x, %y
//	  store %p, %y                         %y = fadd %s, %z
//	  if %c loop after                     if %c loop split
//	                                     split: store %p, %y
//
// The address must not change in the loop, no other access in the loop may alias it, and the loop must not let other threads
// change memory, nor wait for them: what ends the loop must not depend on what it loads. A store must run in every iteration, because a store that the kernel does not execute could overwrite another
// thread's. What a kernel has written before a fault is unspecified, so no store precedes a fault. The element is in a local
// between the loop's ends; mem2reg makes it a register.
func scalarPromotion(f *ir.Func, _ *Options) {
	addPreheaders(f)
	for promoteOnce(f) {
	}
}

// maxPromoted is the number of elements that a loop keeps in registers at most.
const maxPromoted = 16

// promoteOnce promotes elements of the first loop that has some, inner loops first, and reports whether there was one. Their
// stores after the loop may be promoted in the loop around it.
func promoteOnce(f *ir.Func) bool {
	dom := ir.Dominators(f)
	for _, l := range analysis.Loops(dom) {
		if l.Preheader() == nil || waits(l) {
			continue
		}
		p := &loopPromoter{hoister: hoister{loop: l, dom: dom, to: l.Preheader()}}
		if list := p.elements(); len(list) > 0 {
			for _, x := range list {
				p.promote(x)
			}
			p.storeAtExits(list)
			return true
		}
	}
	return false
}

// waits reports whether loads in a loop decide when it ends, as in a loop that polls memory which another thread changes.
func waits(l *analysis.Loop) bool {
	seen := map[*ir.Value]bool{}
	var loads func(v *ir.Value) bool
	loads = func(v *ir.Value) bool {
		if seen[v] || v.Block == nil || !l.Contains(v.Block) {
			return false
		}
		seen[v] = true
		return v.Op.Reads() || slices.ContainsFunc(v.Args, loads)
	}
	return slices.ContainsFunc(l.Exits(), func(e analysis.Exit) bool {
		return e.To.Term().Op != ir.OpFault && slices.ContainsFunc(e.From.Term().Args, loads)
	})
}

// A loopPromoter promotes elements of one loop.
type loopPromoter struct{ hoister }

// A promoted element is accessed at one address by loads and stores of one type.
type promoted struct {
	access, slot *ir.Value // one of the loads and stores
	address      *ir.Value
	typ          *ir.Type
	certain      bool // the first iteration accesses the element before anything observable
	stored       bool // every iteration stores it
}

// elements returns the elements that can be promoted.
func (p *loopPromoter) elements() (list []*promoted) {
	list = p.accessed()
	list = slices.DeleteFunc(list, func(x *promoted) bool { return !x.certain || !x.stored || !p.alone(x) })
	return list[:min(len(list), maxPromoted)]
}

// accessed returns the elements outside of locals whose addresses are invariant.
func (p *loopPromoter) accessed() (list []*promoted) {
	certain := true // everything so far runs in the first iteration
	for i, b := range p.loop.Blocks {
		always := p.always(b)
		runs := certain && always && !p.seenBefore(b, p.loop.Blocks[i+1:])
		for _, v := range b.Values {
			if x := p.element(&list, v); x != nil {
				x.certain = x.certain || runs && certain
				x.stored = x.stored || always && v.Op == ir.OpStore
			}
			certain = certain && !observable(v)
		}
	}
	return list
}

// element returns the element of the list that v accesses, which it adds, or nil.
func (p *loopPromoter) element(list *[]*promoted, v *ir.Value) *promoted {
	if v.Op != ir.OpLoad && v.Op != ir.OpStore {
		return nil
	}
	a := v.Args[0]
	if a.Block != nil && p.loop.Contains(a.Block) || a.Type.Space == ir.Local || a.Op == ir.OpAlloca {
		return nil
	}
	if i := slices.IndexFunc(*list, func(x *promoted) bool { return x.address == a }); i >= 0 {
		return (*list)[i]
	}
	x := &promoted{access: v, address: a, typ: analysis.Accessed(v)}
	*list = append(*list, x)
	return x
}

// alone reports whether the loop accesses an element at its address only, and by loads and stores of its type.
func (p *loopPromoter) alone(x *promoted) bool {
	for _, b := range p.loop.Blocks {
		for _, v := range b.Values {
			switch {
			case v.Op != ir.OpLoad && v.Op != ir.OpStore:
				if v.Op.Writes() || v.Op.Reads() {
					return false
				}
			case v.Args[0] == x.address:
				if !analysis.Accessed(v).Equal(x.typ) {
					return false
				}
			case analysis.MayOverlap(v, x.access):
				return false
			}
		}
	}
	return true
}

// promote replaces the accesses to an element by those to a local that is loaded before the loop.
func (p *loopPromoter) promote(x *promoted) {
	x.slot = newSlot(p.to.Func, x.typ)
	for _, b := range p.loop.Blocks {
		for _, v := range b.Values {
			if (v.Op == ir.OpLoad || v.Op == ir.OpStore) && v.Args[0] == x.address {
				v.Args[0] = x.slot
			}
		}
	}
	x.copy(p.to, x.address, x.slot)
}

// storeAtExits stores the elements where control leaves the loop.
func (p *loopPromoter) storeAtExits(list []*promoted) {
	done := map[*ir.Block]bool{}
	for _, e := range p.loop.Exits() {
		if done[e.To] || e.To.Term().Op == ir.OpFault {
			continue
		}
		done[e.To] = true
		exit := e.To.SplitPreds(p.loop.Contains)
		for _, x := range list {
			x.copy(exit, x.slot, x.address)
		}
	}
}

// copy inserts a load from an address and a store to another one before the end of a block.
func (x *promoted) copy(b *ir.Block, from, to *ir.Value) {
	load := b.Make(ir.OpLoad, x.typ, from)
	store := b.Make(ir.OpStore, ir.Void, to, load)
	load.Pos, store.Pos = x.access.Pos, x.access.Pos
	b.Values = slices.Insert(b.Values, len(b.Values)-1, load, store)
}
