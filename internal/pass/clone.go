package pass

import "github.com/gopherwarp/gopherwarp/internal/ir"

// A cloner copies blocks into f. Values and blocks that have an entry in the maps are not
// copied but replaced; all others are added to them.
type cloner struct {
	f       *ir.Func
	values  map[*ir.Value]*ir.Value
	blocks  map[*ir.Block]*ir.Block
	returns []*ir.Value // the copied ret values
}

// clone copies blocks. Edges between them are copied too, in order; edges that leave them
// keep their successor only if it has an entry in c.blocks.
func (c *cloner) clone(blocks []*ir.Block) {
	for _, b := range blocks {
		c.blocks[b] = c.f.NewBlock()
		c.blocks[b].Cold = b.Cold
	}
	for _, b := range blocks {
		for _, v := range b.Values {
			c.value(v)
		}
	}
	for _, b := range blocks {
		n := c.blocks[b]
		for _, v := range n.Values {
			c.mapArgs(v)
		}
		for _, s := range b.Succs {
			n.Succs = append(n.Succs, c.blocks[s])
		}
		for _, p := range b.Preds {
			n.Preds = append(n.Preds, c.blocks[p])
		}
	}
}

// value copies v with its old arguments.
func (c *cloner) value(v *ir.Value) {
	n := c.blocks[v.Block].Append(v.Op, v.Type, v.Args...)
	n.Imm, n.Aux, n.Pos = v.Imm, v.Aux, v.Pos
	c.values[v] = n
	if v.Op == ir.OpRet {
		c.returns = append(c.returns, n)
	}
}

func (c *cloner) mapArgs(v *ir.Value) {
	args := make([]*ir.Value, len(v.Args))
	for i, a := range v.Args {
		args[i] = a
		if m, ok := c.values[a]; ok {
			args[i] = m
		}
	}
	v.Args = args
}

// cloneFunc returns a copy of f.
func cloneFunc(f *ir.Func) *ir.Func {
	g := ir.NewFunc(f.Name, f.Result)
	g.Kernel, g.ParamBytes, g.Block, g.Narrow, g.Coarse = f.Kernel, f.ParamBytes, f.Block, f.Narrow, f.Coarse
	g.Aligned, g.Notes = f.Aligned, f.Notes
	c := &cloner{f: g, values: map[*ir.Value]*ir.Value{}, blocks: map[*ir.Block]*ir.Block{}}
	for _, p := range f.Params {
		c.values[p] = g.NewParam(p.Type, p.Imm)
	}
	c.clone(f.Blocks)
	return g
}
