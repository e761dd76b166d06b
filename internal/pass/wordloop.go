package pass

import "github.com/gopherwarp/gopherwarp/internal/ir"

// A word loop walks over memory of one type in units as wide as the type is aligned.
type wordLoop struct {
	unit  *ir.Type
	count int64
}

func wordsOf(t *ir.Type) wordLoop {
	unit := map[int64]*ir.Type{1: ir.I8, 2: ir.I16, 4: ir.I32, 8: ir.I64}[t.Align()]
	return wordLoop{unit, t.Size() / unit.Size()}
}

// insert puts the loop in front of value at of b. The body gets the word's number, an i32. It
// returns the block with the values from at on.
func (w wordLoop) insert(b *ir.Block, at int, body func(e *editor, i *ir.Value)) *ir.Block {
	pos := b.Values[at].Pos
	done := splitBlock(b, at)
	loop := b.Func.NewBlock()

	h := &editor{b: b, out: b.Values, pos: pos}
	start, one := h.constant(ir.I32, 0), h.constant(ir.I32, 1)
	count := h.constant(ir.I32, w.count)
	h.make(ir.OpJump, ir.Void)
	b.Values = h.out
	b.AddEdge(loop)

	e := &editor{b: loop, pos: pos}
	i := e.make(ir.OpPhi, ir.I32)
	body(e, i)
	next := e.make(ir.OpAdd, ir.I32, i, one)
	e.make(ir.OpIf, ir.Void, e.make(ir.OpULt, ir.I1, next, count))
	loop.Values = e.out
	loop.AddEdge(loop)
	loop.AddEdge(done)
	i.Args = []*ir.Value{start, next}
	return done
}

// word returns the address of word i behind p.
func (w wordLoop) word(e *editor, p, i *ir.Value) *ir.Value {
	return e.makeImm(ir.OpIndex, p.Type, w.unit.Size(), p, i)
}

// clear stores zeros behind p in front of value at of b.
func (w wordLoop) clear(b *ir.Block, at int, p *ir.Value) *ir.Block {
	return w.insert(b, at, func(e *editor, i *ir.Value) {
		e.make(ir.OpStore, ir.Void, w.word(e, p, i), e.constant(w.unit, 0))
	})
}

// copy copies what is behind src to dst, in front of value at of b.
func (w wordLoop) copy(b *ir.Block, at int, ends [2]*ir.Value) *ir.Block {
	return w.insert(b, at, func(e *editor, i *ir.Value) {
		v := e.make(ir.OpLoad, w.unit, w.word(e, ends[1], i))
		e.make(ir.OpStore, ir.Void, w.word(e, ends[0], i), v)
	})
}
