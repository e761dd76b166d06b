package ir

import "slices"

// Split moves b.Values[at:] and the successors of b to a new block, which it returns. Then b has no
// terminator and the new block has no predecessors.
func (b *Block) Split(at int) *Block {
	rest := b.Func.NewBlock()
	rest.Apart = b.Apart
	rest.Values = append(rest.Values, b.Values[at:]...)
	for _, v := range rest.Values {
		v.Block = rest
	}
	b.Values = b.Values[:at:at]
	rest.Succs, b.Succs = b.Succs, nil
	for _, s := range rest.Succs {
		s.Preds[s.PredIndex(b)] = rest
	}
	return rest
}

// SplitEdge inserts an empty block between b and its successor i, and returns it.
func (b *Block) SplitEdge(i int) *Block {
	s := b.Succs[i]
	m := b.Func.NewBlock()
	m.Apart = b.Apart || s.Apart
	m.Append(OpJump, Void).Pos = b.Term().Pos
	m.Preds, m.Succs = []*Block{b}, []*Block{s}
	s.Preds[s.PredIndex(b)] = m
	b.Succs[i] = m
	return m
}

// SplitPreds inserts a block between b and those of its predecessors that moves selects, and returns
// it. The block has a phi for each phi of b.
func (b *Block) SplitPreds(moves func(p *Block) bool) *Block {
	p := b.Func.NewBlock()
	p.Apart = b.Apart
	for _, phi := range b.Phis() {
		p.Append(OpPhi, phi.Type).Pos = phi.Pos
	}
	for i := 0; i < len(b.Preds); {
		from := b.Preds[i]
		if !moves(from) {
			i++
			continue
		}
		for k, phi := range b.Phis() {
			p.Values[k].Args = append(p.Values[k].Args, phi.Args[i])
			phi.Args = slices.Delete(phi.Args, i, i+1)
		}
		b.Preds = slices.Delete(b.Preds, i, i+1)
		from.Succs[slices.Index(from.Succs, b)] = p
		p.Preds = append(p.Preds, from)
	}
	for k, phi := range b.Phis() {
		phi.Args = append(phi.Args, p.Values[k])
	}
	p.Append(OpJump, Void).Pos = b.Values[0].Pos
	p.AddEdge(b)
	return p
}
