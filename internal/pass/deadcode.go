package pass

import (
	"slices"
	"sync"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
	"github.com/gopherwarp/gopherwarp/internal/ir/edit"
)

// deadCode removes values that nothing needs, and stores to locals that are never read.
//
//	%3 = alloca i32
//	store %3, %0              ->  %5 = add i32 %0, %1
//	%4 = mul i32 %0, %1           store %2, %5
//	%5 = add i32 %0, %1
//	store %2, %5
func deadCode(f *ir.Func, _ *Options) {
	unread := unreadLocals(f)
	live := make([]bool, f.NumValues())
	var work []*ir.Value
	need := func(v *ir.Value) {
		if !live[v.ID] {
			live[v.ID] = true
			work = append(work, v)
		}
	}
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			if v.Op.Effect() && v.Op != ir.OpAlloca && !writesUnread(v, unread) {
				need(v)
			}
		}
	}
	for len(work) > 0 {
		v := work[len(work)-1]
		work = work[:len(work)-1]
		for _, a := range v.Args {
			need(a)
		}
	}
	for _, b := range f.Blocks {
		b.Values = slices.DeleteFunc(b.Values, func(v *ir.Value) bool { return !live[v.ID] })
	}
}

// unreadLocals returns, by ID, the allocas and addresses computed from them through which
// nothing is done but storing.
func unreadLocals(f *ir.Func) []bool {
	unread := make([]bool, f.NumValues())
	if !hasLocals(f) {
		return unread
	}
	read := make([]bool, f.NumValues()) // by ID of the alloca, or variable
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			moves := v.Op == ir.OpOffset || v.Op == ir.OpIndex
			for i, a := range v.Args {
				if x := analysis.Object(a); x != nil && !moves && (v.Op != ir.OpStore || i != 0) {
					read[x.ID] = true
				}
			}
		}
	}
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			x := analysis.Object(v)
			unread[v.ID] = x != nil && x.Op == ir.OpAlloca && !read[x.ID]
		}
	}
	return unread
}

func hasLocals(f *ir.Func) bool {
	for _, b := range f.Blocks {
		if slices.ContainsFunc(b.Values, func(v *ir.Value) bool { return v.Op == ir.OpAlloca }) {
			return true
		}
	}
	return false
}

func writesUnread(v *ir.Value, unread []bool) bool {
	return v.Op == ir.OpStore && unread[v.Args[0].ID]
}

// loopDeletion removes loops without effects that certainly terminate, such as what is left of
// clearing a local that is never read.
func loopDeletion(f *ir.Func, _ *Options) (changed bool) {
	users := sync.OnceValue(func() *userLists { return uses(f) })
	for _, l := range analysis.Loops(ir.Dominators(f)) {
		if exit := idle(l, users); exit != nil {
			for _, p := range l.Entries() {
				skip(p, l.Header, *exit)
			}
			edit.RemoveUnreachable(f)
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
			if v.Op.Effect() && !v.Op.Terminator() && !isUnroll(v) || v.Op == ir.OpFault || slices.ContainsFunc(users().of(v), outside) {
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
	c, ok := l.Counter()
	if !ok || e.From != l.Latches[0] || c.Next.Args[0] != c.Phi {
		return false
	}
	step, ok := analysis.IntConst(c.Step)
	return ok && step == 1
}

// skip leads p, which entered the loop at its header, to where the loop ends.
func skip(p, header *ir.Block, exit analysis.Exit) {
	at := exit.To.PredIndex(exit.From)
	edit.RemovePred(header, p)
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
