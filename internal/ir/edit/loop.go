package edit

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// DemoteLiveOuts brings the values of the loop that are used outside of it into locals, so
// that copies of the loop can define them too.
func DemoteLiveOuts(l *analysis.Loop) {
	inside := func(u *ir.Value, i int) bool {
		if u.Op == ir.OpPhi {
			return l.Contains(u.Block.Preds[i])
		}
		return l.Contains(u.Block)
	}
	out := make([]bool, l.Header.Func.NumValues()) // by ID: what is used outside
	for _, b := range l.Header.Func.Blocks {
		within := l.Contains(b)
		for _, u := range b.Values {
			if within && u.Op != ir.OpPhi {
				continue
			}
			for i, a := range u.Args {
				out[a.ID] = out[a.ID] || !inside(u, i)
			}
		}
	}
	var values []*ir.Value
	for _, b := range l.Blocks {
		for _, v := range b.Values {
			if out[v.ID] && v.Type.Kind != ir.KindVoid && v.Op != ir.OpAlloca {
				values = append(values, v)
			}
		}
	}
	Demote(values, inside)
}

// CopyLoop copies the blocks of a loop whose live-outs are demoted. The copy is entered where
// the loop was entered, its exits lead where those of the loop lead; its back edges are those
// of the loop, led to the loop's header. The original is entered through them alone.
func (c *Cloner) CopyLoop(l *analysis.Loop) {
	for _, b := range l.Blocks {
		c.newBlock(b)
	}
	for _, b := range l.Blocks {
		for _, v := range b.Values {
			c.value(v)
		}
	}
	for _, b := range l.Blocks {
		n := c.blocks[b.ID]
		if b != l.Header {
			for _, v := range n.Values {
				c.mapArgs(v)
			}
			for _, p := range b.Preds {
				n.Preds = append(n.Preds, c.blocks[p.ID])
			}
		}
	}
	for _, b := range l.Blocks {
		for _, s := range b.Succs {
			c.edge(l, b, s)
		}
	}
	c.moveEntries(l)
}

// edge copies the edge from b to s.
func (c *Cloner) edge(l *analysis.Loop, b, s *ir.Block) {
	n := c.blocks[b.ID]
	if s != l.Header && l.Contains(s) {
		n.Succs = append(n.Succs, c.blocks[s.ID])
		return
	}
	k := s.PredIndex(b)
	n.AddEdge(s)
	for _, phi := range s.Phis() {
		phi.Args = append(phi.Args, c.Of(phi.Args[k]))
	}
}

// moveEntries leads those who enter the loop to the copied header.
func (c *Cloner) moveEntries(l *analysis.Loop) {
	h := l.Header
	n := c.blocks[h.ID]
	for i, phi := range n.Phis() {
		phi.Args = nil
		for k, a := range h.Phis()[i].Args {
			if c.enters(l, h.Preds[k]) {
				phi.Args = append(phi.Args, a)
			}
		}
	}
	for _, v := range n.Values[len(n.Phis()):] {
		c.mapArgs(v)
	}
	for _, p := range slices.Clone(h.Preds) {
		if c.enters(l, p) {
			RemovePred(h, p)
			p.Succs[slices.Index(p.Succs, h)] = n
			n.Preds = append(n.Preds, p)
		}
	}
}

// enters reports whether p entered the loop before it was copied.
func (c *Cloner) enters(l *analysis.Loop, p *ir.Block) bool {
	if l.Contains(p) {
		return false
	}
	for _, latch := range l.Latches {
		if c.blocks[latch.ID] == p {
			return false
		}
	}
	return true
}

// CopyWhole copies a loop whose live-outs are demoted, with its back edges; entry, the only
// block that enters the loop, stays before it, and other enters the copy, whose blocks it returns.
func CopyWhole(l *analysis.Loop, entry, other *ir.Block) (copies []*ir.Block) {
	c := NewCloner(l.Header.Func, l.Header.Func)
	c.blocks[entry.ID] = other
	for _, b := range l.Blocks {
		copies = append(copies, c.newBlock(b))
	}
	for _, b := range l.Blocks {
		for _, v := range b.Values {
			c.value(v)
		}
	}
	other.Succs = []*ir.Block{c.blocks[l.Header.ID]}
	for _, b := range l.Blocks {
		n := c.blocks[b.ID]
		for _, v := range n.Values {
			c.mapArgs(v)
		}
		for _, p := range b.Preds {
			n.Preds = append(n.Preds, c.blocks[p.ID])
		}
		for _, s := range b.Succs {
			if l.Contains(s) {
				n.Succs = append(n.Succs, c.blocks[s.ID])
			} else {
				c.edge(l, b, s)
			}
		}
	}
	return copies
}

// CopyHeader makes a copy of the header for those that enter the loop; the header itself is
// left to the latches. The values it defines are in locals, so only phis need care.
func CopyHeader(l *analysis.Loop) {
	h := l.Header
	c := NewCloner(h.Func, h.Func)
	first := c.newBlock(h)
	for _, v := range h.Values {
		c.value(v)
	}
	for _, v := range first.Values[len(h.Phis()):] {
		c.mapArgs(v)
	}
	for i, phi := range first.Phis() {
		phi.Args = nil
		old := h.Phis()[i]
		for k, a := range slices.Clone(old.Args) {
			if !l.Contains(h.Preds[k]) {
				phi.Args = append(phi.Args, a)
			}
		}
	}
	for _, p := range l.Entries() {
		i := slices.Index(p.Succs, h)
		RemovePred(h, p)
		p.Succs[i] = first
		first.Preds = append(first.Preds, p)
	}
	for _, s := range h.Succs {
		k := s.PredIndex(h)
		first.AddEdge(s)
		for _, phi := range s.Phis() {
			phi.Args = append(phi.Args, c.Of(phi.Args[k]))
		}
	}
}
