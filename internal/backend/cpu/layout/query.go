package layout

import (
	"fmt"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// RootOf returns what the pointer v is computed from.
func (p *Placement) RootOf(v *ir.Value) *ir.Value {
	if v.Op == ir.OpParam {
		return v
	}
	return p.Root[v]
}

// KeptAtEnd reports whether v is known at every end of its region.
func (p *Placement) KeptAtEnd(v *ir.Value) bool {
	for _, b := range p.Of[v.Block.ID].Blocks {
		if p.Ends(b) && !p.Dom.Dominates(v.Block, b) {
			return false
		}
	}
	return true
}

// Ends reports whether threads go from b to another region.
func (p *Placement) Ends(b *ir.Block) bool {
	if p.Together[b] {
		return true
	}
	for _, s := range b.Succs {
		if p.Of[s.ID].First == s && !p.Uni.Leaves(b, s) {
			return true
		}
	}
	return false
}

// MovesAlike reports whether the second operand of a shuffle is known to the warp before its threads run.
func (p *Placement) MovesAlike(v *ir.Value) bool {
	return v.Op != ir.OpShuffle && p.Level[v.Args[1].ID] <= PerBlock
}

// Written reports by block ID before which blocks of g something may have been written there.
func (p *Placement) Written(g *Region) []bool {
	found := make([]bool, len(p.Of))
	for changed := true; changed; {
		changed = false
		for _, b := range g.Blocks {
			if found[b.ID] || b == g.First {
				continue
			}
			for _, q := range b.Preds {
				if p.Of[q.ID] == g && (found[q.ID] || slices.ContainsFunc(q.Values, func(v *ir.Value) bool { return v.Op == ir.OpStore })) {
					found[b.ID], changed = true, true
				}
			}
		}
	}
	return found
}

// GraphOf returns the graph of g, where some branches are known to go to the successor with that index.
func (p *Placement) GraphOf(g *Region, known map[*ir.Block]int) (*Node, error) {
	nodes := map[*ir.Block]*Node{}
	for _, b := range g.Blocks {
		nodes[b] = &Node{Block: b}
	}
	for _, b := range g.Blocks {
		n := nodes[b]
		switch {
		case p.Together[b] || b.Term().Op == ir.OpRet:
			n.Succs = []*Node{nil}
			continue
		}
		for _, s := range b.Succs {
			if p.Of[s.ID] == g && s != g.First {
				n.Succs = append(n.Succs, nodes[s])
			} else {
				n.Succs = append(n.Succs, nil)
			}
		}
		if i, ok := known[b]; ok {
			n.Succs = n.Succs[i : i+1]
		}
	}
	entry := nodes[g.First]
	if !Analyse(entry) {
		return nil, fmt.Errorf("a loop has two entries")
	}
	return entry, nil
}

// Truncated returns the bits of an integer constant as a signed number.
func Truncated(v *ir.Value) int64 {
	n := 64 - v.Type.Bits()
	return v.Imm << n >> n
}
