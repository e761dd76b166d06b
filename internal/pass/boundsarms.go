package pass

import (
	"iter"
	"maps"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// maxChosen is how many choices between two values an index may contain.
const maxChosen = 2

// ends returns what an index is below at a place: one number, or one for each of the values that may have been chosen for it. It
// reports false if one is unknown, or the index may be negative.
func (b *bounder) ends(p analysis.Polynomial, at analysis.Point, depth int) ([]analysis.Polynomial, bool) {
	v := b.choice(p, at)
	if v == nil {
		end, ok := b.within(p, at)
		return []analysis.Polynomial{end}, ok
	}
	if depth == 0 {
		return nil, false
	}
	var all []analysis.Polynomial
	for i, x := range v.Args[len(v.Args)-2:] {
		n := len(b.assumed)
		if v.Op == ir.OpSelect {
			b.assumed = append(b.assumed, analysis.Fact{Cond: v.Args[0], Holds: i == 0, Where: at})
		}
		var some []analysis.Polynomial
		q, ok := b.chosen(p, v, single(x), at)
		if ok {
			some, ok = b.ends(q, at, depth-1)
		}
		b.assumed = b.assumed[:n]
		if !ok {
			return nil, false
		}
		all = append(all, some...)
	}
	return all, true
}

// chosen returns p where v is x.
func (b *bounder) chosen(p analysis.Polynomial, v, x *ir.Value, at analysis.Point) (analysis.Polynomial, bool) {
	q, ok := b.expand(x, at)
	if !ok {
		return q, false
	}
	return substitute(p, func(w *ir.Value) analysis.Polynomial {
		if w == v {
			return q
		}
		return analysis.Whole(w)
	})
}

// choice returns a select, or a phi that is none of a loop, in p that has no limit itself, or nil.
func (b *bounder) choice(p analysis.Polynomial, at analysis.Point) *ir.Value {
	before := maps.Clone(b.least)
	defer func() { b.least = before }()
	for factors := range p.Terms() {
		for _, v := range factors {
			if v.Type.Kind != ir.KindI64 || v.Op != ir.OpSelect && !b.joins(v) {
				continue
			}
			if _, ok := b.end(v, at, true); !ok {
				return v
			}
		}
	}
	return nil
}

// joins reports whether v is a phi of two values where paths meet that are not those of a loop.
func (b *bounder) joins(v *ir.Value) bool {
	return v.Op == ir.OpPhi && len(v.Args) == 2 && !slices.ContainsFunc(v.Block.Preds, func(p *ir.Block) bool { return b.dom.Dominates(v.Block, p) })
}

// at returns what v can be at a place, where the choices that are looked at have been made.
func (b *bounder) at(v *ir.Value, p analysis.Point) analysis.Range {
	r := b.ranges.At(v, p)
	for _, f := range b.assumed {
		x := b.ranges.Given(f, v, p)
		r = analysis.Range{Lo: max(r.Lo, x.Lo), Hi: min(r.Hi, x.Hi)}
	}
	if r.Empty() {
		return b.ranges.At(v, p)
	}
	return r
}

// about yields the facts that compare v at a place, and those of the choices that are looked at.
func (b *bounder) about(v *ir.Value, p analysis.Point) iter.Seq[analysis.Fact] {
	return func(yield func(analysis.Fact) bool) {
		for f := range b.ranges.Facts.About(v, p) {
			if !yield(f) {
				return
			}
		}
		for _, chosen := range b.assumed {
			for _, f := range analysis.Implied(chosen) {
				if len(f.Cond.Args) == 2 && slices.Contains(f.Cond.Args, v) && !yield(f) {
					return
				}
			}
		}
	}
}
