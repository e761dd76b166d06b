package pass

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// An editor makes the new list of values of a block.
type editor struct {
	b   *ir.Block
	out []*ir.Value
	pos ir.Pos // of the values that are made
}

// make appends a new value.
func (e *editor) make(op ir.Op, t *ir.Type, args ...*ir.Value) *ir.Value {
	v := e.b.Make(op, t, slices.Clone(args)...) // which may be those of another value
	v.Pos = e.pos
	e.out = append(e.out, v)
	return v
}

// makeImm appends a new value with an immediate.
func (e *editor) makeImm(op ir.Op, t *ir.Type, imm int64, args ...*ir.Value) *ir.Value {
	v := e.make(op, t, args...)
	v.Imm = imm
	return v
}

// keep gives the block its new list. The editor may go on with another block.
func (e *editor) keep() {
	b := e.b
	b.Values = append(b.Values[:0:len(b.Values)], e.out...) // what lies after may be another block's
}

func (e *editor) constant(t *ir.Type, bits int64) *ir.Value {
	return e.makeImm(ir.OpConst, t, bits)
}

// offset appends the address n bytes after p.
func (e *editor) offset(p *ir.Value, n int64) *ir.Value {
	if n == 0 {
		return p
	}
	return e.makeImm(ir.OpOffset, p.Type, n, p)
}

// rewrite calls edit for every value that can be reached, definitions before uses but for
// phis. The value that edit returns takes the place of the old one everywhere: the same value
// stays where it is, nil drops one without uses. What edit makes stands before the value.
// It reports whether anything changed.
func rewrite(f *ir.Func, edit func(e *editor, v *ir.Value) *ir.Value) bool {
	return rewriteInOrder(f, ir.Dominators(f).Order(), edit)
}

// rewriteInOrder is rewrite where the order of the blocks is known.
func rewriteInOrder(f *ir.Func, order []*ir.Block, edit func(e *editor, v *ir.Value) *ir.Value) bool {
	var repl ir.Replacements
	changed := false
	e := &editor{} // whose list of values serves one block after the other
	for _, b := range order {
		e.b, e.out = b, e.out[:0]
		same := true
		for _, v := range b.Values {
			for i, a := range v.Args {
				if w := repl.Of(a); w != a {
					v.Args[i] = w
				}
			}
			e.pos = v.Pos
			r := edit(e, v)
			if r == v {
				e.out = append(e.out, v)
				continue
			}
			same = false
			if r != nil {
				repl.Add(v, r)
			}
		}
		if same = same && len(e.out) == len(b.Values); !same {
			e.keep()
			changed = true
		}
	}
	f.Replace(&repl)
	return changed
}

// find follows the chain of replacements from v.
func find(repl map[*ir.Value]*ir.Value, v *ir.Value) *ir.Value {
	for r, ok := repl[v]; ok; r, ok = repl[v] {
		v = r
	}
	return v
}

func isConst(v *ir.Value) bool { return v.Op == ir.OpConst }

// userLists knows which values have a value as an argument.
type userLists struct {
	list  []*ir.Value
	first []int32 // by value ID: the place in list of its first user; those of the next ID stand after its last
}

// uses gathers the users of all values of f.
func uses(f *ir.Func) *userLists {
	first, total := make([]int32, f.NumValues()+2), int32(0)
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			for _, a := range v.Args {
				first[a.ID+2]++
			}
		}
	}
	for i, n := range first { // one place further back than in the end: to put a list's users there moves it
		total += n
		first[i] = total
	}
	list := make([]*ir.Value, total)
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			for _, a := range v.Args {
				list[first[a.ID+1]] = v
				first[a.ID+1]++
			}
		}
	}
	return &userLists{list: list, first: first}
}

// of returns the values that have v as an argument, in their order, once for each.
func (u *userLists) of(v *ir.Value) []*ir.Value { return u.list[u.first[v.ID]:u.first[v.ID+1]] }
