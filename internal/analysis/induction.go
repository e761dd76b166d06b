package analysis

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// A Counter is an induction variable that decides at a loop's only latch whether the loop goes on:
//
//	header:
//		phi = phi start next
//		...
//	latch:
//		next = add phi step
//		less = slt next bound
//		if less header exit
type Counter struct {
	Phi, Start  *ir.Value // Start is nil if predecessors enter the loop with different values
	Next, Step  *ir.Value // Step is invariant
	Less, Bound *ir.Value // a signed or unsigned comparison with an invariant
}

// Counter returns the loop's counter. It reports false if there is none.
func (l *Loop) Counter() (Counter, bool) {
	if len(l.Latches) != 1 {
		return Counter{}, false
	}
	t := l.Latches[0].Term()
	if t.Op != ir.OpIf || l.Latches[0].Succs[0] != l.Header {
		return Counter{}, false
	}
	less := t.Args[0]
	if less.Op != ir.OpSLt && less.Op != ir.OpULt || less.Args[0].Op != ir.OpAdd || !l.Invariant(less.Args[1]) {
		return Counter{}, false
	}
	next := less.Args[0]
	for _, phi := range l.Header.Phis() {
		start, n := l.PhiArgs(phi)
		if n != next {
			continue
		}
		for i, a := range next.Args {
			if step := next.Args[1-i]; a == phi && l.Invariant(step) {
				return Counter{phi, start, next, step, less, less.Args[1]}, true
			}
		}
	}
	return Counter{}, false
}

// Invariant reports whether v is computed outside the loop.
func (l *Loop) Invariant(v *ir.Value) bool { return v.Block == nil || !l.Contains(v.Block) }

// TripCount returns how often the header of the loop runs at most, where an exit that is in every
// iteration determines that with constants; 0 if it is unknown or above limit.
func (l *Loop) TripCount(limit int) int {
	for _, e := range l.Exits() {
		if n := l.ExitCount(e, limit); n > 0 {
			return n
		}
	}
	return 0
}

// ExitCount is TripCount by one exit: the loop leaves there in that iteration, if not before.
func (l *Loop) ExitCount(e Exit, limit int) int {
	t := e.From.Term()
	if t.Op != ir.OpIf {
		return 0
	}
	s := counterSimulator{leave: t.Args[0], holds: e.From.Succs[0] == e.To, limit: limit}
	if n := s.tripCount(l); n > 0 && l.InEveryIteration(e.From) {
		return n
	}
	return 0
}

// InEveryIteration reports whether no path around the loop avoids b.
func (l *Loop) InEveryIteration(b *ir.Block) bool {
	seen := map[*ir.Block]bool{b: true}
	var around func(x *ir.Block) bool
	around = func(x *ir.Block) bool {
		if seen[x] {
			return false
		}
		seen[x] = true
		return slices.ContainsFunc(x.Succs, func(s *ir.Block) bool { return s == l.Header || l.Contains(s) && around(s) })
	}
	return !around(l.Header)
}

// A counterSimulator runs a loop's induction variable until the condition that leaves the loop holds.
type counterSimulator struct {
	leave *ir.Value
	holds bool // what leave is when the loop ends
	limit int  // of the trip count
}

// tripCount returns the trip count of l by the first of its induction variables that determines it, or 0.
func (p counterSimulator) tripCount(l *Loop) int {
	for _, phi := range l.Header.Phis() {
		if !phi.Type.IsInt() {
			continue
		}
		start, next := l.PhiArgs(phi)
		for start != nil && start.Op == ir.OpPhi && len(start.Args) == 1 {
			start = start.Args[0] // a phi of a preheader
		}
		if start == nil || start.Op != ir.OpConst {
			continue
		}
		if n := p.simulate(phi, start, next); n > 0 {
			return n
		}
	}
	return 0
}

// PhiArgs returns the arguments of a phi of the header from outside the loop and from its
// latches; nil if there are several.
func (l *Loop) PhiArgs(phi *ir.Value) (start, next *ir.Value) {
	for i, a := range phi.Args {
		to := &start
		if l.Contains(phi.Block.Preds[i]) {
			to = &next
		}
		if *to != nil && *to != a {
			return nil, nil
		}
		*to = a
	}
	return start, next
}

// simulate runs the phi from start, with the value next in the next iteration, and returns the trip count, 0 if unknown.
func (p counterSimulator) simulate(phi, start, next *ir.Value) int {
	if next == nil {
		return 0
	}
	now := start.Imm
	for n := 1; n <= p.limit; n++ {
		cond, ok := Evaluate(p.leave, phi, now, 4)
		if !ok {
			return 0
		}
		if (cond&1 == 1) == p.holds {
			return n
		}
		if now, ok = Evaluate(next, phi, now, 4); !ok {
			return 0
		}
	}
	return 0
}

// Evaluate computes v, through at most depth operations, where phi has the value now.
func Evaluate(v, phi *ir.Value, now int64, depth int) (int64, bool) {
	switch {
	case v == phi:
		return now, true
	case v.Op == ir.OpConst:
		return v.Imm, true
	case depth == 0 || !foldable(v):
		return 0, false
	}
	var x [3]int64
	for i, a := range v.Args {
		k, ok := Evaluate(a, phi, now, depth-1)
		if !ok {
			return 0, false
		}
		x[i] = k
	}
	return foldWith(v, x)
}
