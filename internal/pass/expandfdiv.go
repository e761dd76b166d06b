package pass

import (
	"math"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// Beyond these bounds steps in between may be subnormal.
const (
	leastDividend = 0x1p-100 // else what a quotient leaves has bits below those of subnormal numbers
	leastQuotient = 0x1p-120
	leastRoot     = 0x1p-50
	maxConstant   = 0x1p40
	maxRepeated   = 600 // values that are computed again where one was beyond
)

// expandFDiv expands float32 divisions and square roots into the hardware's approximations and
// steps of Newton's method, as ptxas does, but with one test after several of them, and after what
// is computed from them, whether the results are exact; otherwise all are computed again by
// operations that always round correctly. ptxas puts a branch around each, which costs instructions
// and keeps it from scheduling those of one with those of another.
//
// The steps are correct for all significands where the approximation is off by at most one unit in
// the last place, as it is on all GPUs measured: Markstein, "Computation of elementary functions
// on the IBM RISC System/6000 processor" (1990).
//
//	b0: %3 = fdiv %0, %1          b0: %3, %5 = approximations, improved by fma
//	    %4 = fadd %3, %2              %4 = fadd %3, %2
//	    %5 = fdiv %4, %1      ->      %6 = whether all numbers are in the range of the steps
//	    store %7, %5                  if %6 b1 b2
//	                              b1: store %7, phi of %5
//	                              b2 cold: fdiv, fadd, fdiv as before
//	                                  jump b1
func expandFDiv(f *ir.Func, _ *Options) (changed bool) {
	blocks := len(f.Blocks)
	for i := 0; i < len(f.Blocks); i++ { // apply adds what is after a test
		if b := f.Blocks[i]; !b.Cold {
			if s := findFDivs(b); s != nil {
				s.apply()
			}
		}
	}
	return len(f.Blocks) > blocks
}

// A speculation is a part of a block that computes quotients and values that depend on them.
type speculation struct {
	b     *ir.Block
	end   int // where they must hold
	first []*ir.Value
	on    map[*ir.Value]bool // first

	recips map[*ir.Value]*ir.Value // of divisors
	least  map[*ir.Value]float64   // what the absolute values of fast results are above, if all holds
	holds  *ir.Value               // whether all so far do
}

// findFDivs returns the first part of b with at least two quotients, or nil.
func findFDivs(b *ir.Block) *speculation {
	for at := 0; at < len(b.Values); {
		s := &speculation{b: b, on: map[*ir.Value]bool{}, recips: map[*ir.Value]*ir.Value{}, least: map[*ir.Value]float64{}}
		n := s.extend(at)
		if n > 1 {
			return s
		}
		at = s.end + 1
	}
	return nil
}

// extend takes values from the index at on, as long as they can be computed twice, and returns the number of
// quotients among them.
func (s *speculation) extend(at int) (n int) {
	for i, v := range s.b.Values[at:] {
		s.end = at + i
		switch {
		case isRounded(v):
			n++
		case !slices.ContainsFunc(v.Args, func(a *ir.Value) bool { return s.on[a] }):
			continue
		case !v.Op.Pure() || isAggregate(v.Type):
			return n
		}
		if len(s.first) == maxRepeated {
			return n
		}
		s.first, s.on[v] = append(s.first, v), true
	}
	return n
}

// isRounded reports whether v is a quotient, with no constant beyond the bounds, or a root.
func isRounded(v *ir.Value) bool {
	switch {
	case v.Type.Kind != ir.KindF32:
		return false
	case v.Op == ir.OpFSqrt:
		return true
	case v.Op != ir.OpFDiv:
		return false
	}
	for _, a := range v.Args {
		if isConst(a) {
			if c := math.Abs(analysis.FloatOf(a.Type, a.Imm)); !(c > 1/maxConstant && c < maxConstant) {
				return false
			}
		}
	}
	return true
}

// apply computes the part fast, and again where the test fails.
func (s *speculation) apply() {
	rest := s.b.Split(s.end)
	again := s.b.Func.NewBlock()
	again.Cold = true
	repeated, fast := s.repeat(again), s.fast()
	s.b.AddEdge(rest)
	s.b.AddEdge(again)
	again.AddEdge(rest)
	s.join(rest, again, fast, repeated)
}

// repeat copies the part into b.
func (s *speculation) repeat(b *ir.Block) map[*ir.Value]*ir.Value {
	e := &editor{b: b}
	of := map[*ir.Value]*ir.Value{}
	for _, v := range s.first {
		e.pos = v.Pos
		args := slices.Clone(v.Args)
		for i, a := range args {
			if c, ok := of[a]; ok {
				args[i] = c
			}
		}
		of[v] = e.makeImm(v.Op, v.Type, v.Imm, args...)
		of[v].Aux = v.Aux
	}
	e.make(ir.OpJump, ir.Void)
	b.Values = e.out
	return of
}

// fast replaces the quotients and returns the replacements.
func (s *speculation) fast() map[*ir.Value]*ir.Value {
	repl := map[*ir.Value]*ir.Value{}
	e := &editor{b: s.b}
	for _, v := range s.b.Values {
		for i, a := range v.Args {
			if r, ok := repl[a]; ok && v.Op != ir.OpPhi {
				v.Args[i] = r
			}
		}
		e.pos = v.Pos
		switch {
		case s.on[v] && s.known(v):
			repl[v] = e.constant(ir.I1, analysis.BoolBits(v.Op == ir.OpFNe))
		case !s.on[v] || !isRounded(v):
			e.out = append(e.out, v)
		case v.Op == ir.OpFSqrt:
			repl[v] = s.root(e, v.Args[0])
		default:
			repl[v] = s.quotient(e, v.Args[0], v.Args[1])
		}
	}
	e.make(ir.OpIf, ir.Void, s.holds)
	s.b.Values = e.out
	return repl
}

// recip returns the reciprocal of y, which is NaN, or far from what it must be, where it is not rounded correctly.
func (s *speculation) recip(e *editor, y *ir.Value) *ir.Value {
	if isConst(y) {
		return constFloat(e, 1/analysis.FloatOf(y.Type, y.Imm))
	}
	if r, ok := s.recips[y]; ok {
		return r
	}
	r := e.makeImm(ir.OpApproxRcp, ir.F32, 1, y)
	rest := e.make(ir.OpFma, ir.F32, e.make(ir.OpFNeg, ir.F32, y), r, constFloat(e, 1))
	s.recips[y] = e.make(ir.OpFma, ir.F32, r, rest, r)
	return s.recips[y]
}

// quotient returns x/y. Where y is out of range, or the quotient overflows on the way, it is NaN or too small.
func (s *speculation) quotient(e *editor, x, y *ir.Value) *ir.Value {
	r := s.recip(e, y)
	if isConst(x) && analysis.FloatOf(x.Type, x.Imm) == 1 {
		s.demandAbs(e, r, leastQuotient)
		return r
	}
	q := e.makeImm(ir.OpFMul, ir.F32, 1, x, r)
	rest := e.make(ir.OpFma, ir.F32, e.make(ir.OpFNeg, ir.F32, y), q, x)
	q = e.make(ir.OpFma, ir.F32, rest, r, q)
	switch {
	case isConst(x):
		s.demandAbs(e, q, leastQuotient)
	case isConst(y): // so that one bound is as good as the other
		s.demandAbs(e, q, max(leastQuotient, 2*leastDividend/math.Abs(analysis.FloatOf(y.Type, y.Imm))))
	default:
		s.demandAbs(e, x, leastDividend)
		s.demandAbs(e, q, leastQuotient)
	}
	return q
}

// root returns the square root of x, which is NaN where x is infinite or not positive.
func (s *speculation) root(e *editor, x *ir.Value) *ir.Value {
	r := e.makeImm(ir.OpApproxRsqrt, ir.F32, 1, x)
	y := e.makeImm(ir.OpFMul, ir.F32, 1, x, r)
	// A subnormal x is a zero to the instruction: r is infinite, with the sign of x, and y is infinite and positive, which
	// half of a negative r would leave so.
	half := e.makeImm(ir.OpFMul, ir.F32, 1, e.make(ir.OpFAbs, ir.F32, r), constFloat(e, 0.5))
	rest := e.make(ir.OpFma, ir.F32, e.make(ir.OpFNeg, ir.F32, y), y, x)
	y = e.make(ir.OpFma, ir.F32, rest, half, y)
	s.demand(e, y, y, leastRoot)
	return y
}

// known reports whether v asks whether a result is zero or small, which it is not where all holds.
func (s *speculation) known(v *ir.Value) bool {
	if v.Op != ir.OpFLt && v.Op != ir.OpFLe && v.Op != ir.OpFEq && v.Op != ir.OpFNe || !isConst(v.Args[1]) {
		return false
	}
	x, c := v.Args[0], analysis.FloatOf(v.Args[1].Type, v.Args[1].Imm)
	if x.Op == ir.OpFAbs {
		x = x.Args[0]
	} else if v.Op == ir.OpFLt || v.Op == ir.OpFLe {
		return false
	}
	least, ok := s.least[x]
	return ok && math.Abs(c) <= least
}

// demandAbs notes that |x| must be above least.
func (s *speculation) demandAbs(e *editor, x *ir.Value, least float64) {
	s.demand(e, x, e.make(ir.OpFAbs, ir.F32, x), least)
}

// demand is demandAbs with |x| at hand.
func (s *speculation) demand(e *editor, x, abs *ir.Value, least float64) {
	c := e.make(ir.OpFLt, ir.I1, constFloat(e, least), abs)
	s.least[x] = max(least, s.least[x])
	if s.holds != nil {
		c = e.make(ir.OpAnd, ir.I1, s.holds, c)
	}
	s.holds = c
}

// constFloat makes a float32.
func constFloat(e *editor, x float64) *ir.Value {
	bits, _ := analysis.FloatBits(ir.F32, x)
	return e.constant(ir.F32, bits)
}

// join makes one value of the two versions of each value of the part, for all later uses.
func (s *speculation) join(rest, again *ir.Block, fast, repeated map[*ir.Value]*ir.Value) {
	phis := map[*ir.Value]*ir.Value{}
	for _, b := range s.b.Func.Blocks {
		for _, u := range b.Values {
			if b == again || b == s.b && u.Op != ir.OpPhi {
				continue
			}
			for i, a := range u.Args {
				if s.on[a] {
					u.Args[i] = joined(phis, a, rest)
				}
			}
		}
	}
	for _, v := range s.first { // in this order, which is always the same
		if phi, ok := phis[v]; ok {
			phi.Args = []*ir.Value{find(fast, v), repeated[v]}
			rest.Values = slices.Insert(rest.Values, 0, phi)
		}
	}
}

// joined returns the phi for v.
func joined(phis map[*ir.Value]*ir.Value, v *ir.Value, rest *ir.Block) *ir.Value {
	if phis[v] == nil {
		phis[v] = rest.Make(ir.OpPhi, v.Type)
		phis[v].Pos = v.Pos
	}
	return phis[v]
}
