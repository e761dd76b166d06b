package machine

import (
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/scalar"
)

// rounding takes the modifiers that say how a float result is rounded. Where none does, to
// nearest: the ISA lets only a plain mul and add of one expression be contracted.
func (d *decoder) rounding() scalar.Rounding {
	r := scalar.Rounding{Flush: d.m.has("ftz"), Clamp: d.m.has("sat")}
	switch d.m.oneOf("rn", "rz", "rm", "rp") {
	case "rz":
		r.Mode = scalar.Zero
	case "rm":
		r.Mode = scalar.Down
	case "rp":
		r.Mode = scalar.Up
	}
	return r
}

// width doubles a type, for mul.wide and mad.wide.
func double(t ptx.Type) ptx.Type {
	switch t {
	case ptx.U16:
		return ptx.U32
	case ptx.S16:
		return ptx.S32
	case ptx.U32:
		return ptx.U64
	case ptx.S32:
		return ptx.S64
	}
	return ptx.NoType
}

func (d *decoder) binaryArithmetic() {
	t := d.m.typ()
	if t == ptx.F32 || t == ptx.F64 {
		d.binaryFloat(t)
		return
	}
	d.need((t.Class() == ptx.Signed || t.Class() == ptx.Unsigned) && t.Size() >= 2)
	if d.err != nil {
		return
	}
	to := t
	var f scalar.Binary
	switch d.in.Op {
	case "add", "sub":
		d.addition(t)
		return
	case "mul":
		f, to = d.product(t)
	case "div":
		f = scalar.Div(t)
	case "rem":
		f = scalar.Rem(t)
	case "min":
		f = scalar.Min(t)
	case "max":
		f = scalar.Max(t)
	}
	d.binary(f, to, t, t)
}

// addition decodes add and sub on integers, with their variants that clamp or set the carry.
func (d *decoder) addition(t ptx.Type) {
	if d.m.has("cc") {
		d.carry(t, false, true)
		return
	}
	sat := d.m.has("sat")
	d.need(!sat || t == ptx.S32)
	f := scalar.Add(t)
	switch {
	case d.in.Op == "add" && sat:
		f = scalar.AddSat()
	case sat:
		f = scalar.SubSat()
	case d.in.Op == "sub":
		f = scalar.Sub(t)
	}
	d.binary(f, t, t, t)
}

// product returns the multiplication that .lo, .hi or .wide names, and its result's type.
func (d *decoder) product(t ptx.Type) (scalar.Binary, ptx.Type) {
	switch d.m.oneOf("lo", "hi", "wide") {
	case "lo":
		return scalar.MulLo(t), t
	case "hi":
		return scalar.MulHi(t), t
	case "wide":
		to := double(t)
		d.need(to != ptx.NoType)
		return scalar.MulWide(t), to
	}
	d.fail("none of .lo, .hi and .wide")
	return nil, t
}

func (d *decoder) binaryFloat(t ptx.Type) {
	if d.in.Op == "min" || d.in.Op == "max" {
		d.extremum(t)
		return
	}
	if d.in.Op == "div" && (d.m.has("full") || d.m.has("approx")) {
		d.divApprox(t)
		return
	}
	r := d.rounding()
	var f scalar.Binary
	ok := true
	switch d.in.Op {
	case "add":
		f, ok = scalar.FloatAdd(t, r)
	case "sub":
		f, ok = scalar.FloatSub(t, r)
	case "mul":
		f, ok = scalar.FloatMul(t, r)
	case "div":
		f, ok = scalar.FloatDiv(t, r)
		ok = ok && !r.Clamp && hasRounding(d.in)
	default: // rem
		ok = false
	}
	d.need(ok)
	d.binary(f, t, t, t)
}

// hasRounding reports whether the instruction names a rounding mode, which some must.
func hasRounding(in *ptx.Instr) bool {
	m := mods{append([]string(nil), in.Mods...)}
	return m.oneOf("rn", "rz", "rm", "rp") != ""
}

func (d *decoder) extremum(t ptx.Type) {
	e := scalar.Extremum{Max: d.in.Op == "max", Flush: d.m.has("ftz"), NaN: d.m.has("NaN")}
	if d.m.has("xorsign") {
		e.SignAbs = true
		d.need(d.m.has("abs"))
	}
	f, ok := scalar.FloatMinMax(t, e)
	d.need(ok)
	d.binary(f, t, t, t)
}

// divApprox decodes div.approx and div.full, which both may be 2 units in the last place off.
func (d *decoder) divApprox(t ptx.Type) {
	ftz := d.m.has("ftz")
	d.need(t == ptx.F32)
	f := scalar.DivApprox(ftz)
	for _, s := range d.in.Mods {
		if s == "full" {
			f, _ = scalar.FloatDiv(t, scalar.Rounding{Flush: ftz})
		}
	}
	d.binary(f, t, t, t)
}

func (d *decoder) carryArithmetic() {
	t := d.integer()
	d.carry(t, true, d.m.has("cc"))
}

// carry decodes the additions of more than one word (section 9.7.2).
func (d *decoder) carry(t ptx.Type, in, out bool) {
	d.need(t.Size() >= 4)
	if !d.args(3, 3) {
		return
	}
	op := &carryOp{mask: mask(t.Size()), subtract: d.in.Op[:3] == "sub", in: in, out: out}
	d.emit(instr{exec: op.exec, d: d.dst(0, t), a: d.src(1, t), b: d.src(2, t)})
}

func (d *decoder) multiplyAdd() {
	t := d.m.typ()
	if t == ptx.F32 || t == ptx.F64 {
		r := d.rounding()
		f, ok := scalar.FloatFma(t, r)
		d.need(ok && hasRounding(d.in))
		d.ternary(f, t, [3]ptx.Type{t, t, t})
		return
	}
	d.need(d.in.Op == "mad" && (t.Class() == ptx.Signed || t.Class() == ptx.Unsigned) && t.Size() >= 2)
	if d.err != nil {
		return
	}
	if d.m.has("sat") {
		d.need(t == ptx.S32 && d.m.has("hi"))
		d.ternary(scalar.MadHiSat(), t, [3]ptx.Type{t, t, t})
		return
	}
	f, to := d.product(t)
	if d.err == nil {
		d.ternary(scalar.Mad(f, to), to, [3]ptx.Type{t, t, to})
	}
}

func (d *decoder) mul24() {
	high := d.m.oneOf("hi", "lo") == "hi"
	t := d.integer()
	d.need(t.Size() == 4)
	d.binary(scalar.Mul24(t, high), t, t, t)
}

func (d *decoder) sign() {
	t := d.m.typ()
	if t == ptx.F32 || t == ptx.F64 {
		build := scalar.FloatNeg
		if d.in.Op == "abs" {
			build = scalar.FloatAbs
		}
		f, ok := build(t, d.m.has("ftz"))
		d.need(ok)
		d.unary(f, t, t)
		return
	}
	d.need(t.Class() == ptx.Signed && t.Size() >= 2)
	if d.err != nil {
		return
	}
	if d.in.Op == "abs" {
		d.unary(scalar.Abs(t), t, t)
		return
	}
	d.unary(scalar.Neg(t), t, t)
}

// function1 decodes the functions of one float: rounded, or approximate.
func (d *decoder) function1() {
	t := d.float()
	approx := d.m.has("approx")
	r := d.rounding()
	d.need(approx != hasRounding(d.in) && !r.Clamp)
	var f scalar.Unary
	ok := false
	switch {
	case approx:
		f, ok = scalar.Approx(d.in.Op, t, r.Flush)
	case d.in.Op == "rcp":
		f, ok = scalar.FloatRcp(t, r)
	case d.in.Op == "sqrt":
		f, ok = scalar.FloatSqrt(t, r)
	}
	d.need(ok)
	d.unary(f, t, t)
}

func (d *decoder) testp() {
	property := d.m.oneOf("finite", "infinite", "number", "notanumber", "normal", "subnormal")
	t := d.float()
	f, ok := scalar.Testp(property, t)
	d.need(ok)
	if d.args(2, 2) {
		a := d.src(1, t)
		d.emit(instr{exec: execSetp, rel: func(a, _ uint64) bool { return f(a) != 0 }, a: a, b: a, p: d.predDst(d.arg(0)), q: -1, combine: &combination{}})
	}
}
