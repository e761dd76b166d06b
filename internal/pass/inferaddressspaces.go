package pass

import "github.com/gopherwarp/gopherwarp/internal/ir"

// inferAddressSpaces gives pointers the address space that they point into. A kernel's parameters
// point into global memory, the address of a variable or local has its space, and what is computed
// from a pointer points into the same space. Where spaces merge, and in memory, pointers are
// generic, and bitcasts convert to that.
//
//	kernel k(%0 ptr @0)               kernel k(%0 ptr.global @0)
//	    %1 = var ptr $tile                %1 = var ptr.shared $tile
//	    %3 = index ptr %0, %2     ->      %3 = index ptr.global %0, %2
//	    %4 = load f32 %3                  %4 = load f32 %3
//	    store %1, %4                      store %1, %4
func inferAddressSpaces(f *ir.Func, _ *Options) {
	s := &spaceInferrer{f: f, of: make([]spaceSet, f.NumValues())}
	for _, p := range f.Params {
		if p.Type.IsPtr() {
			s.of[p.ID] = s.root(p)
		}
	}
	for changed := true; changed; {
		changed = false
		for _, b := range f.Blocks {
			for _, v := range b.Values {
				if v.Type.IsPtr() {
					now := s.of[v.ID] | s.transfer(v)
					changed = changed || now != s.of[v.ID]
					s.of[v.ID] = now
				}
			}
		}
	}
	s.retype()
	s.convert()
}

// A spaceSet is the set of spaces that a pointer may point into; nil counts as one of its own.
type spaceSet uint8

const spaceNil spaceSet = 1 << 7

// space returns the only space of a pointer. The bits of nil are a valid address in shared and local
// memory, so pointers that may be nil are generic there.
func (p spaceSet) space() ir.Space {
	switch p {
	case 1 << ir.Global, 1<<ir.Global | spaceNil:
		return ir.Global
	case 1 << ir.Constant, 1<<ir.Constant | spaceNil:
		return ir.Constant
	case 1 << ir.Shared:
		return ir.Shared
	case 1 << ir.Local:
		return ir.Local
	}
	return ir.Generic
}

// A spaceInferrer holds the spaces of one function's pointers.
type spaceInferrer struct {
	f  *ir.Func
	of []spaceSet // by value ID
}

// root returns the spaces of a pointer that is not computed from another one.
func (s *spaceInferrer) root(v *ir.Value) spaceSet {
	switch {
	case v.Type.Space != ir.Generic:
		return 1 << v.Type.Space
	case v.Op == ir.OpConst:
		return spaceNil
	case v.Op == ir.OpVar:
		return 1 << v.Aux.(*ir.Variable).Space
	case v.Op == ir.OpAlloca:
		return 1 << ir.Local
	case v.Op == ir.OpParam && s.f.Kernel:
		return 1 << ir.Global
	}
	return 1 << ir.Generic
}

// transfer returns the spaces of v as those of its arguments imply.
func (s *spaceInferrer) transfer(v *ir.Value) spaceSet {
	switch v.Op {
	case ir.OpOffset, ir.OpIndex:
		return s.of[v.Args[0].ID]
	case ir.OpBitcast: // of an earlier run of the pass
		if v.Args[0].Type.IsPtr() {
			return s.of[v.Args[0].ID]
		}
	case ir.OpSelect:
		return s.of[v.Args[1].ID] | s.of[v.Args[2].ID]
	case ir.OpPhi:
		var p spaceSet
		for _, a := range v.Args {
			p |= s.of[a.ID]
		}
		return p
	}
	return s.root(v)
}

// retype gives each pointer the type of its space.
func (s *spaceInferrer) retype() {
	for _, p := range s.f.Params {
		if p.Type.IsPtr() && s.f.Kernel {
			p.Type = ir.PtrTo(s.of[p.ID].space())
		}
	}
	for _, b := range s.f.Blocks {
		for _, v := range b.Values {
			if v.Type.IsPtr() && v.Op != ir.OpLoad && v.Op != ir.OpExtract && v.Op != ir.OpCall {
				v.Type = ir.PtrTo(s.of[v.ID].space())
			}
		}
	}
}

// convert inserts bitcasts where arguments no longer have the required type.
func (s *spaceInferrer) convert() {
	for _, b := range s.f.Blocks {
		e := &editor{b: b}
		for _, v := range b.Values {
			e.pos = v.Pos
			if v.Op != ir.OpPhi {
				s.convertArgs(e, v)
			}
			e.out = append(e.out, v)
		}
		b.Values = e.out
	}
	for _, b := range s.f.Blocks {
		for _, phi := range b.Phis() {
			for i, a := range phi.Args {
				phi.Args[i] = atEnd(b.Preds[i], func(e *editor) *ir.Value { return cast(e, a, phi.Type) })
			}
		}
	}
}

// atEnd calls edit with an editor that inserts before b's terminator.
func atEnd(b *ir.Block, edit func(e *editor) *ir.Value) *ir.Value {
	n := len(b.Values) - 1
	term := b.Values[n]
	e := &editor{b: b, out: b.Values[:n:n], pos: term.Pos}
	v := edit(e)
	b.Values = append(e.out, term)
	return v
}

// convertArgs converts the arguments of v.
func (s *spaceInferrer) convertArgs(e *editor, v *ir.Value) {
	if v.Op.Atomic() || v.Op == ir.OpCopyAsync || len(v.Op.InShared()) > 0 {
		return
	}
	switch v.Op {
	case ir.OpLoad, ir.OpCheck, ir.OpPrint, ir.OpFault:
	case ir.OpOffset, ir.OpIndex:
		v.Args[0] = cast(e, v.Args[0], v.Type)
	case ir.OpSelect:
		v.Args[1], v.Args[2] = cast(e, v.Args[1], v.Type), cast(e, v.Args[2], v.Type)
	case ir.OpEq, ir.OpNe, ir.OpULt, ir.OpULe, ir.OpSLt, ir.OpSLe:
		if v.Args[0].Type.IsPtr() {
			t := commonType(v.Args[0], v.Args[1])
			v.Args[0], v.Args[1] = cast(e, v.Args[0], t), cast(e, v.Args[1], t)
		}
	case ir.OpStore:
		v.Args[1] = cast(e, v.Args[1], ir.Ptr)
	case ir.OpBitcast:
		if !v.Type.IsPtr() {
			v.Args[0] = cast(e, v.Args[0], ir.Ptr)
		}
	default:
		for i, a := range v.Args {
			v.Args[i] = cast(e, a, ir.Ptr)
		}
	}
}

// commonType returns the type in which the pointers a and b are compared.
func commonType(a, b *ir.Value) *ir.Type {
	switch {
	case a.Type.Equal(b.Type) || isConst(b):
		return a.Type
	case isConst(a):
		return b.Type
	}
	return ir.Ptr
}

// cast returns the pointer v as type t; other values are returned as they are.
func cast(e *editor, v *ir.Value, t *ir.Type) *ir.Value {
	switch {
	case !v.Type.IsPtr() || v.Type.Equal(t):
		return v
	case isConst(v):
		return e.constant(t, v.Imm)
	}
	return e.make(ir.OpBitcast, t, v)
}
