package ir

// Clone returns a copy of f with the same IDs that shares no values or blocks with f. It does not
// copy called functions or variables.
func (f *Func) Clone() *Func {
	g := *f
	g.spare = nil
	c := &cloner{values: make([]*Value, f.nextValue), blocks: make([]*Block, f.nextBlock)}
	g.Params = c.list(f.Params)
	g.Blocks = make([]*Block, len(f.Blocks))
	for i, b := range f.Blocks {
		g.Blocks[i] = &Block{ID: b.ID, Func: &g, Values: c.list(b.Values), Cold: b.Cold, Launch: b.Launch, Apart: b.Apart}
		c.blocks[b.ID] = g.Blocks[i]
	}
	for i, b := range f.Blocks {
		n := g.Blocks[i]
		n.Preds, n.Succs = c.edges(b.Preds), c.edges(b.Succs)
		for k, v := range b.Values {
			n.Values[k].Block = n
			n.Values[k].Args = c.args(v.Args)
		}
	}
	return &g
}

// cloner holds the copies by ID.
type cloner struct {
	values []*Value
	blocks []*Block
}

// list copies values, with the old blocks and arguments.
func (c *cloner) list(values []*Value) []*Value {
	all := make([]Value, len(values))
	copies := make([]*Value, len(values))
	for i, v := range values {
		all[i] = *v
		copies[i] = &all[i]
		c.values[v.ID] = copies[i]
	}
	return copies
}

func (c *cloner) args(args []*Value) []*Value {
	if args == nil {
		return nil
	}
	copies := make([]*Value, len(args))
	for i, a := range args {
		copies[i] = c.values[a.ID]
	}
	return copies
}

func (c *cloner) edges(blocks []*Block) []*Block {
	var copies []*Block
	for _, b := range blocks {
		copies = append(copies, c.blocks[b.ID])
	}
	return copies
}

// Compact renumbers the values and blocks of f without gaps, in the order of their old IDs, so that tables indexed
// by ID become shorter.
func (f *Func) Compact() {
	values, blocks := make([]*Value, f.nextValue), make([]*Block, f.nextBlock)
	for _, p := range f.Params {
		values[p.ID] = p
	}
	for _, b := range f.Blocks {
		blocks[b.ID] = b
		for _, v := range b.Values {
			values[v.ID] = v
		}
	}
	f.nextValue, f.nextBlock = 0, 0
	for _, v := range values {
		if v != nil {
			v.ID = f.newID()
		}
	}
	for _, b := range blocks {
		if b != nil {
			b.ID = f.nextBlock
			f.nextBlock++
		}
	}
}
