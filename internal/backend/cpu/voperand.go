package cpu

import (
	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/vasm"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// result returns where v's value is, or will be, for the current block.
func (z *vectorizer) result(v *ir.Value) *vector {
	if v.Op != ir.OpParam && z.stays(v) && z.parted(v, z.user) {
		return z.outer(v)
	}
	return z.inner(v)
}

// outer returns what lanes keep of v, which stays, when they leave its loop.
func (z *vectorizer) outer(v *ir.Value) *vector {
	r := z.left[v]
	if r == nil {
		r = &vector{shape: shape{kind: varying}, reg: [2]vreg{z.vector()}}
		if isWide(v.Type) {
			r.reg[1] = z.vector()
		}
		z.left[v] = r
	}
	return r
}

// inner returns where v's value is in its loop.
func (z *vectorizer) inner(v *ir.Value) *vector {
	if r := z.vals[v]; r != nil {
		return r
	}
	defer func(user *node) { z.user = user }(z.user)
	z.user = nil
	r := &vector{shape: z.shape(v)}
	switch {
	case r.kind == uniform || r.kind == affine:
		r.reg[0] = z.code.Reg(vasm.Integer)
	case v.Type.Kind == ir.KindI1:
		r.reg[0] = z.unit.mask()
	case !v.Type.IsScalar():
		panic(scalar("a struct or an array"))
	default:
		r.reg[0] = z.code.Reg(vasm.Vector)
		if isWide(v.Type) {
			r.reg[1] = z.code.Reg(vasm.Vector)
		}
	}
	z.vals[v] = r
	return r
}

// regs returns the registers of r.
func (z *vectorizer) regs(r *vector) []vreg {
	if r.reg[1] != 0 {
		return r.reg[:]
	}
	return r.reg[:1]
}

// integer returns the register of v, which is uniform, or of an affine one's first lane.
func (z *vectorizer) integerOf(v *ir.Value) vreg {
	switch {
	case v.Op == ir.OpConst && v.Type.Kind == ir.KindI1: // 0 or 1, as comparisons leave them
		return z.number(v.Imm & 1)
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
		panic(scalar("an address of an unsupported form"))
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
		return twice(z.constant(v.Imm, isWide(v.Type)))
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

func (z *vectorizer) broadcast(from vreg, wide bool) [2]vreg {
	r := z.vector()
	z.unit.broadcast(from, r, wide)
	return twice(r)
}

// broadcastOnce is broadcast for a number that never changes.
func (z *vectorizer) broadcastOnce(from vreg, wide bool) [2]vreg {
	key := constant{int64(from), wide}
	r := z.outside[key]
	if r == 0 {
		r = z.vector()
		z.code.Ahead(func() { z.unit.broadcast(from, r, wide) })
		z.outside[key] = r
	}
	return twice(r)
}

// spread returns an affine value in vectors.
func (z *vectorizer) spread(v *ir.Value, s shape) [2]vreg {
	base := z.broadcast(z.integerOf(v), isWide(v.Type))[0]
	if !isWide(v.Type) {
		r := z.vector()
		z.code.Op("VPADDD", vasm.Use(base), vasm.Use(z.count()), vasm.Def(r))
		return [2]vreg{r}
	}
	var out [2]vreg
	for i, step := range z.steps(s.stride) {
		out[i] = z.vector()
		z.code.Op("VPADDQ", vasm.Use(base), vasm.Use(step), vasm.Def(out[i]))
	}
	return out
}

// steps returns the stride times the number of the lane.
func (z *vectorizer) steps(stride int64) [2]vreg {
	key := constant{stride, true}
	r, ok := z.strides[key]
	if !ok {
		r = [2]vreg{z.vector(), z.vector()}
		z.code.Ahead(func() {
			for i := range r {
				z.unit.steps(i, stride, r[i])
			}
		})
		z.strides[key] = r
	}
	return r
}

// count returns the number of the lane in 32 bits.
func (z *vectorizer) count() vreg {
	if z.counted == 0 {
		z.counted = z.vector()
		z.code.Ahead(func() { z.unit.count(z.counted) })
	}
	return z.counted
}

// maskOfValue returns the lanes in which the truth value v holds.
func (z *vectorizer) maskOfValue(v *ir.Value) vreg {
	if z.shape(v).kind == varying {
		return z.result(v).reg[0]
	}
	n, m := z.code.Reg(vasm.Integer), z.unit.mask()
	z.code.Op("MOVQ", vasm.Use(z.integerOf(v)), vasm.Def(n))
	z.code.Op("NEGQ", vasm.Mod(n))
	z.unit.truth(n, m)
	return m
}

// half returns the lanes of m, or those that half i of a wide vector has; all for 0.
func (z *vectorizer) half(m vreg, i int, wide bool) vreg {
	if wide {
		return z.unit.half(m, i)
	}
	return m
}

// activeMask returns the mask of the current block; 0 for all lanes.
func (z *vectorizer) activeMask() vreg {
	if z.block == nil || z.mask[z.block.rank] == nil {
		return 0
	}
	return z.lane(z.mask[z.block.rank])
}

// allLanes returns a mask of all lanes.
func (z *vectorizer) allLanes() vreg {
	m := z.unit.mask()
	z.unit.all(m)
	return m
}
