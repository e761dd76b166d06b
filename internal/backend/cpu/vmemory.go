package cpu

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/vasm"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// address returns the memory that p, of the first lane, points to.
func (z *vectorizer) address(p *ir.Value) vasm.Operand {
	if p.Op == ir.OpParam || z.fromOutside(p) || z.of[p.Block.ID] != z.g {
		return vasm.Mem(z.integerOf(p), 0)
	}
	switch {
	case p.Op == ir.OpOffset && p.Imm == int64(int32(p.Imm)):
		return z.address(p.Args[0]).Behind(p.Imm)
	case p.Op == ir.OpIndex && p.Args[1].Type.Kind == ir.KindI64 && p.Args[1].Op != ir.OpConst && slices.Contains([]int64{1, 2, 4, 8}, p.Imm):
		i, behind := z.peel(p.Args[1], p.Imm)
		return vasm.Indexed(z.integerOf(p.Args[0]), z.integerOf(i), p.Imm).Behind(behind)
	}
	return vasm.Mem(z.integerOf(p), 0)
}

// peel takes from an index what a number adds to it, in bytes.
func (z *vectorizer) peel(i *ir.Value, scale int64) (rest *ir.Value, bytes int64) {
	for i.Op == ir.OpAdd && isShort(i.Args[1]) && !z.fromOutside(i) && z.of[i.Block.ID] == z.g && i.Args[0].Op != ir.OpConst {
		sum := bytes + i.Args[1].Imm*scale
		if sum != int64(int32(sum)) || z.shape(i.Args[0]).kind == varying {
			break
		}
		i, bytes = i.Args[0], sum
	}
	return i, bytes
}

// loadLanes reads neighbouring elements.
func (z *vectorizer) loadLanes(r *vector, v *ir.Value, at vasm.Operand) {
	m := z.activeMask()
	for i, reg := range z.regs(r, v) {
		from := at.Behind(int64(i) * 64)
		if m == 0 {
			z.code.Op("VMOVUPS", from, vasm.Def(reg))
		} else if isWide(v.Type) {
			z.code.Op("VMOVUPD.Z", from, vasm.Use(z.half(m, i)), vasm.Def(reg))
		} else {
			z.code.Op("VMOVUPS.Z", from, vasm.Use(m), vasm.Def(reg))
		}
	}
}

// storeLanes writes neighbouring elements.
func (z *vectorizer) storeLanes(x [2]vreg, wide bool, at vasm.Operand, m vreg) {
	for i := range 2 {
		if i == 1 && !wide {
			return
		}
		to := at.Behind(int64(i) * 64)
		switch {
		case m == 0:
			z.code.Op("VMOVUPS", vasm.Use(x[i]), to)
		case wide:
			z.code.Op("VMOVUPD", vasm.Use(x[i]), vasm.Use(z.half(m, i)), to)
		default:
			z.code.Op("VMOVUPS", vasm.Use(x[i]), vasm.Use(m), to)
		}
	}
}

// checkRoot refuses memory of the thread's own, which has no address that lanes could share.
func (z *vectorizer) checkRoot(p *ir.Value) {
	if p.Op != ir.OpParam && z.rootOf(p).Op == ir.OpAlloca {
		panic(scalar("a local array"))
	}
}

func (z *vectorizer) load(v *ir.Value) {
	p := v.Args[0]
	z.checkRoot(p)
	size := v.Type.Size()
	if size < 4 || v.Type.IsPtr() {
		panic(scalar("a load of a pointer, or of less than 4 bytes,"))
	}
	r := z.target(v)
	switch s := z.shape(p); {
	case r.kind == uniform:
		op := map[int64]string{4: "MOVL", 8: "MOVQ"}[size]
		z.code.Op(op, z.address(p), vasm.Def(r.reg[0]))
	case s.kind == uniform:
		op := map[int64]string{4: "VBROADCASTSS", 8: "VBROADCASTSD"}[size]
		for _, reg := range z.regs(r, v) {
			z.code.Op(op, z.address(p), vasm.Def(reg))
		}
	case s.kind == affine && s.stride == size:
		z.loadLanes(r, v, z.address(p))
	default:
		z.gather(r, v)
	}
	z.settle(v, r)
}

// gather reads an element for each lane.
func (z *vectorizer) gather(r *vector, v *ir.Value) {
	index := z.vectorOf(v.Args[0])
	zero := z.number(0)
	for i := range 2 {
		m := z.code.Reg(vasm.Mask)
		if a := z.activeMask(); a != 0 {
			z.code.Op("KMOVW", vasm.Use(z.half(a, i)), vasm.Def(m))
		} else {
			z.code.Op("KXNORW", vasm.Def(m), vasm.Def(m), vasm.Def(m))
		}
		part := z.code.Reg(vasm.Vector)
		z.code.Op("VPXORQ", vasm.Def(part), vasm.Def(part), vasm.Def(part))
		if isWide(v.Type) {
			z.code.Op("VGATHERQPD", vasm.Vectored(zero, index[i], 'Z'), vasm.Mod(m), vasm.Mod(part).Soon())
			z.code.Op("VMOVUPS", vasm.Use(part), vasm.Def(r.reg[i]))
			continue
		}
		z.code.Op("VGATHERQPS", vasm.Vectored(zero, index[i], 'Z'), vasm.Mod(m), vasm.Mod(part).Half().Soon())
		if i == 0 {
			z.code.Op("VMOVUPS", vasm.Use(part), vasm.Def(r.reg[0]))
		} else {
			z.code.Op("VINSERTI64X4", vasm.Imm(1), vasm.Use(part).Half(), vasm.Use(r.reg[0]), vasm.Def(r.reg[0]))
		}
	}
}

func (z *vectorizer) store(v *ir.Value) {
	p, x := v.Args[0], v.Args[1]
	z.checkRoot(p)
	size := x.Type.Size()
	if size < 4 || x.Type.IsPtr() {
		panic(scalar("a store of a pointer, or of less than 4 bytes,"))
	}
	s := z.shape(p)
	from := z.vectorOf(x)
	if s.kind == affine && s.stride == size {
		z.storeLanes(from, isWide(x.Type), z.address(p), z.activeMask())
		return
	}
	z.scatter(p, x, from)
}

// scatter writes an element for each lane.
func (z *vectorizer) scatter(p, x *ir.Value, from [2]vreg) {
	index := z.vectorOf(p)
	zero := z.number(0)
	for i := range 2 {
		m := z.code.Reg(vasm.Mask)
		if a := z.activeMask(); a != 0 {
			z.code.Op("KMOVW", vasm.Use(z.half(a, i)), vasm.Def(m))
		} else {
			z.code.Op("KXNORW", vasm.Def(m), vasm.Def(m), vasm.Def(m))
		}
		if isWide(x.Type) {
			z.code.Op("VSCATTERQPD", vasm.Use(from[i]), vasm.Mod(m), vasm.Vectored(zero, index[i], 'Z'))
			continue
		}
		part := from[0]
		if i == 1 {
			part = z.code.Reg(vasm.Vector)
			z.code.Op("VEXTRACTI64X4", vasm.Imm(1), vasm.Use(from[0]), vasm.Def(part).Half())
		}
		z.code.Op("VSCATTERQPS", vasm.Use(part).Half(), vasm.Mod(m), vasm.Vectored(zero, index[i], 'Z'))
	}
}
