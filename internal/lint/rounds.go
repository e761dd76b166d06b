package lint

import (
	"maps"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// counted reports whether v is known in each round of the loop: it is computed from counters that begin with
// constants.
func (k *kernel) counted(v *ir.Value, l *analysis.Loop) bool {
	env, ok := start(l)
	if !ok {
		return false
	}
	_, ok = value(v, env)
	return ok
}

// start returns the loop's counters as they are in its first round. Those that do not begin with a constant
// are missing.
func start(l *analysis.Loop) (map[*ir.Value]int64, bool) {
	if len(l.Entries()) != 1 || len(l.Latches) != 1 {
		return nil, false
	}
	env := map[*ir.Value]int64{}
	entry := l.Header.PredIndex(l.Entries()[0])
	for _, phi := range l.Header.Phis() {
		if a := phi.Args[entry]; a.Op == ir.OpConst {
			env[phi] = a.Imm
		}
	}
	return env, true
}

// next returns the counters in the round after.
func next(l *analysis.Loop, env map[*ir.Value]int64) map[*ir.Value]int64 {
	after := map[*ir.Value]int64{}
	latch := l.Header.PredIndex(l.Latches[0])
	for _, phi := range l.Header.Phis() {
		if n, ok := value(phi.Args[latch], env); ok {
			after[phi] = n
		}
	}
	return after
}

// value returns v where it is computed from constants and from what env has.
func value(v *ir.Value, env map[*ir.Value]int64) (int64, bool) {
	r := &round{known: maps.Clone(env), unknown: map[*ir.Value]bool{}}
	return r.value(v)
}

// round computes values of a round, each once: there are twice as many ways to one with each between that is used twice.
type round struct {
	known   map[*ir.Value]int64
	unknown map[*ir.Value]bool
}

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
func (k *kernel) rounds(l *analysis.Loop, vs []*ir.Value, same bool) []world {
	in := func(env map[*ir.Value]int64) map[*ir.Value]int64 {
		m := map[*ir.Value]int64{}
		for _, v := range vs {
			if n, ok := value(v, env); ok {
				m[v] = n
			}
		}
		return m
	}
	var list []world
	env, _ := start(l)
	for range maxRounds {
		after := next(l, env)
		if leaves(l, env) {
			break
		}
		if same {
			list = append(list, world{in(env), in(env)})
		} else if !leaves(l, after) {
			list = append(list, world{in(env), in(after)})
		}
		env = after
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

// leaves reports whether the header is known to leave the loop in a round.
func leaves(l *analysis.Loop, env map[*ir.Value]int64) bool {
	t := l.Header.Term()
	if t.Op != ir.OpIf {
		return false
	}
	c, ok := value(t.Args[0], env)
	if !ok {
		return false
	}
	to := l.Header.Succs[1]
	if c != 0 {
		to = l.Header.Succs[0]
	}
	return !l.Contains(to)
}
