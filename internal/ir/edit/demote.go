package edit

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// A pass that copies blocks gives a value several definitions. It demotes the value to a
// local before, so that each copy stores its own, and promotes it again after.

// Demote makes the uses of v for which direct is false load it from a new local, to which v
// is stored where it is defined. A phi uses v at the end of the predecessor.
func Demote(v *ir.Value, direct func(user *ir.Value, arg int) bool) {
	f := v.Block.Func
	var slot *ir.Value
	uses := func(u *ir.Value) bool { return slices.Contains(u.Args, v) }
	for _, b := range f.Blocks {
		if !slices.ContainsFunc(b.Values, uses) {
			continue
		}
		for _, u := range slices.Clone(b.Values) {
			for i, a := range u.Args {
				if a != v || direct(u, i) {
					continue
				}
				if slot == nil {
					slot = NewSlot(f, v.Type)
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
