package lint

import (
	"maps"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// counted reports whether v is known in each iteration of the loop, because it is computed from
// counters that start at constants.
func (k *kernel) counted(v *ir.Value, l *analysis.Loop) bool {
	r, ok := firstIteration(l)
	if !ok {
		return false
	}
	_, ok = r.value(v)
	return ok
}

// firstIteration returns the loop's first iteration, in which the counters that start at a constant
// are known.
func firstIteration(l *analysis.Loop) (*iteration, bool) {
	if len(l.Entries()) != 1 || len(l.Latches) != 1 {
		return nil, false
	}
	r := newIteration()
	entry := l.Header.PredIndex(l.Entries()[0])
	for _, phi := range l.Header.Phis() {
		if a := phi.Args[entry]; a.Op == ir.OpConst {
			r.known[phi] = a.Imm
		}
	}
	return r, true
}

// next returns the iteration after r.
func (r *iteration) next(l *analysis.Loop) *iteration {
	after := newIteration()
	latch := l.Header.PredIndex(l.Latches[0])
	for _, phi := range l.Header.Phis() {
		if n, ok := r.value(phi.Args[latch]); ok {
			after.known[phi] = n
		}
	}
	return after
}

// An iteration computes values of one iteration of a loop. It remembers them, because the number of
// paths to a value can grow exponentially with the number of values in between.
type iteration struct {
	known   map[*ir.Value]int64 // initially the counters
	unknown map[*ir.Value]bool
}

func newIteration() *iteration {
	return &iteration{known: map[*ir.Value]int64{}, unknown: map[*ir.Value]bool{}}
}

// value returns v if it is computed from constants and known counters.
func (r *iteration) value(v *ir.Value) (int64, bool) {
	n, ok := r.known[v]
	if ok || r.unknown[v] {
		return n, ok
	}
	r.unknown[v] = true
	if n, ok = r.compute(v); ok {
		r.known[v] = n
	}
	return n, ok
}

func (r *iteration) compute(v *ir.Value) (int64, bool) {
	switch v.Op {
	case ir.OpConst:
		return v.Imm, true
	case ir.OpSExt, ir.OpZExt:
		return r.value(v.Args[0])
	}
	if len(v.Args) != 2 || !v.Op.Pure() {
		return 0, false
	}
	x, ok := r.value(v.Args[0])
	if !ok {
		return 0, false
	}
	y, ok := r.value(v.Args[1])
	if !ok {
		return 0, false
	}
	switch v.Op {
	case ir.OpAdd:
		return x + y, true
	case ir.OpSub:
		return x - y, true
	case ir.OpMul:
		return x * y, true
	}
	if f := arithmetic[v.Op]; f != nil {
		return f(x, y)
	}
	return 0, false
}

// iterations returns assignments with the values of vs in the first iterations of the loop: either
// the same iteration for both accesses or two consecutive ones. The list ends when the loop's
// condition, if known, ends the loop.
func (k *kernel) iterations(l *analysis.Loop, vs []*ir.Value, same bool) []assignment {
	in := func(it *iteration) map[*ir.Value]int64 {
		m := map[*ir.Value]int64{}
		for _, v := range vs {
			if n, ok := it.value(v); ok {
				m[v] = n
			}
		}
		return m
	}
	var list []assignment
	it, _ := firstIteration(l)
	for range maxIterations {
		after := it.next(l)
		if it.leaves(l) {
			break
		}
		if same {
			list = append(list, assignment{in(it), in(it)})
		} else if !after.leaves(l) {
			list = append(list, assignment{in(it), in(after)})
		}
		it = after
	}
	for i, w := range list {
		if len(w.first) < len(vs) || len(w.second) < len(vs) {
			list = list[:i]
			break
		}
		list[i].first, list[i].second = maps.Clone(w.first), maps.Clone(w.second)
	}
	return list
}

// leaves reports whether the header provably leaves the loop in the iteration.
func (r *iteration) leaves(l *analysis.Loop) bool {
	t := l.Header.Term()
	if t.Op != ir.OpIf {
		return false
	}
	c, ok := r.value(t.Args[0])
	if !ok {
		return false
	}
	to := l.Header.Succs[1]
	if c != 0 {
		to = l.Header.Succs[0]
	}
	return !l.Contains(to)
}
