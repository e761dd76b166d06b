package ptx

import "github.com/gopherwarp/gopherwarp/internal/ir"

// memory selects load, store and atomicadd.
func (s *selector) memory(v *ir.Value) {
	at, space := s.place(v.Args[0]), v.Args[0].Type.Space
	switch v.Op {
	case ir.OpLoad:
		s.vals[v.ID] = s.widenLoaded(v.Type, func(c class, typ string) operand {
			return s.load("ld"+suffix(space)+typ, c, at)
		})
	case ir.OpStore:
		s.store("st"+suffix(space)+memType(v.Args[1].Type), at, s.stored(v.Args[1]))
	case ir.OpAtomicAdd:
		s.atomicAdd(v, at, space)
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
func (s *selector) load(op string, c class, at place) operand {
	r := s.out.newReg(c)
	s.emit(inst{op: op, form: access, dst: r, args: []operand{at.base}, offset: at.offset})
	return operand{reg: r}
}

func (s *selector) store(op string, at place, o operand) {
	s.emit(inst{op: op, form: access, args: []operand{at.base, o}, offset: at.offset})
}

// storePair stores two numbers of 32 bits side by side, aligned to 8.
func (s *selector) storePair(at place, x, y operand) {
	s.emit(inst{op: "st.global.v2.u32", form: vector, args: []operand{at.base, x, y}, offset: at.offset})
}

// atomicAdd selects an atomic addition; red where nobody wants the old value. Integers add
// alike with and without sign. Memory of one thread needs no atom, which has no such form.
func (s *selector) atomicAdd(v *ir.Value, at place, space ir.Space) {
	typ, c := memType(v.Type), classOf(v.Type)
	x := s.operand(v.Args[1])
	if space == ir.Local {
		old := s.load("ld.local"+typ, c, at)
		add := "add" + typ
		if v.Type.IsFloat() {
			add = "add.rn" + typ
		}
		s.store("st.local"+typ, at, s.def(c, add, old, x))
		s.vals[v.ID] = old
		return
	}
	op := ".relaxed.gpu" + suffix(space) + ".add" + typ
	if s.used[v.ID] == 0 {
		s.store("red"+op, at, x)
		return
	}
	r := s.out.newReg(c)
	s.emit(inst{op: "atom" + op, form: access, dst: r, args: []operand{at.base, x}, offset: at.offset})
	s.vals[v.ID] = operand{reg: r}
}
