package pass

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// licm moves what does not change in a loop in front of it: pure values, and from the part
// of the first round that always runs also checks, and loads that nothing in the loop can
// change. No check moves past another one or past anything that can be seen.
func licm(f *ir.Func, _ *Options) {
	addPreheaders(f)
	dom := ir.Dominators(f)
	for _, l := range analysis.Loops(dom) { // inner ones first
		if entries := l.Entries(); len(entries) == 1 && len(entries[0].Succs) == 1 {
			h := &hoister{loop: l, dom: dom, to: entries[0], out: map[*ir.Value]bool{}}
			h.run()
		}
	}
}

// addPreheaders gives every loop a block that leads nowhere but into it.
func addPreheaders(f *ir.Func) {
	for _, l := range analysis.Loops(ir.Dominators(f)) {
		if e := l.Entries(); len(e) == 1 && len(e[0].Succs) == 1 {
			continue
		}
		preheader(l)
	}
}

// preheader puts a new block between the loop and the blocks that enter it.
func preheader(l *analysis.Loop) *ir.Block {
	h := l.Header
	p := h.Func.NewBlock()
	for _, phi := range h.Phis() {
		merged := p.Append(ir.OpPhi, phi.Type)
		merged.Pos = phi.Pos
	}
	for i := 0; i < len(h.Preds); {
		from := h.Preds[i]
		if l.Contains(from) {
			i++
			continue
		}
		for k, phi := range h.Phis() {
			p.Values[k].Args = append(p.Values[k].Args, phi.Args[i])
			phi.Args = slices.Delete(phi.Args, i, i+1)
		}
		h.Preds = slices.Delete(h.Preds, i, i+1)
		from.Succs[slices.Index(from.Succs, h)] = p
		p.Preds = append(p.Preds, from)
	}
	phis := p.Values
	p.Append(ir.OpJump, ir.Void).Pos = h.Values[0].Pos
	p.AddEdge(h)
	for k, phi := range h.Phis() {
		phi.Args = append(phi.Args, phis[k])
	}
	return p
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
	certain := true // everything so far runs in the first round, and could be moved
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

// seenBefore reports whether something in the blocks that come later in the loop's order can be seen, and runs in front of b,
// which always runs: a loop in front of b is not dominated by b, and its body may come later, since the way out of the loop
// is not that through the body.
func (h *hoister) seenBefore(b *ir.Block, later []*ir.Block) bool {
	return slices.ContainsFunc(later, func(x *ir.Block) bool {
		return !h.dom.Dominates(b, x) && slices.ContainsFunc(x.Values, observable)
	})
}

// observable reports whether a fault in front of v could be told from one behind it.
func observable(v *ir.Value) bool {
	return v.Op.Effect() && v.Op != ir.OpStore && !v.Op.Terminator() || v.Op == ir.OpFault
}

// always reports whether b runs in the first round whatever happens.
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

// changes reports whether something in the loop may write where v loads.
func (h *hoister) changes(v *ir.Value) bool {
	return slices.ContainsFunc(h.writes, func(w *ir.Value) bool { return mayChange(w, v.Args[0]) })
}

func (h *hoister) move(v *ir.Value) {
	h.out[v] = true
	v.Block = h.to
	h.to.Values = slices.Insert(h.to.Values, len(h.to.Values)-1, v)
}
