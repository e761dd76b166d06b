package pass

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
	"github.com/gopherwarp/gopherwarp/internal/ir/edit"
)

// licm (loop-invariant code motion) moves invariant values to the preheader: pure values and, from the
// part of the first iteration that always runs, checks and loads that nothing in the loop can change.
// No check moves past another one or past any other observable effect.
//
//	b0: jump b1                       b0: %3 = mul i32 %0, %1
//	b1: %3 = mul i32 %0, %1               check %4
//	    check %4                  ->      %5 = load f32 %2
//	    %5 = load f32 %2                  jump b1
//	    store %6, %5                  b1: store %6, %5
//	    if %7 b1 b2                       if %7 b1 b2
func licm(f *ir.Func, _ *Options) {
	edit.AddPreheaders(f)
	dom := ir.Dominators(f)
	for _, l := range analysis.Loops(dom) { // inner ones first
		if p := l.Preheader(); p != nil {
			h := &hoister{loop: l, dom: dom, to: p, out: map[*ir.Value]bool{}}
			h.run()
		}
	}
}

// A hoister moves values out of one loop.
type hoister struct {
	loop *analysis.Loop
	dom  *ir.Dom
	to   *ir.Block
	out  map[*ir.Value]bool // values that have moved
	// writes are the values in the loop that change memory.
	writes []*ir.Value
}

func (h *hoister) run() {
	for _, b := range h.loop.Blocks {
		for _, v := range b.Values {
			if v.Op.Writes() {
				h.writes = append(h.writes, v)
			}
		}
	}
	certain := true // everything so far runs in the first iteration, and could be moved
	for i, b := range h.loop.Blocks {
		runs := certain && h.always(b) && !h.seenBefore(b, h.loop.Blocks[i+1:])
		var keep []*ir.Value
		for _, v := range b.Values {
			if h.movable(v, runs && certain) {
				h.move(v)
				continue
			}
			keep = append(keep, v)
			certain = certain && !observable(v)
		}
		b.Values = keep
	}
}

// seenBefore reports whether an observable effect in the blocks later in the loop's order may precede b,
// which always runs: b does not dominate a loop before it, whose body may come later in the order,
// since the way out of that loop is not through its body.
func (h *hoister) seenBefore(b *ir.Block, later []*ir.Block) bool {
	return slices.ContainsFunc(later, func(x *ir.Block) bool {
		return !h.dom.Dominates(b, x) && slices.ContainsFunc(x.Values, observable)
	})
}

// observable reports whether a fault before v could be distinguished from one after it.
func observable(v *ir.Value) bool {
	return v.Op.Effect() && v.Op != ir.OpStore && !v.Op.Terminator() || v.Op == ir.OpFault
}

// always reports whether b runs in the first iteration under all conditions.
func (h *hoister) always(b *ir.Block) bool {
	for _, l := range h.loop.Latches {
		if !h.dom.Dominates(b, l) {
			return false
		}
	}
	for _, e := range h.loop.Exits() {
		if e.From != b && !h.dom.Dominates(b, e.From) {
			return false
		}
	}
	for _, x := range h.loop.Blocks {
		if x.Term().Op == ir.OpFault && !h.dom.Dominates(b, x) {
			return false
		}
	}
	return true
}

// movable reports whether v is invariant and may move; certain says that it runs in every first iteration.
func (h *hoister) movable(v *ir.Value, certain bool) bool {
	if v.Op == ir.OpPhi || v.Op.Terminator() {
		return false
	}
	for _, a := range v.Args {
		if a.Block != nil && h.loop.Contains(a.Block) && !h.out[a] {
			return false
		}
	}
	switch {
	case v.Op.Pure():
		return true
	case v.Op == ir.OpCheck:
		return certain
	case v.Op == ir.OpLoad:
		return certain && !h.changes(v)
	}
	return false
}

// changes reports whether an operation in the loop may write to the address of load v.
func (h *hoister) changes(v *ir.Value) bool {
	return slices.ContainsFunc(h.writes, func(w *ir.Value) bool { return mayChange(w, v) })
}

// move moves v to the preheader.
func (h *hoister) move(v *ir.Value) {
	h.out[v] = true
	v.Block = h.to
	h.to.Values = slices.Insert(h.to.Values, len(h.to.Values)-1, v)
}

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
	edit.AddPreheaders(f)
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
	x.slot = edit.NewSlot(p.to.Func, x.typ)
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
