package pass

import (
	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// maxNested is how deep the loops are whose induction variables start from each other.
const maxNested = 3

// expand returns an index as a polynomial of what has a limit, of induction variables with a limit, and of what is launched.
func (b *bounder) expand(index *ir.Value, at analysis.Point) (analysis.Polynomial, bool) {
	p, ok := b.polynomial(index, at)
	for range maxNested {
		changed := false
		q, fits := substitute(p, func(v *ir.Value) analysis.Polynomial {
			x, unfolded := b.unfold(v, at)
			changed = changed || unfolded
			return x
		})
		if !ok || !fits || !changed {
			return p, ok && fits
		}
		p = q
	}
	return p, false
}

// substitute replaces the values in p. It reports false if the result is too large.
func substitute(p analysis.Polynomial, by func(*ir.Value) analysis.Polynomial) (analysis.Polynomial, bool) {
	sum, ok := analysis.Constant(0), true
	for factors, times := range p.Terms() {
		term := analysis.Constant(times)
		for _, v := range factors {
			if term, ok = term.Times(by(v)); !ok {
				return p, false
			}
		}
		if sum, ok = sum.Plus(term); !ok {
			return p, false
		}
	}
	return sum, true
}

// polynomial expands sums and products but those of which more is known than of what they are made of.
func (b *bounder) polynomial(v *ir.Value, at analysis.Point) (analysis.Polynomial, bool) {
	return analysis.Expand(v, func(v *ir.Value) bool { return combines(v) && !launched(v, maxDepth) && b.known(v, at) })
}

// combines reports whether v is a sum or a product.
func combines(v *ir.Value) bool {
	return v.Op == ir.OpAdd || v.Op == ir.OpSub || v.Op == ir.OpMul || v.Op == ir.OpShl
}

// known reports whether v has a limit, or is larger where the choices that are looked at have been made than elsewhere.
func (b *bounder) known(v *ir.Value, at analysis.Point) bool {
	return b.limit(v, at) != nil || len(b.assumed) > 0 && b.at(v, at).Lo > b.ranges.At(v, at).Lo
}

// parts returns the most or the least that a sum or product can be, by its arguments.
func (b *bounder) parts(v *ir.Value, at analysis.Point, most bool) (analysis.Polynomial, bool) {
	p, ok := analysis.Expand(v, func(w *ir.Value) bool { return w != v && combines(w) && !launched(w, maxDepth) && b.known(w, at) })
	if !ok {
		return p, false
	}
	return b.extreme(p, at, most)
}

// unfold returns what a phi is that grows by a launched step in each iteration of a loop with a counter: its start, and the
// step times the counter. It reports false for all else.
func (b *bounder) unfold(v *ir.Value, at analysis.Point) (analysis.Polynomial, bool) {
	whole := analysis.Whole(v)
	start, step, from := induction(v)
	if start == nil || !launched(step, maxDepth) {
		return whole, false
	}
	if _, limited := b.counter(v); limited || b.limit(v, at) != nil {
		return whole, false
	}
	counter := b.iteration(v.Block, from)
	if counter == nil {
		return whole, false
	}
	x, ok1 := b.polynomial(start, at)
	y, ok2 := analysis.NewPolynomial(step)
	if !ok1 || !ok2 {
		return whole, false
	}
	y, ok1 = y.Times(analysis.Whole(counter))
	sum, ok2 := x.Plus(y)
	if !ok1 || !ok2 {
		return whole, false
	}
	return sum, true
}

// induction returns where a phi of 64 bits starts and what it grows by, if it has two arguments, and from which of its block's
// predecessors it gets the start; nil if it does not grow by the same in each iteration.
func induction(v *ir.Value) (start, step *ir.Value, from int) {
	if v.Op != ir.OpPhi || v.Type.Kind != ir.KindI64 || len(v.Args) != 2 {
		return nil, nil, 0
	}
	for i, next := range v.Args {
		if next.Op != ir.OpAdd {
			continue
		}
		for k, a := range next.Args {
			if a == v && next.Args[1-k] != v {
				return single(v.Args[1-i]), next.Args[1-k], 1 - i
			}
		}
	}
	return nil, nil, 0
}

// iteration returns the phi of a loop's header that counts its iterations from 0 and is below a launched number, or nil.
func (b *bounder) iteration(header *ir.Block, from int) *ir.Value {
	for _, phi := range header.Phis() {
		start, step, i := induction(phi)
		if start == nil || i != from {
			continue
		}
		first, ok1 := analysis.IntConst(start)
		each, ok2 := analysis.IntConst(step)
		if ok1 && ok2 && first == 0 && each == 1 {
			if _, ok := b.counter(phi); ok {
				return phi
			}
		}
	}
	return nil
}
