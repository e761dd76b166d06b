package pass

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/analysis"
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
	read := make([]bool, f.NumValues()) // by ID of the alloca, or variable
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			moves := v.Op == ir.OpOffset || v.Op == ir.OpIndex
			for i, a := range v.Args {
				if x := analysis.Object(a); x != nil && !moves && (v.Op != ir.OpStore || i != 0) {
					read[x.ID] = true
				}
			}
		}
	}
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			x := analysis.Object(v)
			unread[v.ID] = x != nil && x.Op == ir.OpAlloca && !read[x.ID]
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

func writesUnread(v *ir.Value, unread []bool) bool {
	return v.Op == ir.OpStore && unread[v.Args[0].ID]
}
