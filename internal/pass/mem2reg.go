package pass

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
	"github.com/gopherwarp/gopherwarp/internal/ir/edit"
)

// mem2reg brings scalar locals whose address is only loaded from and stored to into SSA
// values, with phis where they are needed: pruned SSA after Cytron et al., "Efficiently
// Computing Static Single Assignment Form".
//
//	b0: %2 = alloca i32               b0: if %0 b1 b2
//	    store %2, %1
//	    if %0 b1 b2               ->  b1: jump b2
//	b1: store %2, %3
//	    jump b2                       b2: %4 = phi i32 %1, %3
//	b2: %4 = load i32 %2                  ret %4
//	    ret %4
func mem2reg(f *ir.Func, _ *Options) {
	locals := promotable(f)
	if len(locals) == 0 {
		return
	}
	p := newPromoter(f, locals)
	edit.RemoveUnreachable(f)
	p.frontiers = analysis.Frontiers(p.dom)
	p.placePhis()
	p.rename()
}

// promotable returns the allocas that can become values, in order.
func promotable(f *ir.Func) []*ir.Value {
	if !hasLocals(f) {
		return nil
	}
	bad := make([]bool, f.NumValues())
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			for i, a := range v.Args {
				if a.Op == ir.OpAlloca && !accesses(v, i, a.Aux.(*ir.Type)) {
					bad[a.ID] = true
				}
			}
		}
	}
	var list []*ir.Value
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			if v.Op == ir.OpAlloca && v.Aux.(*ir.Type).IsScalar() && !bad[v.ID] {
				list = append(list, v)
			}
		}
	}
	return list
}

// accesses reports whether v loads or stores a value as wide as t where argument i points.
func accesses(v *ir.Value, i int, t *ir.Type) bool {
	var access *ir.Type
	switch {
	case v.Op == ir.OpLoad:
		access = v.Type
	case v.Op == ir.OpStore && i == 0:
		access = v.Args[1].Type
	default:
		return false
	}
	return t.IsScalar() && access.IsScalar() && access.Bits() == t.Bits()
}

type promoter struct {
	f         *ir.Func
	dom       *ir.Dom
	frontiers [][]*ir.Block
	locals    []*ir.Value
	slots     []int32 // by value ID: the place of a local in locals, counted from 1; 0 for all else
	// The phis that were placed have the IDs from firstPhi on. phis holds the places in locals of what they are for.
	firstPhi int
	phis     []int
	// What is known of a block while phis are placed for one local, by block ID, and the blocks that are yet to be looked at.
	states []blockState
	work   []*ir.Block
}

// blockState describes what a block is to one local.
type blockState struct{ defines, live, placed bool }

func newPromoter(f *ir.Func, locals []*ir.Value) *promoter {
	p := &promoter{
		f: f, dom: ir.Dominators(f), locals: locals, firstPhi: f.NumValues(),
		slots: make([]int32, f.NumValues()), states: make([]blockState, f.NumBlocks()),
	}
	for i, l := range locals {
		p.slots[l.ID] = int32(i) + 1
	}
	return p
}

// slot returns the place in locals of what v loads from, stores to or is, or -1.
func (p *promoter) slot(v *ir.Value) int {
	if l := localOf(v); l != nil {
		return int(p.slots[l.ID]) - 1
	}
	return -1
}

// phiSlot returns the place in locals of what phi v was placed for, or -1.
func (p *promoter) phiSlot(v *ir.Value) int {
	if i := v.ID - p.firstPhi; i >= 0 && i < len(p.phis) {
		return p.phis[i]
	}
	return -1
}

// placePhis puts phis where a local's definitions merge and a later load sees them.
func (p *promoter) placePhis() {
	for i, refs := range p.refs() {
		l := p.locals[i]
		clear(p.states)
		p.liveIn(refs)
		p.work = append(p.work, l.Block)
		for _, v := range refs {
			if v.Op == ir.OpStore {
				p.work = append(p.work, v.Block)
			}
		}
		for len(p.work) > 0 {
			for _, d := range p.frontiers[p.next().ID] {
				if s := &p.states[d.ID]; s.live && !s.placed {
					s.placed = true
					edit.InsertPhi(d, l.Aux.(*ir.Type))
					p.phis = append(p.phis, i)
					p.work = append(p.work, d)
				}
			}
		}
	}
}

// next takes the last block off the work.
func (p *promoter) next() *ir.Block {
	b := p.work[len(p.work)-1]
	p.work = p.work[:len(p.work)-1]
	return b
}

// refs returns the places that name each local, those of a block in order.
func (p *promoter) refs() [][]*ir.Value {
	list := make([][]*ir.Value, len(p.locals))
	for _, b := range p.dom.Order() {
		for _, v := range b.Values {
			if i := p.slot(v); i >= 0 {
				list[i] = append(list[i], v)
			}
		}
	}
	return list
}

// localOf returns the alloca that v loads from, stores to or is, or nil.
func localOf(v *ir.Value) *ir.Value {
	switch v.Op {
	case ir.OpAlloca:
		return v
	case ir.OpLoad, ir.OpStore:
		if v.Args[0].Op == ir.OpAlloca {
			return v.Args[0]
		}
	}
	return nil
}

// liveIn notes where the value at the block's start of the local that refs name may be loaded.
func (p *promoter) liveIn(refs []*ir.Value) {
	for _, v := range refs {
		if v.Op != ir.OpLoad {
			p.states[v.Block.ID].defines = true
		} else {
			p.wants(v.Block)
		}
	}
	for len(p.work) > 0 {
		for _, q := range p.next().Preds {
			p.wants(q)
		}
	}
}

// wants notes that the local's value is used in b after the definitions in b seen so far.
func (p *promoter) wants(b *ir.Block) {
	if s := &p.states[b.ID]; !s.defines && !s.live {
		s.live = true
		p.work = append(p.work, b)
	}
}

// rename walks the dominator tree and replaces loads by the value that reaches them.
func (p *promoter) rename() {
	n := len(p.locals)
	space := make([]*ir.Value, n*len(p.dom.Order()))
	r := &renamer{p: p, atEnd: make([][]*ir.Value, p.f.NumBlocks())}
	for _, b := range p.dom.Order() { // an immediate dominator stands in front
		current := space[:n:n]
		space = space[n:]
		if d := p.dom.Idom(b); d != nil {
			copy(current, r.atEnd[d.ID])
		}
		r.block(b, current)
		r.atEnd[b.ID] = current
	}
	for _, b := range p.dom.Order() {
		for _, phi := range b.Phis() {
			if s := p.phiSlot(phi); s >= 0 {
				phi.Args = make([]*ir.Value, len(b.Preds))
				for i, q := range b.Preds {
					phi.Args[i] = r.atEnd[q.ID][s]
				}
			}
		}
	}
	p.f.Replace(&r.repl)
}

type renamer struct {
	p     *promoter
	atEnd [][]*ir.Value // by block ID and slot: the local's value at the end of the block
	repl  ir.Replacements
	edit  editor // whose list of values serves one block after the other
}

// block replaces the accesses in b; current holds the values of the locals.
func (r *renamer) block(b *ir.Block, current []*ir.Value) {
	e := &r.edit
	e.b, e.out = b, e.out[:0]
	for _, v := range b.Values {
		e.pos = v.Pos
		if s := r.p.phiSlot(v); s >= 0 {
			current[s] = v
		}
		s := r.p.slot(v)
		if s < 0 {
			e.out = append(e.out, v)
			continue
		}
		switch v.Op {
		case ir.OpAlloca:
			current[s] = e.constant(v.Aux.(*ir.Type), 0)
		case ir.OpStore:
			current[s] = reinterpret(e, v.Args[1], r.p.locals[s].Aux.(*ir.Type))
		case ir.OpLoad:
			r.repl.Add(v, reinterpret(e, current[s], v.Type))
		}
	}
	e.keep()
}

// reinterpret returns the bits of v as a value of type t.
func reinterpret(e *editor, v *ir.Value, t *ir.Type) *ir.Value {
	if v.Type.Equal(t) {
		return v
	}
	return e.make(ir.OpBitcast, t, v)
}

// maxZeroStores is the number of leaves up to which a local is cleared by a store each.
const maxZeroStores = 64

// hoistAllocas moves all allocas to the entry, where back ends want them. One in a loop is
// cleared by stores where it stood, since it is a new variable in every iteration.
func hoistAllocas(f *ir.Func, _ *Options) {
	var moved []*ir.Value
	entry := f.Blocks[0]
	for _, b := range slices.Clone(f.Blocks) {
		for _, v := range slices.Clone(b.Values) {
			if v.Op != ir.OpAlloca {
				continue
			}
			if inCycle(b) {
				clearAlloca(v)
			}
			i := slices.Index(v.Block.Values, v)
			v.Block.Values = slices.Delete(v.Block.Values, i, i+1)
			v.Block = entry
			moved = append(moved, v)
		}
	}
	entry.Values = append(moved, entry.Values...)
}

// inCycle reports whether b can run again after it has run.
func inCycle(b *ir.Block) bool {
	seen := make([]bool, b.Func.NumBlocks())
	work := slices.Clone(b.Succs)
	for len(work) > 0 {
		s := work[len(work)-1]
		work = work[:len(work)-1]
		if s == b {
			return true
		}
		if !seen[s.ID] {
			seen[s.ID] = true
			work = append(work, s.Succs...)
		}
	}
	return false
}

// clearAlloca stores zeros to the local v where it stands.
func clearAlloca(v *ir.Value) {
	t := v.Aux.(*ir.Type)
	if v.Imm == 1 {
		return
	}
	v.Imm = 1
	if countLeaves(t) > maxZeroStores {
		b := v.Block
		clearLeaves(b.Values[slices.Index(b.Values, v)+1], t, v)
		return
	}
	b := v.Block
	e := &editor{b: b, pos: v.Pos}
	for _, l := range leavesOf(t, 0, nil) {
		zero := e.constant(l.t, 0)
		e.make(ir.OpStore, ir.Void, e.offset(v, l.off), zero)
	}
	b.Values = slices.Insert(b.Values, slices.Index(b.Values, v)+1, e.out...)
}
