package ptx

import "github.com/gopherwarp/gopherwarp/internal/ir"

// memory selects load and store.
func (s *selector) memory(v *ir.Value) {
	at, space := s.addressOf(v.Args[0]), v.Args[0].Type.Space
	switch {
	case v.Op == ir.OpLoad && isVector(v.Type):
		s.loadVector(v, at)
	case v.Op == ir.OpStore && isVector(v.Args[1].Type):
		s.storeVector(v, at)
	case v.Op == ir.OpLoad:
		s.vals[v.ID] = s.widenLoaded(v.Type, func(c class, typ string) operand {
			return s.load("ld"+s.source(v)+typ, c, at)
		})
	case v.Op == ir.OpStore:
		s.store("st"+suffix(space)+memType(v.Args[1].Type), at, s.stored(v.Args[1]))
	}
}

// memType returns the suffix of a load or store of type t.
func memType(t *ir.Type) string {
	switch t.Kind {
	case ir.KindI1, ir.KindI8:
		return ".u8"
	case ir.KindI16:
		return ".u16"
	case ir.KindI32:
		return ".u32"
	case ir.KindF32:
		return ".f32"
	case ir.KindF64:
		return ".f64"
	}
	return ".u64"
}

// widenLoaded loads a value of type t by load and returns it as registers hold it.
func (s *selector) widenLoaded(t *ir.Type, load func(c class, typ string) operand) operand {
	switch {
	case t.Kind == ir.KindI1:
		return s.def(pred, "setp.ne.u32", load(b32, ".u8"), imm(0))
	case t.IsPtr():
		return s.fromGeneric(t.Space, load(b64, ".u64"))
	}
	return load(classOf(t), memType(t))
}

// stored returns v as memory holds it.
func (s *selector) stored(v *ir.Value) operand {
	switch {
	case v.Type.Kind == ir.KindI1:
		return s.extended(v, false)
	case v.Type.IsPtr():
		return s.toGeneric(v)
	}
	return s.operand(v)
}

// load adds a load, which must stay in its place.
func (s *selector) load(op string, c class, at address) operand {
	r := s.out.newReg(c)
	s.emit(inst{op: op, form: access, dst: r, args: []operand{at.base}, offset: at.offset})
	return operand{reg: r}
}

func (s *selector) store(op string, at address, o operand) {
	s.emit(inst{op: op, form: access, args: []operand{at.base, o}, offset: at.offset})
}

// storePair stores two numbers of 32 bits side by side, aligned to 8.
func (s *selector) storePair(at address, x, y operand) {
	s.emit(inst{op: "st.global.v2.u32", form: vector, args: []operand{at.base, x, y}, offset: at.offset})
}
