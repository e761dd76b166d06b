package pass

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// deadCode removes values that nothing needs, and stores to locals that are never read.
func deadCode(f *ir.Func, _ *Options) {
	unread := unreadLocals(f)
	live := make([]bool, f.NumValues())
	var work []*ir.Value
	need := func(v *ir.Value) {
		if !live[v.ID] {
			live[v.ID] = true
			work = append(work, v)
		}
	}
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			if v.Op.Effect() && v.Op != ir.OpAlloca && !writesUnread(v, unread) {
				need(v)
			}
		}
	}
	for len(work) > 0 {
		v := work[len(work)-1]
		work = work[:len(work)-1]
		for _, a := range v.Args {
			need(a)
		}
	}
	for _, b := range f.Blocks {
		b.Values = slices.DeleteFunc(b.Values, func(v *ir.Value) bool { return !live[v.ID] })
	}
}

// unreadLocals returns, by ID, the allocas and addresses computed from them through which
// nothing is done but storing.
func unreadLocals(f *ir.Func) []bool {
	unread := make([]bool, f.NumValues())
	if !hasLocals(f) {
		return unread
	}
	users := uses(f)
	var mark func(addr *ir.Value)
	mark = func(addr *ir.Value) {
		unread[addr.ID] = true
		for _, u := range users[addr.ID] {
			if u.Op == ir.OpOffset || u.Op == ir.OpIndex {
				mark(u)
			}
		}
	}
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			if v.Op == ir.OpAlloca && onlyStored(v, users) {
				mark(v)
			}
		}
	}
	return unread
}

func hasLocals(f *ir.Func) bool {
	for _, b := range f.Blocks {
		if slices.ContainsFunc(b.Values, func(v *ir.Value) bool { return v.Op == ir.OpAlloca }) {
			return true
		}
	}
	return false
}

// onlyStored reports whether nothing happens through addr but stores.
func onlyStored(addr *ir.Value, users [][]*ir.Value) bool {
	for _, u := range users[addr.ID] {
		switch {
		case u.Op == ir.OpStore && u.Args[1] != addr:
		case u.Op == ir.OpOffset, u.Op == ir.OpIndex:
			if !onlyStored(u, users) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

func writesUnread(v *ir.Value, unread []bool) bool {
	return v.Op == ir.OpStore && unread[v.Args[0].ID]
}
