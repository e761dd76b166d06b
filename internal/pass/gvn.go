package pass

import (
	"math/bits"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// gvn replaces a pure value by an equal one that dominates it, and gathers constants and
// other values without arguments in the entry, so that each exists once.
//
//	b0: %2 = add i32 %0, %1       b0: %6 = const i32 1
//	    if %3 b1 b2                   %2 = add i32 %0, %1
//	b1: %4 = add i32 %0, %1   ->      if %3 b1 b2
//	    %5 = const i32 1          b1: %7 = mul i32 %2, %6
//	    %7 = mul i32 %4, %5           jump b2
//	    jump b2
func gvn(f *ir.Func, _ *Options) {
	gatherNullary(f)
	n := newNumberer(f)
	for _, b := range n.dom.Order() {
		b.Values = slices.DeleteFunc(b.Values, n.redundant)
	}
	f.Replace(&n.repl)
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

// numberer finds equal values by a hash of what they compute. Arguments are replaced as soon as a value
// is looked at, so that equal values have equal ones; no two equal values in the table dominate a third.
type numberer struct {
	dom    *ir.Dom
	heads  []int32 // of lists of values with one hash, counted from 1
	values []numbered
	repl   ir.Replacements
}

type numbered struct {
	v    *ir.Value
	next int32
}

func newNumberer(f *ir.Func) *numberer {
	count := 0
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			if numbers(v) {
				count++
			}
		}
	}
	return &numberer{
		dom: ir.Dominators(f), heads: make([]int32, 1<<bits.Len(uint(count))), values: make([]numbered, 0, count),
	}
}

// numbers reports whether a value like v may take the place of another.
func numbers(v *ir.Value) bool {
	return (v.Op.Pure() || v.Op == ir.OpPhi) && len(v.Args) <= 3 && !isAggregate(v.Type)
}

// redundant reports whether an equal value dominates v, and then notes that one for v.
func (n *numberer) redundant(v *ir.Value) bool {
	if !numbers(v) {
		return false
	}
	for i, a := range v.Args {
		v.Args[i] = n.repl.Of(a)
	}
	head := &n.heads[hash(v)&uint64(len(n.heads)-1)]
	for i := *head; i > 0; i = n.values[i-1].next {
		if w := n.values[i-1].v; equal(v, w) && n.dom.Dominates(w.Block, v.Block) {
			n.repl.Add(v, w)
			return true
		}
	}
	n.values = append(n.values, numbered{v, *head})
	*head = int32(len(n.values))
	return false
}

// hash is the same for equal values.
func hash(v *ir.Value) uint64 {
	h := uint64(v.Op)<<16 ^ uint64(v.Type.Kind)<<8 ^ uint64(imm(v))
	sum := uint64(0) // whatever the order
	for i, a := range v.Args {
		x := (uint64(a.ID) + 1) * 0x9e3779b97f4a7c15
		if !v.Op.Commutative() {
			x *= uint64(2*i + 1)
		}
		sum += x ^ x>>29
	}
	h = (h ^ sum) * 0xbf58476d1ce4e5b9
	return h ^ h>>31
}

// equal reports whether v and w compute the same.
func equal(v, w *ir.Value) bool {
	if v.Op != w.Op || v.Type.Kind != w.Type.Kind || v.Type.Space != w.Type.Space || imm(v) != imm(w) || v.Aux != w.Aux {
		return false
	}
	if v.Op == ir.OpPhi && v.Block != w.Block || len(v.Args) != len(w.Args) {
		return false
	}
	return slices.Equal(v.Args, w.Args) ||
		v.Op.Commutative() && v.Args[0] == w.Args[1] && v.Args[1] == w.Args[0] && slices.Equal(v.Args[2:], w.Args[2:])
}

func imm(v *ir.Value) int64 {
	if v.Op == ir.OpConst {
		return constKey(v)
	}
	return v.Imm
}

// constKey returns the bits of a constant such that equal ones are equal.
func constKey(v *ir.Value) int64 {
	if v.Type.IsInt() {
		return analysis.SignExtend(v.Type, v.Imm)
	}
	if v.Type.Kind == ir.KindF32 {
		return int64(int32(v.Imm))
	}
	return v.Imm
}
