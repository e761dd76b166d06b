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
	m, wide := z.activeMask(), isWide(v.Type)
	for i, reg := range z.regs(r) {
		z.unit.load(at.Behind(z.registerBytes(i)), z.half(m, i, wide), reg, wide)
	}
}

// storeLanes writes neighbouring elements.
func (z *vectorizer) storeLanes(x [2]vreg, wide bool, at vasm.Operand, m vreg) {
	for i := range 2 {
		if i == 1 && !wide {
			return
		}
		z.unit.store(x[i], at.Behind(z.registerBytes(i)), z.half(m, i, wide), wide)
	}
}

// registerBytes returns the size of n registers.
func (z *vectorizer) registerBytes(n int) int64 { return int64(n * 4 * z.unit.lanes()) }

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
		for _, reg := range z.regs(r) {
			z.code.Op(op, z.address(p), vasm.Def(reg))
		}
	case s.kind == affine && s.stride == size:
		z.loadLanes(r, v, z.address(p))
	default:
		z.unit.gather(z.vectorOf(p), z.activeMask(), r.reg, isWide(v.Type))
	}
	z.settle(v, r)
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
	z.unit.scatter(from, z.vectorOf(p), z.activeMask(), isWide(x.Type))
}
