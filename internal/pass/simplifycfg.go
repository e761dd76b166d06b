package pass

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ir"
	"github.com/gopherwarp/gopherwarp/internal/ir/edit"
)

// simplifyCFG removes blocks that cannot be reached, branches whose way is known, blocks
// that only jump on, and phis that choose between one value; it joins blocks that always run
// one after the other.
//
//	b0: %1 = const i1 1
//	    if %1 b1 b2                   b0: store %0, %3
//	b1: jump b3                   ->      ret
//	b2: jump b3
//	b3: %4 = phi f32 %3, %2
//	    store %0, %4
//	    ret
func simplifyCFG(f *ir.Func, _ *Options) {
	for changed := true; changed; {
		changed = foldBranches(f)
		edit.RemoveUnreachable(f)
		changed = removePhis(f) || changed
		changed = removeEmpty(f) || changed
		changed = joinBlocks(f) || changed
	}
}

// foldBranches turns an if on a constant, or on a negated condition, into a simpler one.
func foldBranches(f *ir.Func) bool {
	changed := false
	for _, b := range f.Blocks {
		changed = cutAtFault(b) || changed
		t := b.Term()
		if t.Op != ir.OpIf {
			continue
		}
		c := t.Args[0]
		if c.Op == ir.OpConst {
			b.RemoveEdge(int(c.Imm & 1))
			edit.SetTerm(b, ir.OpJump)
			changed = true
		} else if x := negated(c); x != nil {
			t.Args[0] = x
			b.Succs[0], b.Succs[1] = b.Succs[1], b.Succs[0]
			changed = true
		}
	}
	return changed
}

// cutAtFault ends b at a check that always fails.
func cutAtFault(b *ir.Block) bool {
	at := slices.IndexFunc(b.Values, func(v *ir.Value) bool {
		return v.Op == ir.OpCheck && isConst(v.Args[0]) && v.Args[0].Imm&1 == 0
	})
	if at < 0 {
		return false
	}
	for len(b.Succs) > 0 {
		b.RemoveEdge(0)
	}
	check := b.Values[at]
	b.Values = b.Values[:at]
	fault := b.Append(ir.OpFault, ir.Void, check.Args[1:]...)
	fault.Aux, fault.Pos = check.Aux, check.Pos
	return true
}

// negated returns x where c is its negation, else nil.
func negated(c *ir.Value) *ir.Value {
	if c.Op == ir.OpXor && c.Type.Kind == ir.KindI1 {
		for i, a := range c.Args {
			if a.Op == ir.OpConst && a.Imm&1 == 1 {
				return c.Args[1-i]
			}
		}
	}
	return nil
}

// removePhis replaces phis whose arguments are all the same value, or the phi itself.
func removePhis(f *ir.Func) bool {
	var repl ir.Replacements
	for again := true; again; {
		again = false
		for _, b := range f.Blocks {
			kept := 0
			phis := b.Phis()
			for _, v := range phis {
				if x := onlyArg(v, &repl); x != nil {
					repl.Add(v, x)
					again = true
					continue
				}
				phis[kept] = v
				kept++
			}
			b.Values = slices.Delete(b.Values, kept, len(phis))
		}
	}
	f.Replace(&repl)
	return repl.Len() > 0
}

// onlyArg returns the value that phi v always has, or nil.
func onlyArg(v *ir.Value, repl *ir.Replacements) *ir.Value {
	var only *ir.Value
	for _, a := range v.Args {
		a = repl.Of(a)
		if a == v || a == only {
			continue
		}
		if only != nil {
			return nil
		}
		only = a
	}
	return only
}

// removeEmpty leads the predecessors of blocks that only jump straight to where they go.
func removeEmpty(f *ir.Func) bool {
	changed := false
	for _, b := range f.Blocks {
		if len(b.Values) == 1 && b.Term().Op == ir.OpJump && b != f.Blocks[0] {
			changed = bypass(b) || changed
		}
	}
	if changed {
		edit.RemoveUnreachable(f)
	}
	return changed
}

// bypass leads as many predecessors of the empty block b as possible to its successor.
func bypass(b *ir.Block) bool {
	s := b.Succs[0]
	if s == b {
		return false
	}
	at := s.PredIndex(b)
	changed := false
	for _, p := range slices.Clone(b.Preds) {
		if i := slices.Index(p.Succs, s); i >= 0 {
			changed = bypassDiamond(p, b, s) || changed
			continue
		}
		p.Succs[slices.Index(p.Succs, b)] = s
		s.Preds = append(s.Preds, p)
		for _, phi := range s.Phis() {
			phi.Args = append(phi.Args, phi.Args[at])
		}
		k := b.PredIndex(p)
		b.Preds = slices.Delete(b.Preds, k, k+1)
		changed = true
	}
	return changed
}

// bypassDiamond handles a p that goes to s directly and through the empty block b: where
// that makes no difference to the phis of s, p jumps.
func bypassDiamond(p, b, s *ir.Block) bool {
	direct, through := s.PredIndex(p), s.PredIndex(b)
	for _, phi := range s.Phis() {
		if phi.Args[direct] != phi.Args[through] {
			return false
		}
	}
	p.RemoveEdge(slices.Index(p.Succs, b))
	edit.SetTerm(p, ir.OpJump)
	return true
}

// joinBlocks appends to each block the only successor whose only predecessor it is. That one is left empty, and removed.
func joinBlocks(f *ir.Func) bool {
	var repl ir.Replacements
	for _, b := range f.Blocks {
		for len(b.Succs) == 1 && len(b.Succs[0].Preds) == 1 && b.Succs[0] != b {
			s := b.Succs[0]
			phis := s.Phis()
			for _, phi := range phis {
				repl.Add(phi, phi.Args[0])
			}
			moved := s.Values[len(phis):]
			for _, v := range moved {
				v.Block = b
			}
			b.Values = append(b.Values[:len(b.Values)-1], moved...)
			b.Succs = s.Succs
			for _, t := range b.Succs {
				t.Preds[t.PredIndex(s)] = b
			}
			s.Values, s.Succs = nil, nil
		}
	}
	n := len(f.Blocks)
	f.Blocks = slices.DeleteFunc(f.Blocks, func(b *ir.Block) bool { return len(b.Values) == 0 })
	f.Replace(&repl)
	return len(f.Blocks) < n
}
