package edit

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// A pass that copies blocks gives a value several definitions. It demotes the value to a
// local before, so that each copy stores its own, and promotes it again after.

// Demote makes the uses of each of the values for which direct is false load it from a new local, to which the value
// is stored where it is defined. A phi uses a value at the end of the predecessor.
func Demote(values []*ir.Value, direct func(user *ir.Value, arg int) bool) {
	if len(values) == 0 {
		return
	}
	for i, blocks := range users(values) {
		demote(values[i], blocks, direct)
	}
}

// users returns the blocks with users of each of the values, by one look at the function.
func users(values []*ir.Value) [][]*ir.Block {
	f := values[0].Block.Func
	number := make([]int, f.NumValues()) // by ID: the place in values, counted from 1
	for i, v := range values {
		number[v.ID] = i + 1
	}
	lists := make([][]*ir.Block, len(values))
	for _, b := range f.Blocks {
		for _, u := range b.Values {
			for _, a := range u.Args {
				if n := number[a.ID] - 1; n >= 0 && (len(lists[n]) == 0 || lists[n][len(lists[n])-1] != b) {
					lists[n] = append(lists[n], b)
				}
			}
		}
	}
	return lists
}

// demote demotes one value, whose users are in the blocks.
func demote(v *ir.Value, blocks []*ir.Block, direct func(user *ir.Value, arg int) bool) {
	var slot *ir.Value
	for _, b := range blocks {
		for _, u := range slices.Clone(b.Values) {
			for i, a := range u.Args {
				if a != v || direct(u, i) {
					continue
				}
				if slot == nil {
					slot = NewSlot(b.Func, v.Type)
				}
				u.Args[i] = loadFor(u, i, slot)
			}
		}
	}
	if slot != nil {
		storeBehind(v, slot)
	}
}

// NewSlot adds a local for one value of type t. It is not read before it is written.
func NewSlot(f *ir.Func, t *ir.Type) *ir.Value {
	entry := f.Blocks[0]
	slot := entry.Make(ir.OpAlloca, ir.PtrTo(ir.Local))
	slot.Aux, slot.Imm = t, 1
	entry.Values = slices.Insert(entry.Values, 0, slot)
	return slot
}

// loadFor loads from slot for argument i of u.
func loadFor(u *ir.Value, i int, slot *ir.Value) *ir.Value {
	b, at := u.Block, 0
	if u.Op == ir.OpPhi {
		b = b.Preds[i]
		at = len(b.Values) - 1
	} else {
		at = slices.Index(b.Values, u)
	}
	load := b.Make(ir.OpLoad, slot.Aux.(*ir.Type), slot)
	load.Pos = u.Pos
	b.Values = slices.Insert(b.Values, at, load)
	return load
}

func storeBehind(v, slot *ir.Value) {
	b := v.Block
	at := slices.Index(b.Values, v) + 1
	if v.Op == ir.OpPhi {
		at = len(b.Phis())
	}
	store := b.Make(ir.OpStore, ir.Void, slot, v)
	store.Pos = v.Pos
	b.Values = slices.Insert(b.Values, at, store)
}
