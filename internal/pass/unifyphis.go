package pass

import (
	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// unifyPhis replaces a phi that always differs from another one of its block by the same
// constant: counters that start at -1 beside ones that start at 0, and plain copies.
//
//	b1: %2 = phi i32 0, %4            b1: %2 = phi i32 0, %4
//	    %3 = phi i32 -1, %5               %3 = add i32 %2, -1
//	    %4 = add i32 %2, 1        ->      %4 = add i32 %2, 1
//	    %5 = add i32 %3, 1                %5 = add i32 %3, 1
//	    if %6 b1 b2                       if %6 b1 b2
func unifyPhis(f *ir.Func, _ *Options) {
	var repl ir.Replacements
	for _, b := range f.Blocks {
		phis := b.Phis()
		var kept, sums []*ir.Value
		for _, p := range phis {
			if s := asSum(p, kept); s != nil {
				repl.Add(p, s)
				if s.Op == ir.OpAdd {
					sums = append(sums, s.Args[1], s)
				}
				continue
			}
			kept = append(kept, p)
		}
		rest := b.Values[len(phis):]
		b.Values = append(append(kept, sums...), rest...)
	}
	f.Replace(&repl)
}

// asSum returns p as one of the phis in kept, or the sum of one and a constant, or nil.
func asSum(p *ir.Value, kept []*ir.Value) *ir.Value {
	for _, q := range kept {
		d, ok := difference(p, q)
		if !ok {
			continue
		}
		if d == 0 {
			return q
		}
		c := p.Block.Make(ir.OpConst, p.Type)
		c.Imm = d
		s := p.Block.Make(ir.OpAdd, p.Type, q, c)
		c.Pos, s.Pos = p.Pos, p.Pos
		return s
	}
	return nil
}

// difference returns the constant that p is above q, if it is the same for all arguments.
func difference(p, q *ir.Value) (int64, bool) {
	var d int64
	if !p.Type.Equal(q.Type) || len(p.Args) == 0 {
		return 0, false
	}
	for i := range p.Args {
		x, ok := distance(p.Args[i], q.Args[i])
		if !ok || i > 0 && x != d {
			return 0, false
		}
		d = x
	}
	return d, true
}

// distance returns the constant a-b of two values that are computed from the same one.
func distance(a, b *ir.Value) (int64, bool) {
	if a == b {
		return 0, true
	}
	if !a.Type.IsInt() || a.Type.Bits() == 1 {
		return 0, false
	}
	x, c := plus(a)
	y, d := plus(b)
	return analysis.SignExtend(a.Type, c-d), x == y
}

// plus splits v into a value, nil for none, and a constant.
func plus(v *ir.Value) (*ir.Value, int64) {
	if c, ok := analysis.IntConst(v); ok {
		return nil, c
	}
	if c, ok := constArg(v, ir.OpAdd); ok {
		return v.Args[0], c
	}
	return v, 0
}
