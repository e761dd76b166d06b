package machine

import "github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"

// arg returns an operand that must be there: args has been asked.
func (d *decoder) arg(i int) ptx.Operand {
	if i >= len(d.in.Args) {
		d.fail("%d operands", len(d.in.Args))
		return ptx.Operand{Kind: ptx.SinkOperand}
	}
	return d.in.Args[i]
}

// src returns the row of source operand i of type t.
func (d *decoder) src(i int, t ptx.Type) int32 { return d.source(d.arg(i), t, false) }

// wide is src for the instructions that take registers wider than their type.
func (d *decoder) wide(i int, t ptx.Type) int32 { return d.source(d.arg(i), t, true) }

func (d *decoder) source(o ptx.Operand, t ptx.Type, wider bool) int32 {
	if o.Negate {
		d.fail("! before an operand that is not a predicate")
	}
	switch o.Kind {
	case ptx.RegOperand:
		d.check(o, t, wider)
		return d.fn.regs[o.Reg]
	case ptx.SpecialOperand:
		return d.special(o.Name, t)
	case ptx.VarOperand:
		if t.Size() != 8 && t.Size() != 4 || t.Class() == ptx.Float {
			d.fail("address of %s as %v", o.Var.Name, t)
		}
		return d.constant((d.address(o.Var) + o.Bits) & mask(t.Size()))
	}
	bits, ok := o.As(t)
	if !ok {
		d.fail("operand %s is not a %v", describe(o), t)
	}
	return d.constant(bits & mask(t.Size()))
}

func describe(o ptx.Operand) string {
	if o.Name != "" {
		return o.Name
	}
	return [...]string{"register", "special register", "integer", "float", "float", "variable", "label", "table", "function", "address", "vector", "pair", "list", "_"}[o.Kind]
}

// check compares a register's type with that of the instruction (sections 9.4 and 9.4.1):
// sizes agree or, where that is allowed, the register is wider; floats and integers do not
// mix; untyped bits go with both.
func (d *decoder) check(o ptx.Operand, t ptx.Type, wider bool) {
	have := d.fn.f.Regs[o.Reg].Type
	sizes := have.Size() == t.Size() || wider && have.Size() > t.Size() && have.Class() != ptx.Float && t.Class() != ptx.Float
	if t.Class() == ptx.Float && wider && have.Class() == ptx.Untyped && have.Size() > t.Size() {
		sizes = true
	}
	classes := have.Class() == ptx.Untyped || t.Class() == ptx.Untyped || (have.Class() == ptx.Float) == (t.Class() == ptx.Float)
	if (have == ptx.Pred) != (t == ptx.Pred) || !sizes || !classes {
		d.fail("register %s of type %v as %v", o.Name, have, t)
	}
}

// dst returns the row of destination operand i of type t.
func (d *decoder) dst(i int, t ptx.Type) int32 {
	r, _ := d.destination(d.arg(i), t, false)
	return r
}

// wideDst is dst for the instructions whose destination may be wider, with the mask of the
// register's bits.
func (d *decoder) wideDst(i int, t ptx.Type) (int32, uint64) { return d.destination(d.arg(i), t, true) }

func (d *decoder) destination(o ptx.Operand, t ptx.Type, wider bool) (int32, uint64) {
	if o.Kind == ptx.SinkOperand {
		return d.scratch, mask(8)
	}
	if o.Kind != ptx.RegOperand || o.Negate {
		d.fail("%s as a destination", describe(o))
		return 0, 0
	}
	d.check(o, t, wider)
	return d.fn.regs[o.Reg], mask(d.fn.f.Regs[o.Reg].Type.Size())
}

// predicate returns source predicate i, and whether it is negated.
func (d *decoder) predicate(i int) (int32, bool) {
	o := d.arg(i)
	switch o.Kind {
	case ptx.RegOperand:
		d.check(o, ptx.Pred, false)
		return d.fn.regs[o.Reg], o.Negate
	case ptx.IntOperand:
		return int32(min(o.Bits, 1)), o.Negate
	}
	d.fail("%s as a predicate", describe(o))
	return predFalse, false
}

// predDst returns a destination predicate; -1 for a sink.
func (d *decoder) predDst(o ptx.Operand) int32 {
	if o.Kind == ptx.SinkOperand {
		return -1
	}
	if o.Kind != ptx.RegOperand || o.Negate {
		d.fail("%s as a destination", describe(o))
		return -1
	}
	d.check(o, ptx.Pred, false)
	return d.fn.regs[o.Reg]
}

// pair takes destination operand 0 apart: what stands before a "|" and what after it.
func (d *decoder) pair() (first ptx.Operand, second ptx.Operand) {
	o := d.arg(0)
	if o.Kind == ptx.PairOperand {
		return o.Elems[0], o.Elems[1]
	}
	return o, ptx.Operand{Kind: ptx.SinkOperand}
}

// address returns a variable's address within its space.
func (d *decoder) address(v *ptx.Var) uint64 {
	if a, ok := d.addrs[v]; ok {
		return a
	}
	if r, ok := d.mod.vars[v]; ok {
		return r.base
	}
	d.fail("variable %s has no address here", v.Name)
	return 0
}

// place decodes the address operand i for an access to a space: row of the base, offset, and
// the space that is meant.
func (d *decoder) place(i int, space ptx.Space) (int32, uint64, ptx.Space) {
	o := d.arg(i)
	if o.Kind != ptx.AddressOperand {
		d.fail("%s where an address is expected", describe(o))
		return 0, 0, space
	}
	base := o.Elems[0]
	switch base.Kind {
	case ptx.RegOperand:
		t := d.fn.f.Regs[base.Reg].Type
		if t.Class() == ptx.Float || t.Size() < 4 || t == ptx.Pred {
			d.fail("register %s of type %v as an address", base.Name, t)
		}
		return d.fn.regs[base.Reg], o.Bits, space
	case ptx.IntOperand:
		return d.constant(base.Bits), 0, space
	case ptx.VarOperand:
		return d.constant(d.address(base.Var)), o.Bits, d.spaceOf(base.Var, space)
	}
	d.fail("%s as an address", describe(base))
	return 0, 0, space
}

// spaceOf returns where the variable lies that an access to the given space names. A
// function's parameters and the parameters of a call lie in local memory.
func (d *decoder) spaceOf(v *ptx.Var, space ptx.Space) ptx.Space {
	generic := space == ptx.Generic && (v.Space == ptx.Global || v.Space == ptx.Const)
	if v.Space != space && !generic {
		d.fail("variable %s of space %v in an access to %v", v.Name, v.Space, space)
	}
	if v.Space == ptx.Param && !d.isEntryParam(v) {
		return ptx.Local
	}
	return v.Space
}

func (d *decoder) isEntryParam(v *ptx.Var) bool {
	if !d.fn.f.Entry {
		return false
	}
	for _, p := range d.fn.f.Params {
		if p == v {
			return true
		}
	}
	return false
}
