package lint

import (
	"maps"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// counted reports whether v is known in each round of the loop: it is computed from counters that begin with
// constants.
func (k *kernel) counted(v *ir.Value, l *analysis.Loop) bool {
	r, ok := start(l)
	if !ok {
		return false
	}
	_, ok = r.value(v)
	return ok
}

// start returns the loop's first round. It knows the counters that begin with a constant.
func start(l *analysis.Loop) (*round, bool) {
	if len(l.Entries()) != 1 || len(l.Latches) != 1 {
		return nil, false
	}
	r := newRound()
	entry := l.Header.PredIndex(l.Entries()[0])
	for _, phi := range l.Header.Phis() {
		if a := phi.Args[entry]; a.Op == ir.OpConst {
			r.known[phi] = a.Imm
		}
	}
	return r, true
}

// next returns the round after r.
func (r *round) next(l *analysis.Loop) *round {
	after := newRound()
	latch := l.Header.PredIndex(l.Latches[0])
	for _, phi := range l.Header.Phis() {
		if n, ok := r.value(phi.Args[latch]); ok {
			after.known[phi] = n
		}
	}
	return after
}

// round computes values of a round of a loop, each once: there are twice as many ways to one with each between that is used
// twice.
type round struct {
	known   map[*ir.Value]int64 // counters at first
	unknown map[*ir.Value]bool
}

func newRound() *round { return &round{known: map[*ir.Value]int64{}, unknown: map[*ir.Value]bool{}} }

// value returns v where it is computed from constants and counters that are known.
func (r *round) value(v *ir.Value) (int64, bool) {
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

func (r *round) compute(v *ir.Value) (int64, bool) {
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

// rounds returns worlds with what vs are in the first rounds of the loop: in the same for both accesses, or
// in one and the next. The loop's own condition ends them where it is known.
func (k *kernel) rounds(l *analysis.Loop, vs []*ir.Value, same bool) []assignment {
	in := func(r *round) map[*ir.Value]int64 {
		m := map[*ir.Value]int64{}
		for _, v := range vs {
			if n, ok := r.value(v); ok {
				m[v] = n
			}
		}
		return m
	}
	var list []assignment
	r, _ := start(l)
	for range maxRounds {
		after := r.next(l)
		if r.leaves(l) {
			break
		}
		if same {
			list = append(list, assignment{in(r), in(r)})
		} else if !after.leaves(l) {
			list = append(list, assignment{in(r), in(after)})
		}
		r = after
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

// leaves reports whether the header is known to leave the loop in the round.
func (r *round) leaves(l *analysis.Loop) bool {
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
