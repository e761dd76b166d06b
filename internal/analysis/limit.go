package analysis

import "github.com/gopherwarp/gopherwarp/internal/ir"

// An Induction is an induction variable: a phi of a loop's header that changes by an invariant in every iteration.
type Induction struct {
	Phi, Start *ir.Value // Start is nil if predecessors enter the loop with different values
	Next, Step *ir.Value // Step is invariant
	Falls      bool      // Next is Phi - Step, not Phi + Step
}

// Induction returns how a phi of the header changes. It reports false if it is not an induction variable.
func (l *Loop) Induction(phi *ir.Value) (Induction, bool) {
	start, next := l.PhiArgs(phi)
	if next == nil || next.Op != ir.OpAdd && next.Op != ir.OpSub {
		return Induction{}, false
	}
	for i, a := range next.Args {
		if step := next.Args[1-i]; a == phi && l.Invariant(step) && (i == 0 || next.Op == ir.OpAdd) {
			return Induction{phi, start, next, step, next.Op == ir.OpSub}, true
		}
	}
	return Induction{}, false
}

// A Limit is the condition under which a loop continues at its only latch. It compares the next value of an induction
// variable with an invariant:
//
//	header:
//		phi = phi start next
//		...
//	latch:
//		next = sub phi step
//		more = sle bound next
//		if more header exit
type Limit struct {
	Induction
	Op    ir.Op // Next Op Bound or, if Above, Bound Op Next
	Bound *ir.Value
	Above bool
}

// Limit returns the loop's limit. It reports false if there is none.
func (l *Loop) Limit() (Limit, bool) {
	if len(l.Latches) != 1 {
		return Limit{}, false
	}
	latch := l.Latches[0]
	t := latch.Term()
	if t.Op != ir.OpIf || latch.Succs[0] == latch.Succs[1] || !isCompare(t.Args[0].Op) {
		return Limit{}, false
	}
	compare := t.Args[0]
	for _, phi := range l.Header.Phis() {
		v, ok := l.Induction(phi)
		if !ok {
			continue
		}
		for i, next := range compare.Args {
			bound := compare.Args[1-i]
			if next != v.Next || !l.Invariant(bound) {
				continue
			}
			op, left := compare.Op, i == 0
			if latch.Succs[0] != l.Header {
				op, left = negate(op, left)
			}
			return Limit{v, op, bound, !left}, true
		}
	}
	return Limit{}, false
}

// Meeting returns the two induction variables of a loop that continues at its only latch while the next value of low is less
// than that of high. It reports false if there are none.
func (l *Loop) Meeting() (low, high Induction, ok bool) {
	if len(l.Latches) != 1 {
		return low, high, false
	}
	latch := l.Latches[0]
	t := latch.Term()
	if t.Op != ir.OpIf || latch.Succs[0] != l.Header || t.Args[0].Op != ir.OpSLt {
		return low, high, false
	}
	for _, phi := range l.Header.Phis() {
		switch v, ok := l.Induction(phi); {
		case !ok:
		case v.Next == t.Args[0].Args[0]:
			low = v
		case v.Next == t.Args[0].Args[1]:
			high = v
		}
	}
	return low, high, low.Phi != nil && high.Phi != nil
}
