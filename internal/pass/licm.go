package pass

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// licm (loop-invariant code motion) moves invariant values to the preheader: pure values and, from the
// part of the first iteration that always runs, checks and loads that nothing in the loop can change.
// No check moves past another one or past any other observable effect.
func licm(f *ir.Func, _ *Options) {
	addPreheaders(f)
	dom := ir.Dominators(f)
	for _, l := range analysis.Loops(dom) { // inner ones first
		if p := l.Preheader(); p != nil {
			h := &hoister{loop: l, dom: dom, to: p, out: map[*ir.Value]bool{}}
			h.run()
		}
	}
}

// addPreheaders gives every loop a preheader.
func addPreheaders(f *ir.Func) {
	for _, l := range analysis.Loops(ir.Dominators(f)) {
		if l.Preheader() == nil {
			l.Header.SplitPreds(func(p *ir.Block) bool { return !l.Contains(p) })
		}
	}
}

// A hoister moves values out of one loop.
type hoister struct {
	loop *analysis.Loop
	dom  *ir.Dom
	to   *ir.Block
	out  map[*ir.Value]bool // values that have moved
	// writes are the values in the loop that change memory.
	writes []*ir.Value
}

func (h *hoister) run() {
	for _, b := range h.loop.Blocks {
		for _, v := range b.Values {
			if v.Op.Writes() {
				h.writes = append(h.writes, v)
			}
		}
	}
	certain := true // everything so far runs in the first iteration, and could be moved
	for i, b := range h.loop.Blocks {
		runs := certain && h.always(b) && !h.seenBefore(b, h.loop.Blocks[i+1:])
		var keep []*ir.Value
		for _, v := range b.Values {
			if h.movable(v, runs && certain) {
				h.move(v)
				continue
			}
			keep = append(keep, v)
			certain = certain && !observable(v)
		}
		b.Values = keep
	}
}

// seenBefore reports whether an observable effect in the blocks later in the loop's order may precede b,
// which always runs: b does not dominate a loop before it, whose body may come later in the order,
// since the way out of that loop is not through its body.
func (h *hoister) seenBefore(b *ir.Block, later []*ir.Block) bool {
	return slices.ContainsFunc(later, func(x *ir.Block) bool {
		return !h.dom.Dominates(b, x) && slices.ContainsFunc(x.Values, observable)
	})
}

// observable reports whether a fault before v could be distinguished from one after it.
func observable(v *ir.Value) bool {
	return v.Op.Effect() && v.Op != ir.OpStore && !v.Op.Terminator() || v.Op == ir.OpFault
}

// always reports whether b runs in the first iteration under all conditions.
func (h *hoister) always(b *ir.Block) bool {
	for _, l := range h.loop.Latches {
		if !h.dom.Dominates(b, l) {
			return false
		}
	}
	for _, e := range h.loop.Exits() {
		if e.From != b && !h.dom.Dominates(b, e.From) {
			return false
		}
	}
	for _, x := range h.loop.Blocks {
		if x.Term().Op == ir.OpFault && !h.dom.Dominates(b, x) {
			return false
		}
	}
	return true
}

// movable reports whether v is invariant and may move; certain says that it runs in every first iteration.
func (h *hoister) movable(v *ir.Value, certain bool) bool {
	if v.Op == ir.OpPhi || v.Op.Terminator() {
		return false
	}
	for _, a := range v.Args {
		if a.Block != nil && h.loop.Contains(a.Block) && !h.out[a] {
			return false
		}
	}
	switch {
	case v.Op.Pure():
		return true
	case v.Op == ir.OpCheck:
		return certain
	case v.Op == ir.OpLoad:
		return certain && !h.changes(v)
	}
	return false
}

// changes reports whether an operation in the loop may write to the address of load v.
func (h *hoister) changes(v *ir.Value) bool {
	return slices.ContainsFunc(h.writes, func(w *ir.Value) bool { return mayChange(w, v) })
}

// move moves v to the preheader.
func (h *hoister) move(v *ir.Value) {
	h.out[v] = true
	v.Block = h.to
	h.to.Values = slices.Insert(h.to.Values, len(h.to.Values)-1, v)
}
