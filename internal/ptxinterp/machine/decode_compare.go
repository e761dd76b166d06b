package machine

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/scalar"
)

// relation takes the comparison and how it is combined with a predicate.
func (d *decoder) relation() (rel scalar.Relation, op string, t ptx.Type) {
	cmp := d.m.oneOf("eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")
	op = d.m.oneOf("and", "or", "xor")
	ftz := d.m.has("ftz")
	t = d.m.typ()
	d.need(t.Size() >= 2 && t.Size() <= 8)
	if d.err != nil {
		return nil, "", t
	}
	rel, ok := scalar.Compare(cmp, t, ftz)
	d.need(ok)
	return rel, op, t
}

// combined decodes the predicate at argument i that .and, .or or .xor asks for.
func (d *decoder) combined(op string, i int) *combination {
	c := &combination{op: op}
	if op != "" {
		c.pred, c.negate = d.predicate(i)
	}
	return c
}

func (d *decoder) setp() {
	rel, op, t := d.relation()
	n := 3
	if op != "" {
		n = 4
	}
	if !d.args(n, n) {
		return
	}
	first, second := d.pair()
	in := instr{exec: execSetp, rel: rel, p: d.predDst(first), q: d.predDst(second), a: d.src(1, t), b: d.src(2, t), combine: d.combined(op, 3)}
	in.all = fastCompare(d.in.Mods[0], t, slices.Contains(d.in.Mods, "ftz"))
	d.emit(in)
}

// set decodes the comparison whose result is a number: all ones, or 1.0.
func (d *decoder) set() {
	to := d.m.typ()
	d.need(to == ptx.U32 || to == ptx.S32 || to == ptx.F32)
	rel, op, t := d.relation()
	n := 3
	if op != "" {
		n = 4
	}
	if !d.args(n, n) {
		return
	}
	truth := uint64(0xffffffff)
	if to == ptx.F32 {
		truth = 0x3f800000
	}
	d.emit(instr{exec: execSet, rel: rel, imm: truth, d: d.dst(0, to), a: d.src(1, t), b: d.src(2, t), combine: d.combined(op, 3)})
}

func (d *decoder) selp() {
	t := d.m.typ()
	d.need(t.Size() >= 2 && t.Size() <= 8)
	if !d.args(4, 4) {
		return
	}
	in := instr{exec: execSelp, d: d.dst(0, t), a: d.src(1, t), b: d.src(2, t)}
	var negate bool
	in.p, negate = d.predicate(3)
	if negate {
		in.a, in.b = in.b, in.a
	}
	d.emit(in)
}

func (d *decoder) slct() {
	ftz := d.m.has("ftz")
	t, tc := d.m.typ(), d.m.typ()
	d.need(t.Size() >= 2 && t.Size() <= 8)
	positive, ok := scalar.AtLeastZero(tc, ftz)
	d.need(ok)
	f := func(a, b, c uint64) uint64 {
		if positive(c) {
			return a
		}
		return b
	}
	d.ternary(f, t, [3]ptx.Type{t, t, tc})
}
