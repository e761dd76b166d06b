package frontend

import (
	"slices"

	"golang.org/x/tools/go/ssa"
)

// blockSet is a set of basic blocks.
type blockSet map[*ssa.BasicBlock]bool

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
	seen := blockSet{stop: stop != nil}
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

// naturalLoops returns the bodies of fn's loops.
func naturalLoops(fn *ssa.Function) []blockSet {
	var loops []blockSet
	for _, b := range fn.Blocks {
		for _, p := range b.Preds {
			if isBackEdge(p, b) {
				loops = append(loops, from([]*ssa.BasicBlock{p}, b, predecessors))
			}
		}
	}
	return loops
}
