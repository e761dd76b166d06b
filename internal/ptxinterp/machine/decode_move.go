package machine

import (
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/scalar"
)

func (d *decoder) mov() {
	if d.m.has("pred") {
		d.movePredicate(false)
		return
	}
	t := d.m.typ()
	d.need(t.Size() >= 2 && t.Size() <= 8)
	if !d.args(2, 2) {
		return
	}
	switch {
	case d.arg(0).Kind == ptx.VectorOperand:
		d.unpack(t)
	case d.arg(1).Kind == ptx.VectorOperand:
		d.pack(t)
	default:
		d.emit(instr{exec: execMove, d: d.dst(0, t), a: d.src(1, t)})
	}
}

// element returns the type of one of n parts of a value.
func (d *decoder) element(t ptx.Type, n int) ptx.Type {
	switch {
	case t.Size() == 2*n:
		return ptx.B16
	case t.Size() == 4*n:
		return ptx.B32
	case t.Size() == n:
		return ptx.B8
	}
	d.fail("%d parts of %v", n, t)
	return ptx.B8
}

// unpack decodes mov.b64 {a, b}, c.
func (d *decoder) unpack(t ptx.Type) {
	parts := d.arg(0).Elems
	e := d.element(t, len(parts))
	from := d.src(1, t)
	bits := uint64(8 * e.Size())
	// Through a row of its own: the source may be one of the destinations.
	temp := d.scratch
	d.emit(instr{exec: execMove, d: temp, a: from})
	for i, o := range parts {
		if o.Kind == ptx.SinkOperand {
			continue
		}
		shift := bits * uint64(i)
		keep := mask(e.Size())
		to, _ := d.destination(o, e, e == ptx.B8)
		d.emit(instr{exec: exec1, f1: func(a uint64) uint64 { return a >> shift & keep }, d: to, a: temp})
	}
}

// pack decodes mov.b64 c, {a, b}.
func (d *decoder) pack(t ptx.Type) {
	parts := d.arg(1).Elems
	e := d.element(t, len(parts))
	temp := d.scratch
	for i, o := range parts {
		shift := uint64(8 * e.Size() * i)
		keep := mask(e.Size())
		f := func(a, b uint64) uint64 { return b&(1<<shift-1) | a&keep<<shift }
		d.emit(instr{exec: exec2, f2: f, d: temp, a: d.source(o, e, e == ptx.B8), b: temp})
	}
	d.emit(instr{exec: execMove, d: d.dst(0, t), a: temp})
}

func (d *decoder) cvt() {
	c := scalar.Conversion{}
	c.Flush, c.Clamp = d.m.has("ftz"), d.m.has("sat")
	mode := d.m.oneOf("rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi")
	c.Integral = len(mode) == 3
	if mode != "" {
		c.Mode = map[byte]scalar.Mode{'n': scalar.Nearest, 'z': scalar.Zero, 'm': scalar.Down, 'p': scalar.Up}[mode[1]]
	}
	to, from := d.m.typ(), d.m.typ()
	if half, ok := halves[to]; ok {
		d.need(mode == "rn" && !c.Flush && !c.Clamp && from == ptx.F32)
		d.packHalves(half, c)
		return
	}
	d.need(conversionExists(to, from, mode, c.Flush))
	f, ok := scalar.Convert(to, from, c)
	d.need(ok)
	if !d.args(2, 2) {
		return
	}
	dst, keep := d.wideDst(0, to)
	exec, bits := fastConvert(to, from, c.Clamp)
	if exec == nil {
		exec, bits = execConvert, mask(8)
	}
	d.emit(instr{exec: exec, f1: f, imm: keep & bits, d: dst, a: d.wide(1, from)})
}

// halves maps the types of pairs to the types of their halves.
var halves = map[ptx.Type]ptx.Type{ptx.F16x2: ptx.F16, ptx.BF16x2: ptx.BF16}

// packHalves decodes cvt.rn.x2.f32 d, a, b, which converts a to the upper half of d and b to the lower one.
func (d *decoder) packHalves(half ptx.Type, c scalar.Conversion) {
	f, ok := scalar.Convert(half, ptx.F32, c)
	d.need(ok)
	if !d.args(3, 3) {
		return
	}
	pack := func(a, b uint64) uint64 { return f(a)&0xffff<<16 | f(b)&0xffff }
	d.emit(instr{exec: exec2, f2: pack, d: d.dst(0, ptx.B32), a: d.src(1, ptx.F32), b: d.src(2, ptx.F32)})
}

// conversionExists checks the rounding mode: floats to integers need an integral one, whatever
// loses bits of a float or an integer needs one, and nothing else may have one but floats of
// the same size, which take an integral one.
func conversionExists(to, from ptx.Type, mode string, ftz bool) bool {
	toFloat, fromFloat := to.Class() == ptx.Float, from.Class() == ptx.Float
	integral := len(mode) == 3
	if ftz && to != ptx.F32 && from != ptx.F32 {
		return false
	}
	switch {
	case !toFloat && !fromFloat:
		return mode == ""
	case !toFloat:
		return integral
	case !fromFloat || to.Size() < from.Size():
		return mode != "" && !integral
	case to == from:
		return mode == "" || integral
	}
	return mode == ""
}

// cvta decodes the conversions between an address within a space and the generic one.
func (d *decoder) cvta() {
	to := d.m.has("to")
	space := d.m.space()
	t := d.m.typ()
	d.need(t == ptx.U64 && space != ptx.Generic && space != ptx.Register)
	if !d.args(2, 2) {
		return
	}
	offset := window(space)
	if o := d.arg(1); o.Kind == ptx.VarOperand && space == ptx.Param && !d.isEntryParam(o.Var) {
		offset = localWindow
	}
	f := func(a uint64) uint64 { return a + offset }
	if to {
		f = func(a uint64) uint64 { return a - offset }
	}
	d.emit(instr{exec: exec1, f1: f, d: d.dst(0, t), a: d.src(1, t)})
}

// window returns what a space's addresses gain when they become generic.
func window(s ptx.Space) uint64 {
	switch s {
	case ptx.Shared:
		return sharedWindow
	case ptx.Local:
		return localWindow
	case ptx.Param:
		return paramWindow
	}
	return 0
}

// spaceAt returns the space that a generic address lies in; constants count as global.
func spaceAt(a uint64) ptx.Space {
	for _, s := range [...]ptx.Space{ptx.Shared, ptx.Local, ptx.Param} {
		if a-window(s) < windowSize {
			return s
		}
	}
	return ptx.Global
}

func (d *decoder) isspacep() {
	space := d.m.space()
	d.need(space != ptx.Generic && space != ptx.Register)
	if !d.args(2, 2) {
		return
	}
	mem := d.mod.mem
	rel := func(a, _ uint64) bool {
		s := spaceAt(a)
		if r := mem.find(a); s == ptx.Global && r != nil && r.readOnly {
			s = ptx.Const
		}
		return s == space
	}
	a := d.src(1, ptx.U64)
	d.emit(instr{exec: execSetp, rel: rel, a: a, b: a, p: d.predDst(d.arg(0)), q: -1, combine: &combination{}})
}
