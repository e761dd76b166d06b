package pass

import (
	"fmt"

	"github.com/gopherwarp/gopherwarp/internal/ir"
	"github.com/gopherwarp/gopherwarp/internal/ir/edit"
)

// scalarize replaces every value of struct or array type by its leaves, the scalars that it
// consists of. Loads and stores of aggregates become those of the leaves.
//
//	%2 = load {i32, f32} %0           %5 = load i32 %0
//	%3 = extract f32 %2 {1}           %6 = offset %0 {4}
//	%4 = insert %2, %1 {1}        ->  %3 = load f32 %6
//	store %7, %4                      store %7, %5
//	                                  %8 = offset %7 {4}
//	                                  store %8, %1
func scalarize(f *ir.Func, _ *Options) {
	edit.RemoveUnreachable(f)
	s := &scalarizer{leaves: map[*ir.Value][]*ir.Value{}}
	params := s.params(f)
	var phis []*ir.Value
	for _, b := range ir.Dominators(f).Order() {
		s.e = &editor{b: b}
		n := len(b.Phis())
		for i, v := range b.Values {
			s.e.pos = v.Pos
			if i < n && isAggregate(v.Type) {
				phis = append(phis, v)
			}
			if !s.value(v) {
				s.e.out = append(s.e.out, v)
			}
		}
		b.Values = s.e.out
	}
	for _, phi := range phis {
		for _, a := range phi.Args {
			for i, leaf := range s.leaves[a] {
				p := s.leaves[phi][i]
				p.Args = append(p.Args, leaf)
			}
		}
	}
	f.Replace(&s.repl)
	f.Blocks[0].Values = append(params, f.Blocks[0].Values...)
}

func isAggregate(t *ir.Type) bool { return t.Kind >= ir.KindStruct }

// A leaf is a scalar in an aggregate, at a byte offset.
type leaf struct {
	off int64
	t   *ir.Type
}

// leavesOf appends the leaves of t, which starts at offset off, in order.
func leavesOf(t *ir.Type, off int64, list []leaf) []leaf {
	if !isAggregate(t) {
		return append(list, leaf{off, t})
	}
	for i := range t.NumParts() {
		list = leavesOf(t.Part(i), off+t.PartOffset(i), list)
	}
	return list
}

// countLeaves returns the number of leaves of t.
func countLeaves(t *ir.Type) int64 {
	switch t.Kind {
	case ir.KindArray:
		return t.Len * countLeaves(t.Elem)
	case ir.KindStruct:
		n := int64(0)
		for _, f := range t.Fields {
			n += countLeaves(f)
		}
		return n
	}
	return 1
}

// partLeaves returns the bounds, among the leaves of t, of those of part i.
func partLeaves(t *ir.Type, i int) (lo, hi int64) {
	for j := range i {
		lo += countLeaves(t.Part(j))
	}
	return lo, lo + countLeaves(t.Part(i))
}

// A scalarizer holds the leaves of one function's aggregates.
type scalarizer struct {
	e      *editor
	leaves map[*ir.Value][]*ir.Value // of each value of aggregate type
	repl   ir.Replacements
}

// params takes parameters of aggregate type apart (kernels have none) and returns the values that
// do so, for the start of the entry block.
func (s *scalarizer) params(f *ir.Func) []*ir.Value {
	e := &editor{b: f.Blocks[0]}
	for _, p := range f.Params {
		if isAggregate(p.Type) {
			s.leaves[p] = explode(e, p, nil)
		}
	}
	return e.out
}

// explode extracts the leaves of v.
func explode(e *editor, v *ir.Value, list []*ir.Value) []*ir.Value {
	if !isAggregate(v.Type) {
		return append(list, v)
	}
	for i := range v.Type.NumParts() {
		list = explode(e, e.makeImm(ir.OpExtract, v.Type.Part(i), int64(i), v), list)
	}
	return list
}

// value takes v apart and reports whether that leaves nothing of v itself.
func (s *scalarizer) value(v *ir.Value) bool {
	switch {
	case v.Op == ir.OpExtract && s.leaves[v.Args[0]] != nil:
		return s.extract(v)
	case v.Op == ir.OpStore && isAggregate(v.Args[1].Type):
		return s.store(v)
	case !isAggregate(v.Type):
		s.rebuildArgs(v)
		return false
	}
	if v.Op == ir.OpCall || v.Op.Tuple() {
		s.e.out = append(s.e.out, v)
		s.leaves[v] = explode(s.e, v, nil)
		return true
	}
	switch v.Op {
	case ir.OpZero:
		s.leaves[v] = s.zero(v.Type)
	case ir.OpStruct:
		s.leaves[v] = s.join(v)
	case ir.OpExtract: // of an aggregate without leaves
		s.leaves[v] = []*ir.Value{}
	case ir.OpInsert:
		s.leaves[v] = s.insert(v)
	case ir.OpSelect:
		s.leaves[v] = s.selectLeaves(v)
	case ir.OpPhi:
		s.leaves[v] = s.phi(v)
	case ir.OpLoad:
		s.leaves[v] = s.load(v)
	default:
		panic(fmt.Sprintf("BUG: pass: a value of type %v by %s", v.Type, v.Op))
	}
	return true
}

// of returns the leaves of v, or v itself where it is a scalar.
func (s *scalarizer) of(v *ir.Value) []*ir.Value {
	if isAggregate(v.Type) {
		return s.leaves[v]
	}
	return []*ir.Value{v}
}

func (s *scalarizer) extract(v *ir.Value) bool {
	lo, hi := partLeaves(v.Args[0].Type, int(v.Imm))
	part := s.leaves[v.Args[0]][lo:hi]
	if isAggregate(v.Type) {
		s.leaves[v] = part
	} else {
		s.repl.Add(v, part[0])
	}
	return true
}

func (s *scalarizer) store(v *ir.Value) bool {
	for i, l := range leavesOf(v.Args[1].Type, 0, nil) {
		s.e.make(ir.OpStore, ir.Void, s.e.offset(v.Args[0], l.off), s.leaves[v.Args[1]][i])
	}
	return true
}

func (s *scalarizer) zero(t *ir.Type) []*ir.Value {
	var list []*ir.Value
	for _, l := range leavesOf(t, 0, nil) {
		list = append(list, s.e.constant(l.t, 0))
	}
	return list
}

func (s *scalarizer) join(v *ir.Value) []*ir.Value {
	list := []*ir.Value{}
	for _, a := range v.Args {
		list = append(list, s.of(a)...)
	}
	return list
}

func (s *scalarizer) insert(v *ir.Value) []*ir.Value {
	lo, hi := partLeaves(v.Type, int(v.Imm))
	old := s.leaves[v.Args[0]]
	list := append([]*ir.Value{}, old[:lo]...)
	list = append(list, s.of(v.Args[1])...)
	return append(list, old[hi:]...)
}

func (s *scalarizer) selectLeaves(v *ir.Value) []*ir.Value {
	list := []*ir.Value{}
	for i, x := range s.leaves[v.Args[1]] {
		list = append(list, s.e.make(ir.OpSelect, x.Type, v.Args[0], x, s.leaves[v.Args[2]][i]))
	}
	return list
}

// phi makes a phi for each leaf; scalarize adds the arguments at the end.
func (s *scalarizer) phi(v *ir.Value) []*ir.Value {
	list := []*ir.Value{}
	for _, l := range leavesOf(v.Type, 0, nil) {
		list = append(list, s.e.make(ir.OpPhi, l.t))
	}
	return list
}

func (s *scalarizer) load(v *ir.Value) []*ir.Value {
	list := []*ir.Value{}
	for _, l := range leavesOf(v.Type, 0, nil) {
		list = append(list, s.e.make(ir.OpLoad, l.t, s.e.offset(v.Args[0], l.off)))
	}
	return list
}

// rebuildArgs puts aggregates together again for a call or a return, which wants them whole.
func (s *scalarizer) rebuildArgs(v *ir.Value) {
	if v.Op != ir.OpCall && v.Op != ir.OpRet {
		return
	}
	for i, a := range v.Args {
		if isAggregate(a.Type) {
			v.Args[i], _ = s.rebuild(a.Type, s.leaves[a])
		}
	}
}

// rebuild makes a value of type t of the first leaves and returns the rest of them.
func (s *scalarizer) rebuild(t *ir.Type, leaves []*ir.Value) (v *ir.Value, rest []*ir.Value) {
	if !isAggregate(t) {
		return leaves[0], leaves[1:]
	}
	parts := make([]*ir.Value, t.NumParts())
	for i := range parts {
		parts[i], leaves = s.rebuild(t.Part(i), leaves)
	}
	return s.e.make(ir.OpStruct, t, parts...), leaves
}
