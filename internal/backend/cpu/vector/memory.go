package vector

import (
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/layout"
	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/units"
	"github.com/gopherwarp/gopherwarp/internal/backend/cpu/vasm"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// address returns the memory that p, of the first lane, points to.
func (z *vectorizer) address(p *ir.Value) vasm.Operand {
	p, bytes := z.pinned(p)
	if !z.isIndexed(p) {
		return vasm.Mem(z.integerOf(p), bytes)
	}
	i, behind := z.peel(p.Args[1], p.Imm)
	base, more := z.pinned(p.Args[0])
	return vasm.Indexed(z.integerOf(base), z.integerOf(i), p.Imm).Behind(bytes + behind + more)
}

// pinned returns the pointer that p lies a known number of bytes after, and that number.
func (z *vectorizer) pinned(p *ir.Value) (base *ir.Value, bytes int64) {
	for z.isPinned(p) {
		bytes += behind(p)
		p = p.Args[0]
	}
	return p, bytes
}

// maxBehind is how many bytes an address may add to a pointer, each time: instructions have room for many such numbers together.
const maxBehind = 1 << 24

// isPinned reports whether p lies a known number of bytes after another pointer that is there wherever p is.
func (z *vectorizer) isPinned(p *ir.Value) bool {
	if p.Op != ir.OpOffset && (p.Op != ir.OpIndex || p.Args[1].Op != ir.OpConst) || z.Level[p.ID] >= layout.PerThread && z.Keep[p.ID] != layout.KeepNot {
		return false
	}
	n := behind(p)
	return -maxBehind < n && n < maxBehind
}

// after returns how many bytes p, an offset or an element with a known index, lies after its argument.
func behind(p *ir.Value) int64 {
	if p.Op == ir.OpOffset {
		return p.Imm
	}
	return layout.Truncated(p.Args[1]) * p.Imm
}

// isIndexed reports whether p is an element that an address can name by the slice and the index.
func (z *vectorizer) isIndexed(p *ir.Value) bool {
	return p.Op == ir.OpIndex && p.Args[1].Op != ir.OpConst && p.Args[1].Type.Kind == ir.KindI64 && slices.Contains([]int64{1, 2, 4, 8}, p.Imm) &&
		z.Level[p.ID] >= layout.PerThread && z.Keep[p.ID] == layout.KeepNot
}

// onlyAddresses reports whether nobody needs the pointer v in a register: addresses name it by what it is made of.
func (z *vectorizer) onlyAddresses(v *ir.Value) bool {
	return z.Keep[v.ID] == layout.KeepNot && (z.isPinned(v) || z.isIndexed(v)) && z.folds(v, z.isPinned(v))
}

// folds reports whether all that use v are addresses, and pointers that themselves fold. To one with an index of its own
// no index can be added: plain is that v has none.
func (z *vectorizer) folds(v *ir.Value, plain bool) bool {
	return !slices.ContainsFunc(z.Users[v.ID], func(u *ir.Value) bool {
		switch {
		case z.nodes[u.Block.ID] == nil:
			return true
		case u.Op == ir.OpLoad:
			s := z.shape(v)
			return s.kind != uniform && s != (shape{affine, u.Type.Size()})
		case u.Op == ir.OpStore:
			return u.Args[1] == v || z.shape(v) != (shape{affine, u.Args[1].Type.Size()})
		case z.Keep[u.ID] != layout.KeepNot:
			return true
		case z.isPinned(u):
			return !z.folds(u, plain)
		}
		return !plain || !z.isIndexed(u) || u.Args[0] != v || !z.folds(u, false)
	})
}

// peel takes from an index what a number adds to it, in bytes.
func (z *vectorizer) peel(i *ir.Value, scale int64) (rest *ir.Value, bytes int64) {
	for i.Op == ir.OpAdd && isShort(i.Args[1]) && !z.fromOutside(i) && z.Of[i.Block.ID] == z.g && i.Args[0].Op != ir.OpConst {
		sum := bytes + i.Args[1].Imm*scale
		if sum <= -maxBehind || sum >= maxBehind || z.shape(i.Args[0]).kind == varying {
			break
		}
		i, bytes = i.Args[0], sum
	}
	return i, bytes
}

// loadLanes reads neighbouring elements.
func (z *vectorizer) loadLanes(r *vector, v *ir.Value, at vasm.Operand) {
	m, e := z.activeMask(), z.elementOf(v)
	if v.Type.Kind == ir.KindI1 {
		bytes := z.Vector()
		z.Unit.Load(at, m, bytes, e)
		z.Unit.Odd(bytes, r.reg[0])
		return
	}
	for i, reg := range z.regs(r) {
		z.Unit.Load(at.Behind(z.registerBytes(i)), z.half(m, i, e.Size == 8), reg, e)
	}
}

// storeLanes writes neighbouring elements of type t.
func (z *vectorizer) storeLanes(x [2]units.Vreg, t *ir.Type, at vasm.Operand, m units.Vreg) {
	x = z.stored(x, t)
	z.Unit.Store(x[0], at, z.half(m, 0, units.IsWide(t)), t.Size())
	if units.IsWide(t) {
		z.Unit.Store(x[1], at.Behind(z.registerBytes(1)), z.half(m, 1, true), t.Size())
	}
}

// registerBytes returns the size of n registers.
func (z *vectorizer) registerBytes(n int) int64 { return int64(n * 4 * z.Unit.Lanes()) }

// checkRoot refuses memory of the thread's own, which has no address that lanes could share.
func (z *vectorizer) checkRoot(p *ir.Value) {
	if p.Op != ir.OpParam && z.RootOf(p).Op == ir.OpAlloca {
		panic(Because("a local array"))
	}
}

func (z *vectorizer) load(v *ir.Value) {
	p := v.Args[0]
	z.checkRoot(p)
	if v.Type.IsPtr() {
		panic(Because("a load of a pointer"))
	}
	e := z.elementOf(v)
	r := z.target(v)
	switch s := z.shape(p); {
	case r.kind == uniform:
		z.Code.Op(moves[e], z.address(p), vasm.Def(r.reg[0]))
	case s.kind == affine && s.stride == e.Size:
		z.loadLanes(r, v, z.address(p))
	case e.Size < 4 && s.kind == uniform:
		n := z.Code.Reg(vasm.Integer)
		z.Code.Op(moves[e], z.address(p), vasm.Def(n))
		z.small(v, z.broadcast(n, false)[0], r)
	case s.kind == uniform:
		op := map[int64]string{4: "VBROADCASTSS", 8: "VBROADCASTSD"}[e.Size]
		for _, reg := range z.regs(r) {
			z.Code.Op(op, z.address(p), vasm.Def(reg))
		}
	case e.Size < 4:
		z.small(v, z.gatherSmall(z.vectorOf(p), e), r)
	default:
		z.Unit.Gather(z.vectorOf(p), z.activeMask(), r.reg, e.Size == 8)
	}
	z.settle(v, r)
}

func (z *vectorizer) store(v *ir.Value) {
	p, x := v.Args[0], v.Args[1]
	z.checkRoot(p)
	if x.Type.IsPtr() {
		panic(Because("a store of a pointer"))
	}
	s := z.shape(p)
	from := z.vectorOf(x)
	if s.kind == affine && s.stride == x.Type.Size() {
		z.storeLanes(from, x.Type, z.address(p), z.activeMask())
		return
	}
	z.Unit.Scatter(z.stored(from, x.Type), z.vectorOf(p), z.activeMask(), x.Type.Size())
}
