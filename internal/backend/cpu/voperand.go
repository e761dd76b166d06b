package cpu

import (
	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/vasm"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

type vreg = vasm.Reg

// isWide reports whether a vector of type t has two registers.
func isWide(t *ir.Type) bool { return t.Kind == ir.KindI64 || t.Kind == ir.KindF64 || t.IsPtr() }

// result returns where v's value is, or will be.
func (z *vectorizer) result(v *ir.Value) *vector {
	if r := z.vals[v]; r != nil {
		return r
	}
	r := &vector{shape: z.shape(v)}
	switch {
	case r.kind == uniform || r.kind == affine:
		r.reg[0] = z.code.Reg(vasm.Integer)
	case v.Type.Kind == ir.KindI1:
		r.reg[0] = z.code.Reg(vasm.Mask)
	case v.Type.Kind == ir.KindI8 || v.Type.Kind == ir.KindI16 || !v.Type.IsScalar():
		panic(scalar("an integer of 8 or 16 bits"))
	default:
		r.reg[0] = z.code.Reg(vasm.Vector)
		if isWide(v.Type) {
			r.reg[1] = z.code.Reg(vasm.Vector)
		}
	}
	z.vals[v] = r
	return r
}

func (z *vectorizer) phi(v *ir.Value) *vector { return z.result(v) }

// regs returns the registers of r.
func (z *vectorizer) regs(r *vector, _ *ir.Value) []vreg {
	if r.reg[1] != 0 {
		return r.reg[:]
	}
	return r.reg[:1]
}

// number returns a register with a number.
func (z *vectorizer) number(n int64) vreg {
	r := z.code.Reg(vasm.Integer)
	z.code.Once("MOVQ", vasm.Imm(n), vasm.Def(r))
	return r
}

// integer returns the register of v, which is uniform, or of an affine one's first lane.
func (z *vectorizer) integerOf(v *ir.Value) vreg {
	switch {
	case v.Op == ir.OpConst:
		return z.number(v.Imm)
	case v.Op == ir.OpTid && v.Imm == 0:
		return z.tx
	case isSpecial(v):
		return z.input(input{v, inputSpecial})
	case v.Op == ir.OpParam || z.shape(v).kind == uniform && z.fromOutside(v):
		if v.Type.IsPtr() {
			return z.pointerInput(v)
		}
		return z.input(input{v, inputValue})
	}
	return z.result(v).reg[0]
}

// fromOutside reports whether v is computed by the caller.
func (z *vectorizer) fromOutside(v *ir.Value) bool {
	return z.level[v.ID] < perThread || z.of[v.Block.ID] != z.g && z.keep[v.ID] == keepBlock
}

// pointerInput returns the register of a pointer that is computed by the caller as a root and bytes
// from there: what points nowhere must not be seen by Go's collector.
func (z *vectorizer) pointerInput(p *ir.Value) vreg {
	if r := z.pointers[p]; r != nil {
		return r.reg[0]
	}
	root := z.rootOf(p)
	switch root.Op {
	case ir.OpParam, ir.OpVar, ir.OpLoad:
	default:
		panic(scalar("an address of another kind"))
	}
	base := z.input(input{root, inputRoot})
	if p == root {
		return base
	}
	r := &vector{shape: shape{kind: uniform}}
	r.reg[0] = z.code.Reg(vasm.Integer)
	offset := z.input(input{p, inputValue})
	z.code.Once("MOVQ", vasm.Use(base), vasm.Def(r.reg[0]))
	z.code.Once("ADDQ", vasm.Use(offset), vasm.Mod(r.reg[0]))
	z.pointers[p] = r
	return r.reg[0]
}

// vectorOf returns the registers of v with its value in every lane.
func (z *vectorizer) vectorOf(v *ir.Value) [2]vreg {
	if v.Type.Kind == ir.KindI1 {
		return [2]vreg{z.maskOfValue(v)}
	}
	switch s := z.shape(v); {
	case v.Op == ir.OpConst:
		return z.constant(v.Imm, isWide(v.Type))
	case v.Type.IsFloat() && (v.Op == ir.OpParam || z.fromOutside(v)):
		r := z.input(input{v, inputValue})
		return [2]vreg{r, r}
	case s.kind == varying:
		return z.result(v).reg
	case s.kind == uniform && (v.Op == ir.OpParam || isSpecial(v) || z.fromOutside(v)):
		return z.broadcastOnce(z.integerOf(v), isWide(v.Type))
	case s.kind == uniform:
		return z.broadcast(z.integerOf(v), isWide(v.Type))
	default:
		return z.spread(v, s)
	}
}

// constant returns a number in all lanes.
func (z *vectorizer) constant(bits int64, wide bool) [2]vreg {
	key := constant{bits, wide}
	r := z.consts[key]
	if r == 0 {
		r = z.code.Reg(vasm.Vector)
		op := "VPBROADCASTD"
		if wide {
			op = "VPBROADCASTQ"
		}
		z.code.Once(op, vasm.Use(z.number(bits)), vasm.Def(r))
		z.consts[key] = r
	}
	return [2]vreg{r, r}
}

func (z *vectorizer) broadcast(from vreg, wide bool) [2]vreg {
	r := z.code.Reg(vasm.Vector)
	op := "VPBROADCASTD"
	if wide {
		op = "VPBROADCASTQ"
	}
	z.code.Op(op, vasm.Use(from), vasm.Def(r))
	return [2]vreg{r, r}
}

// broadcastOnce is broadcast for a number that never changes.
func (z *vectorizer) broadcastOnce(from vreg, wide bool) [2]vreg {
	key := constant{int64(from), wide}
	r := z.outside[key]
	if r == 0 {
		r = z.code.Reg(vasm.Vector)
		op := "VPBROADCASTD"
		if wide {
			op = "VPBROADCASTQ"
		}
		z.code.Once(op, vasm.Use(from), vasm.Def(r))
		z.outside[key] = r
	}
	return [2]vreg{r, r}
}

// spread returns an affine value in vectors.
func (z *vectorizer) spread(v *ir.Value, s shape) [2]vreg {
	base := z.broadcast(z.integerOf(v), isWide(v.Type))[0]
	if !isWide(v.Type) {
		r := z.code.Reg(vasm.Vector)
		z.code.Op("VPADDD", vasm.Use(base), vasm.Use(z.steps32()), vasm.Def(r))
		return [2]vreg{r}
	}
	var out [2]vreg
	for i, step := range z.steps64(s.stride) {
		out[i] = z.code.Reg(vasm.Vector)
		z.code.Op("VPADDQ", vasm.Use(base), vasm.Use(step), vasm.Def(out[i]))
	}
	return out
}

// steps64 returns the stride times the number of the lane.
func (z *vectorizer) steps64(stride int64) [2]vreg {
	key := [2]constant{{stride, true}, {stride, false}}
	if r, ok := z.strides[key]; ok {
		return r
	}
	var out [2]vreg
	by := z.constant(stride, true)[0]
	for i := range out {
		r, n := z.code.Reg(vasm.Vector), z.number(0x0706050403020100+int64(i)*0x0808080808080808)
		z.code.Once("VMOVQ", vasm.Use(n), vasm.Def(r).Word())
		z.code.Once("VPMOVZXBQ", vasm.Use(r).Word(), vasm.Def(r))
		z.code.Once("VPMULLQ", vasm.Use(by), vasm.Use(r), vasm.Def(r))
		out[i] = r
	}
	z.strides[key] = out
	return out
}

// steps32 returns the number of the lane in 32 bits.
func (z *vectorizer) steps32() vreg {
	if z.iota[0] == 0 {
		wide := z.steps64(1)
		r, high := z.code.Reg(vasm.Vector), z.code.Reg(vasm.Vector)
		z.code.Once("VPMOVQD", vasm.Use(wide[0]), vasm.Def(r).Half())
		z.code.Once("VPMOVQD", vasm.Use(wide[1]), vasm.Def(high).Half())
		z.code.Once("VINSERTI64X4", vasm.Imm(1), vasm.Use(high).Half(), vasm.Use(r), vasm.Def(r))
		z.iota[0] = r
	}
	return z.iota[0]
}

// maskOfValue returns the lanes in which the truth value v holds.
func (z *vectorizer) maskOfValue(v *ir.Value) vreg {
	if z.shape(v).kind == varying {
		return z.result(v).reg[0]
	}
	n, m := z.code.Reg(vasm.Integer), z.code.Reg(vasm.Mask)
	z.code.Op("MOVQ", vasm.Use(z.integerOf(v)), vasm.Def(n))
	z.code.Op("NEGQ", vasm.Mod(n))
	z.code.Op("KMOVW", vasm.Use(n), vasm.Def(m))
	return m
}

// join returns the 16 bits of two halves of a mask.
func (z *vectorizer) join(low, high vreg, to vreg) {
	z.code.Op("KUNPCKBW", vasm.Use(low), vasm.Use(high), vasm.Def(to))
}

// half returns the lanes of m that half i of a wide vector has; all for 0.
func (z *vectorizer) half(m vreg, i int) vreg {
	if m == 0 || i == 0 {
		return m
	}
	h := z.code.Reg(vasm.Mask)
	z.code.Op("KSHIFTRW", vasm.Imm(8), vasm.Use(m), vasm.Def(h))
	return h
}

// here returns the mask of the current block; 0 for all lanes.
func (z *vectorizer) activeMask() vreg {
	if m := z.mask[z.block]; m != nil {
		return z.lane(m)
	}
	return 0
}

// all returns a mask of all lanes.
func (z *vectorizer) allLanes() vreg {
	m := z.code.Reg(vasm.Mask)
	z.code.Op("KXNORW", vasm.Def(m), vasm.Def(m), vasm.Def(m))
	return m
}
