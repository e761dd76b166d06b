package machine

import (
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/ptx"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp/scalar"
)

// bitwise decodes and, or, xor on bits or predicates.
func (d *decoder) bitwise() {
	if d.m.has("pred") {
		if d.args(3, 3) {
			in := instr{exec: execPred, p: d.predDst(d.arg(0)), pred: &predOp{op: d.in.Op}}
			in.pred.a, in.pred.notA = d.predicate(1)
			in.pred.b, in.pred.notB = d.predicate(2)
			d.emit(in)
		}
		return
	}
	t := d.untyped()
	f := scalar.And
	switch d.in.Op {
	case "or":
		f = scalar.Or
	case "xor":
		f = scalar.Xor
	}
	d.binary(f, t, t, t)
	d.roundsDown()
}

func (d *decoder) not() {
	if d.m.has("pred") {
		d.movePredicate(true)
		return
	}
	t := d.untyped()
	if d.err == nil {
		d.unary(scalar.Not(t), t, t)
	}
}

// movePredicate decodes mov.pred and not.pred.
func (d *decoder) movePredicate(not bool) {
	if !d.args(2, 2) {
		return
	}
	in := instr{exec: execPred, p: d.predDst(d.arg(0)), pred: &predOp{op: "and", b: predTrue}}
	in.pred.a, in.pred.notA = d.predicate(1)
	in.pred.notA = in.pred.notA != not
	d.emit(in)
}

func (d *decoder) funnel() {
	left := d.m.oneOf("l", "r") == "l"
	wrap := d.m.oneOf("clamp", "wrap") == "wrap"
	d.need(d.m.has("b32"))
	d.ternary(scalar.Funnel(left, wrap), ptx.B32, [3]ptx.Type{ptx.B32, ptx.B32, ptx.U32})
}

func (d *decoder) bfi() {
	t := d.untyped()
	d.need(t.Size() >= 4)
	if !d.args(5, 5) {
		return
	}
	f := scalar.Bfi(t)
	n := d.src(4, ptx.U32)
	exec := func(w *warp, in *instr, mask uint32) {
		dst, a, b, pos, n := w.row(in.d), w.row(in.a), w.row(in.b), w.row(in.c), w.row(n)
		for l := range lanes(mask) {
			dst[l] = f(a[l], b[l], pos[l], n[l])
		}
	}
	d.emit(instr{exec: exec, d: d.dst(0, t), a: d.src(1, t), b: d.src(2, t), c: d.src(3, ptx.U32)})
}

func (d *decoder) maskOrExtend() {
	wrap := d.m.oneOf("clamp", "wrap") == "wrap"
	if d.in.Op == "bmsk" {
		d.need(d.m.has("b32"))
		d.binary(scalar.Bmsk(wrap), ptx.B32, ptx.B32, ptx.B32)
		return
	}
	t := d.integer()
	d.need(t.Size() == 4)
	d.binary(scalar.Szext(t, wrap), t, t, ptx.U32)
}

func (d *decoder) lop3() {
	d.need(d.m.has("b32"))
	if !d.args(5, 5) {
		return
	}
	table := d.arg(4)
	d.need(table.Kind == ptx.IntOperand && table.Bits < 256)
	f := scalar.Lop3(ptx.B32, uint8(table.Bits))
	d.emit(instr{exec: exec3, f3: f, d: d.dst(0, ptx.B32), a: d.src(1, ptx.B32), b: d.src(2, ptx.B32), c: d.src(3, ptx.B32)})
}

func (d *decoder) prmt() {
	d.need(d.m.has("b32"))
	f, ok := scalar.Prmt(d.m.oneOf("f4e", "b4e", "rc8", "ecl", "ecr", "rc16"))
	d.need(ok)
	d.ternary(f, ptx.B32, [3]ptx.Type{ptx.B32, ptx.B32, ptx.B32})
}
