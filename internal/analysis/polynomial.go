package analysis

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// The largest polynomials that are looked at: terms, factors of one, and sums and products that it is made of, each as often
// as it is used.
const (
	maxTerms   = 16
	maxFactors = 3
	maxParts   = 256
)

// A Polynomial represents a 64-bit integer as a sum of products of values that are not sums or
// products themselves. Equal polynomials are equal integers modulo 1<<64.
type Polynomial struct {
	terms    map[string]term // by their factors
	constant int64
}

// A term is a product with a factor that is constant.
type term struct {
	factors []*ir.Value // by ascending ID
	times   int64
}

// NewPolynomial returns v as a polynomial. It reports false if the polynomial is too large.
func NewPolynomial(v *ir.Value) (Polynomial, bool) {
	return Expand(v, func(*ir.Value) bool { return false })
}

// Expand is like NewPolynomial, but does not expand sums and products for which whole returns true.
func Expand(v *ir.Value, whole func(*ir.Value) bool) (Polynomial, bool) {
	e := &expander{whole: whole, parts: maxParts}
	return e.expand(v)
}

// An expander makes one polynomial.
type expander struct {
	whole func(*ir.Value) bool
	parts int // that it may still have
}

func (e *expander) expand(v *ir.Value) (Polynomial, bool) {
	if e.parts--; e.parts < 0 {
		return Polynomial{}, false
	}
	op := v.Op
	if e.whole(v) {
		op = ir.OpInvalid
	}
	switch op {
	case ir.OpConst:
		return Constant(v.Imm), true
	case ir.OpAdd, ir.OpSub, ir.OpMul:
		return e.combine(v)
	case ir.OpShl:
		if n := v.Args[1]; n.Op == ir.OpConst && n.Imm >= 0 && n.Imm < 63 {
			x, ok := e.expand(v.Args[0])
			if !ok {
				return x, false
			}
			return x.times(Constant(1 << n.Imm))
		}
	}
	return Whole(v), true
}

// combine expands a sum, difference or product.
func (e *expander) combine(v *ir.Value) (Polynomial, bool) {
	x, ok := e.expand(v.Args[0])
	if !ok {
		return x, false
	}
	y, ok := e.expand(v.Args[1])
	switch {
	case !ok:
		return y, false
	case v.Op == ir.OpAdd:
		return x.plus(y, 1)
	case v.Op == ir.OpSub:
		return x.plus(y, -1)
	}
	return x.times(y)
}

// Constant returns the constant polynomial c.
func Constant(c int64) Polynomial { return Polynomial{constant: c} }

// Whole returns the polynomial that consists of v alone, without expanding it.
func Whole(v *ir.Value) Polynomial {
	p, _ := Polynomial{}.add(term{[]*ir.Value{v}, 1})
	return p
}

// Terms yields the factors of each term, in ascending order of IDs, and its coefficient. The constant term comes last
// and has no factors.
func (p Polynomial) Terms() iter.Seq2[[]*ir.Value, int64] {
	return func(yield func([]*ir.Value, int64) bool) {
		for _, key := range slices.Sorted(maps.Keys(p.terms)) {
			if t := p.terms[key]; !yield(t.factors, t.times) {
				return
			}
		}
		yield(nil, p.constant)
	}
}

// Plus returns p+q. It reports false if the result is too large.
func (p Polynomial) Plus(q Polynomial) (Polynomial, bool) {
	p, ok := p.plus(q, 1)
	return p, ok && p.small()
}

// Times returns p*q. It reports false if the result is too large.
func (p Polynomial) Times(q Polynomial) (Polynomial, bool) {
	if !p.small() || !q.small() {
		return p, false
	}
	p, ok := p.times(q)
	return p, ok && p.small()
}

// Minus returns p-q. It reports false if the result is too large.
func (p Polynomial) Minus(q Polynomial) (Polynomial, bool) { return p.plus(q, -1) }

// plus returns p + k*q.
func (p Polynomial) plus(q Polynomial, k int64) (Polynomial, bool) {
	p.constant += k * q.constant
	ok := true
	for _, t := range q.terms {
		if p, ok = p.add(term{t.factors, k * t.times}); !ok {
			return p, false
		}
	}
	return p, true
}

func (p Polynomial) times(q Polynomial) (Polynomial, bool) {
	product := Polynomial{constant: p.constant * q.constant}
	xs, ys := p.all(), q.all()
	ok := true
	for _, x := range xs {
		for _, y := range ys {
			t := term{slices.Concat(x.factors, y.factors), x.times * y.times}
			if len(t.factors) == 0 {
				continue // that is the constant
			}
			if product, ok = product.add(t); !ok {
				return product, false
			}
		}
	}
	return product, true
}

// all returns the terms, the constant one too.
func (p Polynomial) all() []term {
	return append(slices.Collect(maps.Values(p.terms)), term{times: p.constant})
}

// add returns p + t. Polynomials are not changed.
func (p Polynomial) add(t term) (Polynomial, bool) {
	t.factors = slices.SortedFunc(slices.Values(t.factors), func(a, b *ir.Value) int { return cmp.Compare(a.ID, b.ID) })
	key := ""
	for _, v := range t.factors {
		key += fmt.Sprintf("%d ", v.ID)
	}
	terms := map[string]term{}
	maps.Copy(terms, p.terms)
	t.times += terms[key].times
	terms[key] = t
	if t.times == 0 {
		delete(terms, key)
	}
	return Polynomial{terms, p.constant}, len(terms) <= maxTerms && len(t.factors) <= maxFactors
}

// Range returns the range of p at a point. It reports false if the computation may wrap around. It
// writes every value as its minimum plus a non-negative remainder, which shows, for example, that
// n*n-n is not negative if n is positive.
func (p Polynomial) Range(r *Ranges, at Point) (Range, bool) {
	rests := Polynomial{constant: p.constant}
	for _, t := range p.terms {
		x, ok := Polynomial{constant: t.times}, true
		for _, v := range t.factors {
			least := Polynomial{constant: r.At(v, at).Lo}
			if least, ok = least.add(term{[]*ir.Value{v}, 1}); !ok {
				return all, false
			}
			if x, ok = x.times(least); !ok || !x.small() {
				return all, false
			}
		}
		if rests, ok = rests.plus(x, 1); !ok || !rests.small() {
			return all, false
		}
	}
	return rests.rangeOfRests(r, at)
}

// small reports whether constants are so small that sums and products of two do not overflow, nor do
// sums of as many terms as there may be.
func (p Polynomial) small() bool {
	const limit = 1 << 26
	for _, t := range p.all() {
		if t.times <= -limit || t.times >= limit {
			return false
		}
	}
	return true
}

// rangeOfRests returns the range of p where its values stand for what they are more than the least.
func (p Polynomial) rangeOfRests(r *Ranges, at Point) (Range, bool) {
	sum, ok := Range{p.constant, p.constant}, true
	for _, key := range slices.Sorted(maps.Keys(p.terms)) {
		t := p.terms[key]
		product := Range{t.times, t.times}
		for _, v := range t.factors {
			x := r.At(v, at)
			rest, fits := x.sub(Range{x.Lo, x.Lo})
			if !fits {
				return all, false
			}
			if product, ok = product.mul(rest); !ok {
				return all, false
			}
		}
		if sum, ok = sum.add(product); !ok {
			return all, false
		}
	}
	return sum, true
}

// IsConstant reports whether p is the constant c.
func (p Polynomial) IsConstant(c int64) bool { return len(p.terms) == 0 && p.constant == c }

// Increases reports whether all coefficients of p are non-negative, so that p is non-negative if
// all its values are.
func (p Polynomial) Increases() bool {
	for _, t := range p.all() {
		if t.times < 0 {
			return false
		}
	}
	return true
}
