package vector

import (
	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/layout"
	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/units"
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
		r = &vector{shape: shape{kind: varying}, reg: [2]units.Vreg{z.Vector()}}
		if units.IsWide(v.Type) {
			r.reg[1] = z.Vector()
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
	defer func(user *layout.Node) { z.user = user }(z.user)
	z.user = nil
	r := &vector{shape: z.shape(v)}
	switch {
	case r.kind == uniform || r.kind == affine:
		r.reg[0] = z.Code.Reg(vasm.Integer)
	case v.Type.Kind == ir.KindI1:
		r.reg[0] = z.Unit.Mask()
	case !v.Type.IsScalar():
		panic(Because("a struct or an array"))
	default:
		r.reg[0] = z.Code.Reg(vasm.Vector)
		if units.IsWide(v.Type) {
			r.reg[1] = z.Code.Reg(vasm.Vector)
		}
	}
	z.vals[v] = r
	return r
}

// regs returns the registers of r.
func (z *vectorizer) regs(r *vector) []units.Vreg {
	if r.reg[1] != 0 {
		return r.reg[:]
	}
	return r.reg[:1]
}

// integer returns the register of v, which is uniform, or of an affine one's first lane.
func (z *vectorizer) integerOf(v *ir.Value) units.Vreg {
	switch {
	case v.Op == ir.OpConst && v.Type.Kind == ir.KindI1: // 0 or 1, as comparisons leave them
		return z.Number(v.Imm & 1)
	case v.Op == ir.OpConst:
		return z.Number(v.Imm)
	case v.Op == ir.OpTid && v.Imm == 0:
		return z.tx
	case layout.IsSpecial(v):
		return z.input(Input{v, InputSpecial})
	case v.Op == ir.OpParam || z.shape(v).kind == uniform && z.fromOutside(v):
		if v.Type.IsPtr() {
			return z.pointerInput(v)
		}
		return z.input(Input{v, InputValue})
	}
	return z.result(v).reg[0]
}

// fromOutside reports whether v is computed by the caller.
func (z *vectorizer) fromOutside(v *ir.Value) bool {
	return z.Level[v.ID] < layout.PerThread || z.Of[v.Block.ID] != z.g && z.Keep[v.ID] == layout.KeepBlock
}

// pointerInput returns the register of a pointer that is computed by the caller as a root and bytes
// from there: what points nowhere must not be seen by Go's collector.
func (z *vectorizer) pointerInput(p *ir.Value) units.Vreg {
	if r := z.pointers[p]; r != nil {
		return r.reg[0]
	}
	root := z.RootOf(p)
	switch root.Op {
	case ir.OpParam, ir.OpVar, ir.OpLoad:
	default:
		panic(Because("an address of an unsupported form"))
	}
	base := z.input(Input{root, InputRoot})
	if p == root {
		return base
	}
	r := &vector{shape: shape{kind: uniform}}
	r.reg[0] = z.Code.Reg(vasm.Integer)
	offset := z.input(Input{p, InputValue})
	z.Code.Once("MOVQ", vasm.Use(base), vasm.Def(r.reg[0]))
	z.Code.Once("ADDQ", vasm.Use(offset), vasm.Mod(r.reg[0]))
	z.pointers[p] = r
	return r.reg[0]
}

// vectorOf returns the registers of v with its value in every lane.
func (z *vectorizer) vectorOf(v *ir.Value) [2]units.Vreg {
	if v.Type.Kind == ir.KindI1 {
		return [2]units.Vreg{z.maskOfValue(v)}
	}
	switch s := z.shape(v); {
	case v.Op == ir.OpConst:
		return twice(z.Constant(v.Imm, units.IsWide(v.Type)))
	case v.Type.IsFloat() && (v.Op == ir.OpParam || z.fromOutside(v)):
		r := z.input(Input{v, InputValue})
		return [2]units.Vreg{r, r}
	case s.kind == varying:
		return z.result(v).reg
	case s.kind == uniform && (v.Op == ir.OpParam || layout.IsSpecial(v) || z.fromOutside(v)):
		return z.broadcastOnce(z.integerOf(v), units.IsWide(v.Type))
	case s.kind == uniform:
		return z.broadcast(z.integerOf(v), units.IsWide(v.Type))
	default:
		return z.spread(v, s)
	}
}

func (z *vectorizer) broadcast(from units.Vreg, wide bool) [2]units.Vreg {
	r := z.Vector()
	z.Unit.Broadcast(from, r, wide)
	return twice(r)
}

// broadcastOnce is broadcast for a number that never changes.
func (z *vectorizer) broadcastOnce(from units.Vreg, wide bool) [2]units.Vreg {
	key := units.Constant{Bits: int64(from), Wide: wide}
	r := z.outside[key]
	if r == 0 {
		r = z.Vector()
		z.Code.Ahead(func() { z.Unit.Broadcast(from, r, wide) })
		z.outside[key] = r
	}
	return twice(r)
}

// spread returns an affine value in vectors.
func (z *vectorizer) spread(v *ir.Value, s shape) [2]units.Vreg {
	base := z.broadcast(z.integerOf(v), units.IsWide(v.Type))[0]
	if !units.IsWide(v.Type) {
		r := z.Vector()
		z.Code.Op("VPADDD", vasm.Use(base), vasm.Use(z.count()), vasm.Def(r))
		return [2]units.Vreg{r}
	}
	var out [2]units.Vreg
	for i, step := range z.steps(s.stride) {
		out[i] = z.Vector()
		z.Code.Op("VPADDQ", vasm.Use(base), vasm.Use(step), vasm.Def(out[i]))
	}
	return out
}

// steps returns the stride times the number of the lane.
func (z *vectorizer) steps(stride int64) [2]units.Vreg {
	key := units.Constant{Bits: stride, Wide: true}
	r, ok := z.strides[key]
	if !ok {
		r = [2]units.Vreg{z.Vector(), z.Vector()}
		z.Code.Ahead(func() {
			for i := range r {
				z.Unit.Steps(i, stride, r[i])
			}
		})
		z.strides[key] = r
	}
	return r
}

// count returns the number of the lane in 32 bits.
func (z *vectorizer) count() units.Vreg {
	if z.counted == 0 {
		z.counted = z.Vector()
		z.Code.Ahead(func() { z.Unit.Count(z.counted) })
	}
	return z.counted
}

// maskOfValue returns the lanes in which the truth value v holds.
func (z *vectorizer) maskOfValue(v *ir.Value) units.Vreg {
	if z.shape(v).kind == varying {
		return z.result(v).reg[0]
	}
	n, m := z.Code.Reg(vasm.Integer), z.Unit.Mask()
	z.Code.Op("MOVQ", vasm.Use(z.integerOf(v)), vasm.Def(n))
	z.Code.Op("NEGQ", vasm.Mod(n))
	z.Unit.Truth(n, m)
	return m
}

// half returns the lanes of m, or those that half i of a wide vector has; all for 0.
func (z *vectorizer) half(m units.Vreg, i int, wide bool) units.Vreg {
	if wide {
		return z.Unit.Half(m, i)
	}
	return m
}

// activeMask returns the mask of the current block; 0 for all lanes.
func (z *vectorizer) activeMask() units.Vreg {
	if z.block == nil || z.mask[z.block.Rank] == nil {
		return 0
	}
	return z.lane(z.mask[z.block.Rank])
}

// allLanes returns a mask of all lanes.
func (z *vectorizer) allLanes() units.Vreg {
	m := z.Unit.Mask()
	z.Unit.All(m)
	return m
}
