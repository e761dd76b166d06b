package pass

import (
	"fmt"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ir"
	"github.com/gopherwarp/gopherwarp/internal/ir/edit"
)

// maxLeaves is the number of leaves up to which an aggregate is taken apart into values.
const maxLeaves = 64

// demoteAggregates moves values of large aggregate types to local memory, with loops that copy
// them: as values, they would become as many scalars as they have leaves.
//
//	                              %9 = alloca [64 x f32]
//	                              b1: %i = phi 0, %j
//	%3 = load [64 x f32] %0   ->      %x = load f32 %0 + 4*%i
//	store %1, %3                      store %9 + 4*%i, %x
//	                                  %j = add %i, 1
//	                                  if %j < 64 b1 b2
//	                              b2: the same from %9 to %1
func demoteAggregates(f *ir.Func, _ *Options) {
	s := &aggregateDemoter{f: f, homes: map[*ir.Value]*ir.Value{}}
	var large []*ir.Value
	for _, b := range f.Blocks {
		for _, v := range b.Values {
			if v.Op.Tuple() || v.Op == ir.OpExtract && v.Args[0].Op.Tuple() {
				continue // in registers by nature
			}
			if isLarge(v.Type) || len(v.Args) > 0 && (isLarge(v.Args[0].Type) || isLarge(v.Args[len(v.Args)-1].Type)) {
				large = append(large, v)
			}
		}
	}
	for _, v := range large {
		if isLarge(v.Type) && !s.direct(v) {
			s.homes[v] = edit.NewSlot(f, v.Type)
			s.homes[v].Type = ir.Ptr
		}
	}
	for _, v := range large {
		s.lower(v)
	}
}

func isLarge(t *ir.Type) bool { return isAggregate(t) && countLeaves(t) > maxLeaves }

// An aggregateDemoter holds the locals of one function's large values.
type aggregateDemoter struct {
	f     *ir.Func
	homes map[*ir.Value]*ir.Value // the address of each large value
}

// direct reports whether the only use of v is a store right after it, and one side is a whole
// variable, so that the two cannot partly overlap.
func (s *aggregateDemoter) direct(v *ir.Value) bool {
	at := slices.Index(v.Block.Values, v)
	if v.Op != ir.OpLoad || at+1 == len(v.Block.Values) {
		return false
	}
	st := v.Block.Values[at+1]
	whole := func(p *ir.Value) bool { return p.Op == ir.OpAlloca && p.Aux.(*ir.Type).Equal(v.Type) }
	if st.Op != ir.OpStore || st.Args[1] != v || !whole(st.Args[0]) && !whole(v.Args[0]) {
		return false
	}
	users := 0
	for _, b := range s.f.Blocks {
		for _, u := range b.Values {
			for _, a := range u.Args {
				if a == v {
					users++
				}
			}
		}
	}
	return users == 1
}

// home returns the address of a large value; that of a direct load is its source.
func (s *aggregateDemoter) home(v *ir.Value) *ir.Value {
	if h := s.homes[v]; h != nil {
		return h
	}
	if v.Op == ir.OpLoad {
		return v.Args[0]
	}
	panic(fmt.Sprintf("BUG: pass: no place for %s", v.LongString()))
}

// lower replaces v by loops and smaller operations.
func (s *aggregateDemoter) lower(v *ir.Value) {
	h := s.homes[v]
	switch v.Op {
	case ir.OpLoad:
		if h != nil {
			s.copy(v, h, v.Args[0])
		}
	case ir.OpStore:
		s.copy(v, v.Args[0], s.home(v.Args[1]))
	case ir.OpZero:
		clearLeaves(v, v.Type, h)
	case ir.OpStruct:
		s.parts(v, h)
	case ir.OpInsert:
		s.copy(v, h, s.home(v.Args[0]))
		s.put(v, s.address(v, h, v.Type.PartOffset(int(v.Imm))), v.Args[1])
	case ir.OpExtract:
		s.extract(v, h)
		return
	case ir.OpSelect:
		p := s.emit(v, ir.OpSelect, ir.Ptr, v.Args[0], s.home(v.Args[1]), s.home(v.Args[2]))
		s.copy(v, h, p)
	case ir.OpPhi:
		s.phi(v, h)
	default:
		return // a call or a return, which have no such values in a kernel
	}
	s.remove(v)
}

func (s *aggregateDemoter) index(v *ir.Value) int { return slices.Index(v.Block.Values, v) }

func (s *aggregateDemoter) remove(v *ir.Value) {
	i := s.index(v)
	v.Block.Values = slices.Delete(v.Block.Values, i, i+1)
}

// emit inserts a new value before v.
func (s *aggregateDemoter) emit(v *ir.Value, op ir.Op, t *ir.Type, args ...*ir.Value) *ir.Value {
	n := v.Block.Make(op, t, args...)
	n.Pos = v.Pos
	v.Block.Values = slices.Insert(v.Block.Values, s.index(v), n)
	return n
}

func (s *aggregateDemoter) address(v, p *ir.Value, off int64) *ir.Value {
	if off == 0 {
		return p
	}
	a := s.emit(v, ir.OpOffset, p.Type, p)
	a.Imm = off
	return a
}

// copy copies the large value at src to dst, before v, which has it as type or argument.
func (s *aggregateDemoter) copy(v, dst, src *ir.Value) {
	t := v.Type
	if v.Op == ir.OpStore {
		t = v.Args[1].Type
	}
	copyLeaves(v, t, dst, src)
}

// put stores a part, large or not, at p, before v.
func (s *aggregateDemoter) put(v, p, part *ir.Value) {
	if isLarge(part.Type) {
		copyLeaves(v, part.Type, p, s.home(part))
		return
	}
	s.emit(v, ir.OpStore, ir.Void, p, part)
}

func (s *aggregateDemoter) parts(v, h *ir.Value) {
	for i, a := range v.Args {
		s.put(v, s.address(v, h, v.Type.PartOffset(i)), a)
	}
}

// extract loads a part; it copies a large one.
func (s *aggregateDemoter) extract(v, h *ir.Value) {
	from := v.Args[0]
	p := s.address(v, s.home(from), from.Type.PartOffset(int(v.Imm)))
	if h != nil {
		copyLeaves(v, v.Type, h, p)
		s.remove(v)
		return
	}
	v.Op, v.Imm, v.Args = ir.OpLoad, 0, []*ir.Value{p}
}

// phi copies at the end of each predecessor to a temporary, and from there after the phis, as the
// phis of a block may exchange their values.
func (s *aggregateDemoter) phi(v, h *ir.Value) {
	between := edit.NewSlot(s.f, v.Type)
	between.Type = ir.Ptr
	for i, a := range v.Args {
		copyLeaves(v.Block.Preds[i].Term(), v.Type, between, s.home(a))
	}
	b := v.Block
	copyLeaves(b.Values[len(b.Phis())], v.Type, h, between)
}
