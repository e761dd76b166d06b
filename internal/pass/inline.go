package pass

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ir"
	"github.com/gopherwarp/gopherwarp/internal/ir/edit"
)

// inline replaces every call by the body of the function that is called. A device function
// stays a real call in ptxas, and its pointers have no known space: both cost more than the code.
//
//	func half(%0 i32) -> i32
//	b0: %1 = lshr i32 %0, 1
//	    ret %1                        b0: jump b1
//	                              ->  b1: %5 = lshr i32 %2, 1
//	kernel k(...)                         jump b2
//	b0: %3 = call i32 @half %2        b2: store %4, %5
//	    store %4, %3
func inline(f *ir.Func, _ *Options) {
	var repl ir.Replacements
	for i := 0; i < len(f.Blocks); i++ { // expand adds blocks, with calls in them
		b := f.Blocks[i]
		at := slices.IndexFunc(b.Values, func(v *ir.Value) bool { return v.Op == ir.OpCall })
		if at >= 0 {
			expand(b, at, &repl)
		}
	}
	f.Replace(&repl)
	edit.RemoveUnreachable(f)
}

// expand replaces the call b.Values[at]; its result goes to repl.
func expand(b *ir.Block, at int, repl *ir.Replacements) {
	call := b.Values[at]
	callee := call.Aux.(*ir.Func)
	cont := b.Split(at + 1)
	b.Values = b.Values[:at]

	c := edit.NewCloner(b.Func, callee)
	for i, p := range callee.Params {
		c.Replace(p, call.Args[i])
	}
	before := len(b.Func.Blocks)
	c.Clone(callee.Blocks)
	placeFaults(b.Func.Blocks[before:], call.Pos)
	if cont.Cold = b.Cold; b.Cold {
		for _, x := range b.Func.Blocks[before:] {
			x.Cold = true
		}
	}
	b.Append(ir.OpJump, ir.Void).Pos = call.Pos
	b.AddEdge(c.Block(callee.Blocks[0]))

	if r := joinReturns(c.Returns, cont, call.Type); r != nil {
		repl.Add(call, r)
	}
}

// placeFaults describes where calls and what can fault stand that have no place: in functions of the
// standard library it is the call.
func placeFaults(blocks []*ir.Block, at ir.Pos) {
	for _, b := range blocks {
		for _, v := range b.Values {
			if v.Pos == (ir.Pos{}) && (v.Op == ir.OpCheck || v.Op == ir.OpFault || v.Op == ir.OpCall) {
				v.Pos = at
			}
		}
	}
}

// joinReturns makes the returns jump to cont and returns the result there, or nil where
// there is none. Where the function never returns, cont has become unreachable.
func joinReturns(returns []*ir.Value, cont *ir.Block, t *ir.Type) *ir.Value {
	var results []*ir.Value
	for _, r := range returns {
		results = append(results, r.Args...)
		from := r.Block
		edit.SetTerm(from, ir.OpJump)
		from.AddEdge(cont)
	}
	switch {
	case t.Kind == ir.KindVoid:
		return nil
	case len(results) == 1:
		return results[0]
	}
	phi := edit.InsertPhi(cont, t)
	phi.Args = results
	return phi
}

// recursion returns the name of a function that f calls and that calls itself, or "".
func recursion(f *ir.Func) string {
	const open, closed = 1, 2
	state := map[*ir.Func]int{}
	var visit func(f *ir.Func) string
	visit = func(f *ir.Func) string {
		state[f] = open
		for _, b := range f.Blocks {
			for _, v := range b.Values {
				if v.Op != ir.OpCall {
					continue
				}
				g := v.Aux.(*ir.Func)
				if state[g] == open {
					return g.Name
				}
				if state[g] == closed {
					continue
				}
				if name := visit(g); name != "" {
					return name
				}
			}
		}
		state[f] = closed
		return ""
	}
	return visit(f)
}
