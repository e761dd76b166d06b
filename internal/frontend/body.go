package frontend

import (
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/gopherwarp/gopherwarp/internal/diag"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// signature makes the parameters of a function that is not a kernel: its own, then the
// variables that a closure captures. Threads are left out.
func (l *lowerer) signature() {
	l.moveTo(l.fn.Pos())
	l.makeBlocks()
	for i, p := range l.fn.Params {
		l.param(p, int64(i))
	}
	for _, v := range l.fn.FreeVars {
		l.param(v, 0)
	}
	result, lack := tupleType(l.fn.Signature.Results())
	if lack != nil {
		l.lacks(lack)
	}
	l.f.Result = result
	for i, p := range l.f.Params {
		p.Imm = int64(i)
	}
}

func (l *lowerer) param(p ssa.Value, i int64) {
	l.guardValue(p, func() {
		l.moveTo(p.Pos())
		if !isThread(p.Type()) {
			l.values[p] = l.f.NewParam(l.typeOf(p), i)
			l.values[p].Pos = l.pos
			l.spillResult(p)
		}
	})
}

// guardValue is guard for a value that is not an instruction.
func (l *lowerer) guardValue(v ssa.Value, f func()) {
	ok := false
	l.guard(nil, func() { f(); ok = true })
	if !ok {
		l.missing[v] = true
	}
}

// makeBlocks makes the entry and the first block of each basic block.
func (l *lowerer) makeBlocks() {
	if len(l.fn.Blocks) > 0 && len(l.fn.Blocks[0].Preds) > 0 {
		l.f.NewBlock()
	}
	for _, b := range l.fn.Blocks {
		if l.live[b] {
			l.blocks[b] = &span{first: l.f.NewBlock()}
		}
	}
	if len(l.f.Blocks) == 0 {
		l.f.NewBlock()
	}
	l.cur = l.f.Blocks[0]
}

// body lowers the function's code.
func (l *lowerer) body() {
	if len(l.fn.Blocks) == 0 {
		l.missingBody()
		return
	}
	l.findDefers()
	if first := l.blocks[l.fn.Blocks[0]].first; first != l.f.Blocks[0] {
		l.jump(first)
	}
	l.lowerBlocks()
	entry := l.f.Blocks[0]
	entry.Values = slices.Concat(l.head, entry.Values)
}

// lowerBlocks lowers what is reached of the function's code.
func (l *lowerer) lowerBlocks() {
	l.findLists()
	for _, b := range l.fn.DomPreorder() {
		if !l.live[b] {
			continue
		}
		l.cur = l.blocks[b].first
		l.basicBlock(b)
		if l.u.problem != "" {
			return
		}
	}
	if !l.gaveUp {
		l.fillPhis()
	}
}

func (l *lowerer) missingBody() {
	l.guard(nil, func() {
		l.refuse(diag.LangNoSource, "write it in Go", "%s has no Go source", l.fn.Name())
	})
}

func (l *lowerer) basicBlock(b *ssa.BasicBlock) {
	l.block = b
	for _, in := range b.Instrs {
		if l.skip[in] {
			continue
		}
		l.moveTo(in.Pos())
		l.in = in
		l.guard(in, func() { l.instruction(in) })
		if l.u.problem != "" {
			return
		}
	}
}

// fillPhis gives the phis their arguments, in the order of the IR's predecessors.
func (l *lowerer) fillPhis() {
	for _, b := range l.fn.Blocks {
		if !l.live[b] {
			continue
		}
		preds := l.predecessors(b)
		for _, in := range b.Instrs {
			phi, ok := in.(*ssa.Phi)
			if !ok {
				break
			}
			if v := l.values[phi]; v != nil && v.Op == ir.OpPhi {
				l.fillPhi(v, phi, preds)
			}
		}
	}
}

func (l *lowerer) fillPhi(v *ir.Value, phi *ssa.Phi, preds []*ir.Block) {
	v.Args = make([]*ir.Value, len(v.Block.Preds))
	for i, e := range phi.Edges {
		if preds[i] == nil {
			continue
		}
		l.guard(nil, func() {
			v.Args[v.Block.PredIndex(preds[i])] = l.value(e)
		})
	}
}

// predecessors returns, for each predecessor of b in go/ssa, the IR block that leads to b, or
// nil if none does.
func (l *lowerer) predecessors(b *ssa.BasicBlock) []*ir.Block {
	preds := make([]*ir.Block, len(b.Preds))
	seen := map[*ssa.BasicBlock]int{} // how often p was met: an if may lead to b twice
	for i, p := range b.Preds {
		for k, s := range p.Succs {
			if l.live[p] && s == b && count(p.Succs[:k], b) == seen[p] {
				preds[i] = l.blocks[p].exits[k]
			}
		}
		seen[p]++
	}
	return preds
}

func count(blocks []*ssa.BasicBlock, b *ssa.BasicBlock) int {
	n := 0
	for _, x := range blocks {
		if x == b {
			n++
		}
	}
	return n
}

// branch ends the current block with op and leads to the successors of b.
func (l *lowerer) branch(b *ssa.BasicBlock, op ir.Op, args ...*ir.Value) {
	l.emit(op, ir.Void, args...)
	for k, succ := range b.Succs {
		exit := l.cur
		if slices.Contains(b.Succs[:k], succ) { // IR has no double edges
			exit = l.f.NewBlock()
			l.cur.AddEdge(exit)
			exit.Append(ir.OpJump, ir.Void)
		}
		exit.AddEdge(l.blocks[succ].first)
		l.blocks[b].exits = append(l.blocks[b].exits, exit)
	}
}

// conditional lowers an if; where the condition is constant, to a jump.
func (l *lowerer) conditional(in *ssa.If) {
	b := in.Block()
	k, ok := decided(b)
	if !ok {
		l.branch(b, ir.OpIf, l.value(in.Cond))
		return
	}
	l.jump(l.blocks[b.Succs[k]].first)
	l.blocks[b].exits = make([]*ir.Block, len(b.Succs))
	l.blocks[b].exits[k] = l.cur
}

func (l *lowerer) ret(in *ssa.Return) {
	if l.frame != nil {
		l.leave(in)
		return
	}
	args := l.operands(in.Results)
	if len(args) > 1 {
		args = []*ir.Value{l.emit(ir.OpStruct, l.f.Result, args...)}
	}
	l.emit(ir.OpRet, ir.Void, args...)
}
