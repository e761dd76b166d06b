package pass

import (
	"slices"
	"sync"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// loopDeletion removes loops without effects that certainly terminate, such as what is left of
// clearing a local that is never read.
func loopDeletion(f *ir.Func, _ *Options) (changed bool) {
	users := sync.OnceValue(func() *userLists { return uses(f) })
	for _, l := range analysis.Loops(ir.Dominators(f)) {
		if exit := idle(l, users); exit != nil {
			for _, p := range l.Entries() {
				skip(p, l.Header, *exit)
			}
			removeUnreachable(f)
			return true // the others may contain this one
		}
	}
	return false
}

// idle returns the exit of a loop that has exactly one exit, no effects, no values used outside
// and a known end; otherwise nil.
func idle(l *analysis.Loop, users func() *userLists) *analysis.Exit {
	exits := l.Exits()
	for _, p := range l.Entries() {
		if len(p.Succs) != 1 { // a second edge to the exit could be twice the same
			return nil
		}
	}
	if len(exits) != 1 || exits[0].From.Term().Op != ir.OpIf || !ends(l, exits[0]) {
		return nil
	}
	for _, b := range l.Blocks {
		for _, v := range b.Values {
			outside := func(u *ir.Value) bool { return !l.Contains(u.Block) }
			if v.Op.Effect() && !v.Op.Terminator() || v.Op == ir.OpFault || slices.ContainsFunc(users().of(v), outside) {
				return nil
			}
		}
	}
	return &exits[0]
}

// ends reports whether the loop counts in steps of one up to an invariant, or runs a small
// known number of times.
func ends(l *analysis.Loop, e analysis.Exit) bool {
	if tripCount(l) > 0 {
		return true
	}
	c := e.From.Term().Args[0]
	if e.From.Succs[1] != e.To || c.Op != ir.OpSLt && c.Op != ir.OpULt || len(l.Latches) != 1 || l.Latches[0] != e.From {
		return false
	}
	bound := c.Args[1]
	if bound.Block != nil && l.Contains(bound.Block) {
		return false
	}
	return slices.ContainsFunc(l.Header.Phis(), func(phi *ir.Value) bool {
		_, next := phiArgs(l, phi)
		step, ok := int64(0), false
		if next != nil {
			step, ok = constArg(next, ir.OpAdd)
		}
		return ok && step == 1 && next.Args[0] == phi && next == c.Args[0]
	})
}

// skip leads p, which entered the loop at its header, to where the loop ends.
func skip(p, header *ir.Block, exit analysis.Exit) {
	at := exit.To.PredIndex(exit.From)
	removePred(header, p)
	for i, s := range p.Succs {
		if s == header {
			p.Succs[i] = exit.To
		}
	}
	exit.To.Preds = append(exit.To.Preds, p)
	for _, phi := range exit.To.Phis() {
		phi.Args = append(phi.Args, phi.Args[at])
	}
}
