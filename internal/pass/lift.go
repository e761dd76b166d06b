package pass

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// maxSpeculatedCheck is the maximum number of values in a block whose check moves, and of values
// that move with it.
const maxSpeculatedCheck = 12

// speculateChecks moves checks out of small conditional blocks, where several of these follow each
// other, to before the branches. The moved check passes if the branch's condition is false or its
// own is true. What is left of such a block, a load and a store, becomes predicated instructions
// without a jump, and the checks become adjacent, for fuseChecks.
//
// It leaves functions with panel products alone: their accumulators take nearly all registers, and
// early checks lengthen live ranges.
//
//	b0: if %1 b1 b2                   b0: %5 = xor i1 %1, 1
//	b1: check %2                          %6 = or i1 %5, %2
//	    store %3, %4              ->      check %6
//	    jump b2                           if %1 b1 b2
//	b2: if %7 b3 b4                   b1: store %3, %4
//	                                      jump b2
func speculateChecks(f *ir.Func, _ *Options) {
	order := ir.Dominators(f).Order()
	if slices.ContainsFunc(order, hasProduct) {
		return
	}
	eachTriangle(order, true, func(b, m, j *ir.Block) {
		for speculateFrom(m, b) {
		}
		if harmless(m) {
			for speculatePast(j, m, b) {
			}
		}
	})
}

// eachTriangle calls lift for the small blocks that others branch around, where several of these follow each other.
func eachTriangle(order []*ir.Block, lastFirst bool, lift func(b, m, j *ir.Block)) {
	behind := map[*ir.Block]bool{}
	for _, b := range order {
		if _, j := triangle(b); j != nil {
			behind[j] = true
		}
	}
	if lastFirst {
		order = slices.Clone(order)
		slices.Reverse(order)
	}
	for _, b := range order {
		m, j := triangle(b)
		if m == nil {
			continue
		}
		if next, _ := triangle(j); next != nil || behind[b] {
			lift(b, m, j)
		}
	}
}

// hasProduct reports whether b has a panel product.
func hasProduct(b *ir.Block) bool {
	return slices.ContainsFunc(b.Values, func(v *ir.Value) bool { return v.Op == ir.OpWGMMA || v.Op == ir.OpWGMMATiles })
}

// triangle returns the small block m that b branches to and the block j that both m and b lead to,
// or nil if b has no such successors.
func triangle(b *ir.Block) (m, j *ir.Block) {
	if len(b.Succs) != 2 || b.Cold {
		return nil, nil
	}
	for i, m := range b.Succs {
		j := b.Succs[1-i]
		if len(m.Preds) == 1 && len(m.Succs) == 1 && m.Succs[0] == j && m != j && j != b && len(j.Preds) == 2 && len(m.Values) <= maxSpeculatedCheck {
			return m, j
		}
	}
	return nil, nil
}

// harmless reports whether m has no observable effects but its stores.
func harmless(m *ir.Block) bool {
	return !slices.ContainsFunc(m.Values, observable)
}

// speculateFrom moves the first check of m to the end of b. Nothing observable precedes the check.
func speculateFrom(m, b *ir.Block) bool {
	i := slices.IndexFunc(m.Values, observable)
	if i < 0 || m.Values[i].Op != ir.OpCheck {
		return false
	}
	check := m.Values[i]
	cone, ok := coneIn(m, check)
	if !ok {
		return false
	}
	m.Values = slices.Delete(m.Values, i, i+1)
	hoistTo(m, b, cone)
	atEnd(b, func(e *editor) *ir.Value {
		e.pos = check.Pos
		runs := b.Term().Args[0]
		if b.Succs[0] == m {
			runs = not(e, runs)
		}
		check.Args[0] = e.make(ir.OpOr, ir.I1, runs, check.Args[0])
		check.Block = b
		e.out = append(e.out, check)
		return nil
	})
	return true
}

// speculatePast moves a check from the start of j to the end of b, past m, which has stores at most.
func speculatePast(j, m, b *ir.Block) bool {
	i := slices.IndexFunc(j.Values, func(v *ir.Value) bool { return observable(v) || v.Op.Terminator() })
	if i < 0 || j.Values[i].Op != ir.OpCheck {
		return false
	}
	check := j.Values[i]
	cone, ok := coneIn(j, check)
	if !ok {
		return false
	}
	j.Values = slices.Delete(j.Values, i, i+1)
	hoistTo(j, b, append(cone, check))
	return true
}

// coneIn returns the values of b that the check depends on, in their order; false if there are many, or
// one must stay where it is.
func coneIn(b *ir.Block, check *ir.Value) (cone []*ir.Value, ok bool) {
	in := map[*ir.Value]bool{}
	ok = true
	var add func(v *ir.Value)
	add = func(v *ir.Value) {
		if v.Block != b || in[v] || !ok {
			return
		}
		in[v] = true
		ok = v.Op.Pure() && v.Op != ir.OpPhi && v.Op != ir.OpAlloca && len(in) <= maxSpeculatedCheck
		for _, a := range v.Args {
			add(a)
		}
	}
	for _, a := range check.Args {
		add(a)
	}
	for _, v := range b.Values {
		if in[v] {
			cone = append(cone, v)
		}
	}
	return cone, ok
}

// hoistTo moves values from one block to the end of another.
func hoistTo(from, to *ir.Block, values []*ir.Value) {
	from.Values = slices.DeleteFunc(from.Values, func(v *ir.Value) bool { return slices.Contains(values, v) })
	n := len(to.Values) - 1
	for _, v := range values {
		v.Block = to
	}
	to.Values = slices.Insert(to.Values, n, values...)
}

// minSpeculatedAddress is the minimum cost of values that are worth moving: ptxas predicates
// cheaper ones in place.
const minSpeculatedAddress = 3

// speculateAddresses moves cheap address computations of global loads and stores out of small
// conditional blocks, where several of these follow each other, to before the branch. ptxas then
// predicates the rest of the block, as after speculateChecks.
func speculateAddresses(f *ir.Func, _ *Options) {
	eachTriangle(ir.Dominators(f).Order(), false, func(b, m, _ *ir.Block) {
		if harmless(m) && slices.ContainsFunc(m.Values, accessesGlobal) {
			speculatePure(m, b)
		}
	})
}

// accessesGlobal reports whether v loads from or stores to global memory.
func accessesGlobal(v *ir.Value) bool {
	return (v.Op == ir.OpLoad || v.Op == ir.OpStore) && v.Args[0].Type.Space == ir.Global
}

// speculatePure moves the values of m that depend on none of its loads to the end of b.
func speculatePure(m, b *ir.Block) {
	var cone []*ir.Value
	sum := 0
	for _, v := range m.Values {
		inner := func(a *ir.Value) bool { return a.Block == m && !slices.Contains(cone, a) }
		if v.Op.Pure() && !slices.ContainsFunc(v.Args, inner) {
			cone = append(cone, v)
			sum += cost(v)
		}
	}
	if sum >= minSpeculatedAddress && sum <= maxSpeculated {
		hoistTo(m, b, cone)
	}
}
