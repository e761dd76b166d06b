package pass

import (
	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// mem2reg brings scalar locals whose address is only loaded from and stored to into SSA
// values, with phis where they are needed: pruned SSA after Cytron et al., "Efficiently
// Computing Static Single Assignment Form".
func mem2reg(f *ir.Func, _ *Options) {
	locals := promotable(f)
	if len(locals) == 0 {
		return
	}
	p := &promoter{f: f, dom: ir.Dominators(f), locals: locals, phis: map[*ir.Value]*ir.Value{}}
	removeUnreachable(f)
	p.frontiers = analysis.Frontiers(p.dom)
	p.placePhis()
	p.rename()
}

// promotable returns the allocas that can become values, in order.
func promotable(f *ir.Func) []*ir.Value {
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
	phis      map[*ir.Value]*ir.Value // the local of each phi that was placed
}

// placePhis puts phis where a local's definitions meet and a load behind sees them.
func (p *promoter) placePhis() {
	byLocal := map[*ir.Value][]*ir.Value{}
	for _, b := range p.dom.Order() {
		for _, v := range b.Values {
			if l := localOf(v); l != nil {
				byLocal[l] = append(byLocal[l], v)
			}
		}
	}
	for _, l := range p.locals {
		live := p.liveIn(l, byLocal[l])
		placed := make([]bool, p.f.NumBlocks())
		var work []*ir.Block
		work = append(work, l.Block)
		for _, v := range byLocal[l] {
			if v.Op == ir.OpStore {
				work = append(work, v.Block)
			}
		}
		for len(work) > 0 {
			b := work[len(work)-1]
			work = work[:len(work)-1]
			for _, d := range p.frontiers[b.ID] {
				if live[d.ID] && !placed[d.ID] {
					placed[d.ID] = true
					p.phis[insertPhi(d, l.Aux.(*ir.Type))] = l
					work = append(work, d)
				}
			}
		}
	}
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

// liveIn says, by block ID, where l's value at the block's start may be loaded. refs are the
// places that name l, those of a block in order.
func (p *promoter) liveIn(l *ir.Value, refs []*ir.Value) []bool {
	defines := make([]bool, p.f.NumBlocks())
	live := make([]bool, p.f.NumBlocks())
	var work []*ir.Block
	for _, v := range refs {
		if v.Op != ir.OpLoad {
			defines[v.Block.ID] = true
		} else if !defines[v.Block.ID] && !live[v.Block.ID] {
			live[v.Block.ID] = true
			work = append(work, v.Block)
		}
	}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		for _, q := range b.Preds {
			if !defines[q.ID] && !live[q.ID] {
				live[q.ID] = true
				work = append(work, q)
			}
		}
	}
	return live
}

// rename walks the dominator tree and replaces loads by the value that reaches them.
func (p *promoter) rename() {
	slot := map[*ir.Value]int{}
	for i, l := range p.locals {
		slot[l] = i
	}
	r := &renamer{p: p, slot: slot, atEnd: make([][]*ir.Value, p.f.NumBlocks())}
	for _, b := range p.dom.Order() { // an immediate dominator stands in front
		current := make([]*ir.Value, len(p.locals))
		if d := p.dom.Idom(b); d != nil {
			copy(current, r.atEnd[d.ID])
		}
		r.block(b, current)
		r.atEnd[b.ID] = current
	}
	for _, b := range p.dom.Order() {
		for _, phi := range b.Phis() {
			if l := p.phis[phi]; l != nil {
				for _, q := range b.Preds {
					phi.Args = append(phi.Args, r.atEnd[q.ID][slot[l]])
				}
			}
		}
	}
	p.f.Replace(&r.repl)
}

type renamer struct {
	p     *promoter
	slot  map[*ir.Value]int
	atEnd [][]*ir.Value // by block ID and slot: the local's value at the end of the block
	repl  ir.Replacements
}

// block replaces the accesses in b; current holds the values of the locals.
func (r *renamer) block(b *ir.Block, current []*ir.Value) {
	e := &editor{b: b}
	for _, v := range b.Values {
		e.pos = v.Pos
		if l := r.p.phis[v]; l != nil {
			current[r.slot[l]] = v
		}
		s, ok := r.slot[localOf(v)]
		if !ok {
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
	b.Values = e.out
}

// reinterpret returns the bits of v as a value of type t.
func reinterpret(e *editor, v *ir.Value, t *ir.Type) *ir.Value {
	if v.Type.Equal(t) {
		return v
	}
	return e.make(ir.OpBitcast, t, v)
}
