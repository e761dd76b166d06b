package pass

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// gvn replaces a pure value by an equal one that dominates it, and gathers constants and
// other values without arguments in the entry, so that each exists once.
func gvn(f *ir.Func, _ *Options) {
	gatherNullary(f)
	n := &numberer{dom: ir.Dominators(f), table: map[expr][]*ir.Value{}, repl: map[*ir.Value]*ir.Value{}}
	for _, b := range n.dom.Order() {
		b.Values = slices.DeleteFunc(b.Values, n.redundant)
	}
	f.Replace(n.repl)
}

// gatherNullary moves pure values without arguments to the start of the entry.
func gatherNullary(f *ir.Func) {
	var moved []*ir.Value
	for _, b := range f.Blocks {
		b.Values = slices.DeleteFunc(b.Values, func(v *ir.Value) bool {
			if len(v.Args) > 0 || !v.Op.Pure() {
				return false
			}
			v.Block = f.Blocks[0]
			moved = append(moved, v)
			return true
		})
	}
	f.Blocks[0].Values = append(moved, f.Blocks[0].Values...)
}

// An expr identifies what a pure value computes.
type expr struct {
	op    ir.Op
	kind  ir.Kind
	space ir.Space
	block *ir.Block // of a phi
	imm   int64
	aux   any
	args  [3]*ir.Value
}

type numberer struct {
	dom   *ir.Dom
	table map[expr][]*ir.Value
	repl  map[*ir.Value]*ir.Value
}

// redundant reports whether an equal value dominates v, and then notes that one for v.
func (n *numberer) redundant(v *ir.Value) bool {
	if !v.Op.Pure() && v.Op != ir.OpPhi || len(v.Args) > 3 || isAggregate(v.Type) {
		return false
	}
	k := n.key(v)
	for _, w := range n.table[k] {
		if n.dom.Dominates(w.Block, v.Block) {
			n.repl[v] = w
			return true
		}
	}
	n.table[k] = append(n.table[k], v)
	return false
}

func (n *numberer) key(v *ir.Value) expr {
	k := expr{op: v.Op, kind: v.Type.Kind, space: v.Type.Space, imm: v.Imm, aux: v.Aux}
	if v.Op == ir.OpPhi {
		k.block = v.Block
	}
	if v.Op == ir.OpConst {
		k.imm = constKey(v)
	}
	for i, a := range v.Args {
		k.args[i] = find(n.repl, a)
	}
	if v.Op.Commutative() && k.args[0].ID > k.args[1].ID {
		k.args[0], k.args[1] = k.args[1], k.args[0]
	}
	return k
}

// constKey returns the bits of a constant such that equal ones are equal.
func constKey(v *ir.Value) int64 {
	if v.Type.IsInt() {
		return signExtend(v.Type, v.Imm)
	}
	if v.Type.Kind == ir.KindF32 {
		return int64(int32(v.Imm))
	}
	return v.Imm
}
