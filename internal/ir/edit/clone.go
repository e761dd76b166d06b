package edit

import "github.com/gopherwarp/gopherwarp/internal/ir"

// A Cloner copies blocks into f. Values and blocks that are known to it are not
// copied but replaced; all others are added to those.
type Cloner struct {
	f       *ir.Func
	values  []*ir.Value // by ID of the original; nil for what stays
	blocks  []*ir.Block // likewise
	Returns []*ir.Value // the copied ret values
}

// NewCloner returns one of blocks that from has now.
func NewCloner(f, from *ir.Func) *Cloner {
	c := &Cloner{f: f}
	c.Begin(from)
	return c
}

// Begin makes c one of blocks that from has now.
func (c *Cloner) Begin(from *ir.Func) {
	c.values = append(c.values[:0], make([]*ir.Value, from.NumValues())...)
	c.blocks = append(c.blocks[:0], make([]*ir.Block, from.NumBlocks())...)
}

// Of returns the copy of v, or v where it was not copied.
func (c *Cloner) Of(v *ir.Value) *ir.Value {
	if v.ID < len(c.values) && c.values[v.ID] != nil {
		return c.values[v.ID]
	}
	return v
}

// Replace makes v's copy another value that is there already.
func (c *Cloner) Replace(v, by *ir.Value) { c.values[v.ID] = by }

// Block returns the copy of b.
func (c *Cloner) Block(b *ir.Block) *ir.Block { return c.blocks[b.ID] }

// newBlock adds the copy of b, as yet empty.
func (c *Cloner) newBlock(b *ir.Block) *ir.Block {
	n := c.f.NewBlock()
	n.Values, n.Apart = make([]*ir.Value, 0, len(b.Values)), b.Apart
	c.blocks[b.ID] = n
	return n
}

// Clone copies blocks. Edges between them are copied too, in order; edges that leave them
// keep their successor only if it is known.
func (c *Cloner) Clone(blocks []*ir.Block) {
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
func (c *Cloner) value(v *ir.Value) {
	n := c.blocks[v.Block.ID].Append(v.Op, v.Type, v.Args...)
	n.Imm, n.Aux, n.Pos = v.Imm, v.Aux, v.Pos
	c.values[v.ID] = n
	if v.Op == ir.OpRet {
		c.Returns = append(c.Returns, n)
	}
}

func (c *Cloner) mapArgs(v *ir.Value) {
	args := make([]*ir.Value, len(v.Args))
	for i, a := range v.Args {
		args[i] = c.Of(a)
	}
	v.Args = args
}

// CloneFunc returns a copy of f.
func CloneFunc(f *ir.Func) *ir.Func {
	g := ir.NewFunc(f.Name, f.Result)
	g.Kernel, g.ParamBytes, g.Block, g.Narrow, g.Coarse, g.Slices = f.Kernel, f.ParamBytes, f.Block, f.Narrow, f.Coarse, f.Slices
	g.Aligned, g.Notes = f.Aligned, f.Notes
	c := NewCloner(g, f)
	for _, p := range f.Params {
		c.values[p.ID] = g.NewParam(p.Type, p.Imm)
	}
	c.Clone(f.Blocks)
	return g
}
