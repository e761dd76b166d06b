package frontend

import (
	"go/constant"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// blockSet is a set of basic blocks.
type blockSet map[*ssa.BasicBlock]bool

// liveBlocks returns the blocks that are reached where conditions that are constants have been
// decided: what a constant switches off may use what kernels do not have.
func liveBlocks(fn *ssa.Function) blockSet {
	if len(fn.Blocks) == 0 {
		return nil
	}
	return from(fn.Blocks[:1], nil, func(b *ssa.BasicBlock) []*ssa.BasicBlock {
		if k, ok := decided(b); ok {
			return b.Succs[k : k+1]
		}
		return b.Succs
	})
}

// decided returns the successor that b always goes to, where its condition is constant.
func decided(b *ssa.BasicBlock) (succ int, ok bool) {
	in, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If)
	if !ok {
		return 0, false
	}
	c, ok := in.Cond.(*ssa.Const)
	if !ok {
		return 0, false
	}
	return pick(constant.BoolVal(c.Value), 0, 1), true
}

// inLoops returns the blocks of fn that can reach themselves, also through jumps by goto
// that form no natural loop.
func inLoops(fn *ssa.Function) blockSet {
	loops := blockSet{}
	for _, b := range fn.Blocks {
		loops[b] = from(b.Succs, nil, successors)[b]
	}
	return loops
}

func successors(b *ssa.BasicBlock) []*ssa.BasicBlock   { return b.Succs }
func predecessors(b *ssa.BasicBlock) []*ssa.BasicBlock { return b.Preds }

// from returns the blocks that are reached from start by next, without passing stop.
func from(start []*ssa.BasicBlock, stop *ssa.BasicBlock, next func(*ssa.BasicBlock) []*ssa.BasicBlock) blockSet {
	seen := blockSet{}
	if stop != nil {
		seen[stop] = true
	}
	work := slices.Clone(start)
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		if !seen[b] {
			seen[b] = true
			work = append(work, next(b)...)
		}
	}
	return seen
}

// isBackEdge reports whether the edge from p to b closes a natural loop with header b.
func isBackEdge(p, b *ssa.BasicBlock) bool { return b.Dominates(p) }

// naturalLoops returns the bodies of fn's loops. Back edges to one header are one loop: a round
// may end in several ways.
func naturalLoops(fn *ssa.Function) []blockSet {
	var loops []blockSet
	for _, b := range fn.Blocks {
		var ends []*ssa.BasicBlock
		for _, p := range b.Preds {
			if isBackEdge(p, b) {
				ends = append(ends, p)
			}
		}
		if len(ends) > 0 {
			loops = append(loops, from(ends, b, predecessors))
		}
	}
	return loops
}
