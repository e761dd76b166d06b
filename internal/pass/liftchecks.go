package pass

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// maxLifted is the most values in a block whose check is lifted, and in the part of it that moves.
const maxLifted = 12

// liftChecks moves checks from small blocks that run on a condition, several in a row, in front of the
// branches: checked is then that the condition does not hold, or the check's own. What is left of such a
// block, a load and a store, becomes instructions with a predicate, without a jump; and the checks
// meet, for fuseChecks.
//
// A function with panel products is left alone: its accumulators take nearly all registers, and what is
// checked early lives long.
func liftChecks(f *ir.Func, _ *Options) {
	order := ir.Dominators(f).Order()
	if slices.ContainsFunc(order, hasProduct) {
		return
	}
	behind := map[*ir.Block]bool{}
	for _, b := range order {
		if _, j := triangle(b); j != nil {
			behind[j] = true
		}
	}
	for _, b := range slices.Backward(order) {
		m, j := triangle(b)
		if m == nil {
			continue
		}
		if next, _ := triangle(j); next == nil && !behind[b] {
			continue // alone
		}
		for liftFrom(m, b) {
		}
		if harmless(m) {
			for liftPast(j, m, b) {
			}
		}
	}
}

// hasProduct reports whether b has a panel product.
func hasProduct(b *ir.Block) bool {
	return slices.ContainsFunc(b.Values, func(v *ir.Value) bool { return v.Op == ir.OpMultiply })
}

// triangle returns the block m that b leads to on a condition and the block j behind it, which b leads to as well;
// nil where there are no such blocks, or m is not small.
func triangle(b *ir.Block) (m, j *ir.Block) {
	if len(b.Succs) != 2 || b.Cold {
		return nil, nil
	}
	for i, m := range b.Succs {
		j := b.Succs[1-i]
		if len(m.Preds) == 1 && len(m.Succs) == 1 && m.Succs[0] == j && m != j && j != b && len(j.Preds) == 2 && len(m.Values) <= maxLifted {
			return m, j
		}
	}
	return nil, nil
}

// harmless reports whether all that can be seen of m is what it stores.
func harmless(m *ir.Block) bool {
	return !slices.ContainsFunc(m.Values, observable)
}

// liftFrom moves the first check of m to the end of b. Nothing that can be seen stands in front of it.
func liftFrom(m, b *ir.Block) bool {
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

// liftPast moves a check at the start of j to the end of b, past m, which stores at most.
func liftPast(j, m, b *ir.Block) bool {
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

// coneIn returns the values of b that the check depends on, in their order; false where there are many, or
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
		ok = v.Op.Pure() && v.Op != ir.OpPhi && v.Op != ir.OpAlloca && len(in) <= maxLifted
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
