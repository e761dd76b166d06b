package pass

import "github.com/gopherwarp/gopherwarp/internal/ir"

// A cloner copies blocks into f. Values and blocks that are known to it are not
// copied but replaced; all others are added to those.
type cloner struct {
	f       *ir.Func
	values  []*ir.Value // by ID of the original; nil for what stays
	blocks  []*ir.Block // likewise
	returns []*ir.Value // the copied ret values
}

// newCloner returns one of blocks that from has now.
func newCloner(f, from *ir.Func) *cloner {
	c := &cloner{f: f}
	c.begin(from)
	return c
}

// begin makes c one of blocks that from has now.
func (c *cloner) begin(from *ir.Func) {
	c.values = append(c.values[:0], make([]*ir.Value, from.NumValues())...)
	c.blocks = append(c.blocks[:0], make([]*ir.Block, from.NumBlocks())...)
}

// of returns the copy of v, or v where it was not copied.
func (c *cloner) of(v *ir.Value) *ir.Value {
	if v.ID < len(c.values) && c.values[v.ID] != nil {
		return c.values[v.ID]
	}
	return v
}

// newBlock adds the copy of b, as yet empty.
func (c *cloner) newBlock(b *ir.Block) *ir.Block {
	n := c.f.NewBlock()
	n.Values, n.Apart = make([]*ir.Value, 0, len(b.Values)), b.Apart
	c.blocks[b.ID] = n
	return n
}

// clone copies blocks. Edges between them are copied too, in order; edges that leave them
// keep their successor only if it is known.
func (c *cloner) clone(blocks []*ir.Block) {
	for _, b := range blocks {
		c.newBlock(b).Cold = b.Cold
	}
	for _, b := range blocks {
		for _, v := range b.Values {
			c.value(v)
		}
	}
	for _, b := range blocks {
		n := c.blocks[b.ID]
		for _, v := range n.Values {
			c.mapArgs(v)
		}
		for _, s := range b.Succs {
			n.Succs = append(n.Succs, c.blocks[s.ID])
		}
		for _, p := range b.Preds {
			n.Preds = append(n.Preds, c.blocks[p.ID])
		}
	}
}

// value copies v with its old arguments.
func (c *cloner) value(v *ir.Value) {
	n := c.blocks[v.Block.ID].Append(v.Op, v.Type, v.Args...)
	n.Imm, n.Aux, n.Pos = v.Imm, v.Aux, v.Pos
	c.values[v.ID] = n
	if v.Op == ir.OpRet {
		c.returns = append(c.returns, n)
	}
}

func (c *cloner) mapArgs(v *ir.Value) {
	args := make([]*ir.Value, len(v.Args))
	for i, a := range v.Args {
		args[i] = c.of(a)
	}
	v.Args = args
}

// cloneFunc returns a copy of f.
func cloneFunc(f *ir.Func) *ir.Func {
	g := ir.NewFunc(f.Name, f.Result)
	g.Kernel, g.ParamBytes, g.Block, g.Narrow, g.Coarse, g.Slices = f.Kernel, f.ParamBytes, f.Block, f.Narrow, f.Coarse, f.Slices
	g.Aligned, g.Notes = f.Aligned, f.Notes
	c := newCloner(g, f)
	for _, p := range f.Params {
		c.values[p.ID] = g.NewParam(p.Type, p.Imm)
	}
	c.clone(f.Blocks)
	return g
}
