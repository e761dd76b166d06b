package pass

import (
	"cmp"
	"slices"

	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// sroa (scalar replacement of aggregates) replaces a local of struct or array type by locals for the
// parts that are accessed: scalars where the offset is constant, or the innermost array that is
// indexed by the first index that is not constant. A local whose address has other uses than loads
// and stores stays whole. Bounds are checked in the source or by contract: an index stays within
// its array.
//
//	%1 = alloca {i32, [4 x f32]}      %6 = alloca i32
//	store %1, %0                      store %6, %0
//	%2 = offset ptr %1 {4}        ->  %7 = alloca [4 x f32]
//	%3 = index ptr %2, %4 {4}         %3 = index ptr %7, %4 {4}
//	%5 = load f32 %3                  %5 = load f32 %3
func sroa(f *ir.Func, _ *Options) {
	if !hasLocals(f) {
		return
	}
	users := uses(f)
	for _, b := range f.Blocks {
		for _, v := range slices.Clone(b.Values) {
			if v.Op != ir.OpAlloca || v.Aux.(*ir.Type).IsScalar() {
				continue
			}
			s := &allocaSplitter{root: v, users: users}
			if s.collect(v, 0) && s.group() {
				s.replace()
			}
		}
	}
}

// A span is a range of bytes in a local: [lo, hi).
type span struct{ lo, hi int64 }

// A reach is an argument that is an address at a constant offset into the local, and the
// bytes that the user may access through it.
type reach struct {
	user *ir.Value
	off  int64
	span span
}

// A piece is a part of the local that becomes one of its own.
type piece struct {
	span
	t     *ir.Type
	local *ir.Value
}

// An allocaSplitter handles one local.
type allocaSplitter struct {
	root    *ir.Value
	users   *userLists
	reaches []reach
	pieces  []piece
}

// collect gathers what is done with addr, the address at offset off. It reports false where
// the address escapes.
func (s *allocaSplitter) collect(addr *ir.Value, off int64) bool {
	for _, u := range s.users.of(addr) {
		size := int64(0)
		switch {
		case u.Op == ir.OpOffset:
			if !s.collect(u, off+u.Imm) {
				return false
			}
			continue
		case u.Op == ir.OpIndex && isConst(u.Args[1]):
			if !s.collect(u, off+u.Args[1].Imm*u.Imm) {
				return false
			}
			continue
		case u.Op == ir.OpIndex:
			if !onlyAccessed(u, s.users) {
				return false
			}
			s.reaches = append(s.reaches, reach{u, off, s.indexed(off, u.Imm)})
			continue
		case u.Op == ir.OpLoad:
			size = u.Type.Size()
		case u.Op == ir.OpStore && u.Args[0] == addr && u.Args[1] != addr:
			size = u.Args[1].Type.Size()
		default:
			return false
		}
		if off < 0 || off > s.root.Aux.(*ir.Type).Size()-size {
			return false
		}
		s.reaches = append(s.reaches, reach{u, off, span{off, off + size}})
	}
	return true
}

// onlyAccessed reports whether nothing but loads and stores happens through addr.
func onlyAccessed(addr *ir.Value, users *userLists) bool {
	for _, u := range users.of(addr) {
		switch {
		case u.Op == ir.OpLoad:
		case u.Op == ir.OpStore && u.Args[1] != addr:
		case u.Op == ir.OpOffset, u.Op == ir.OpIndex:
			if !onlyAccessed(u, users) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// indexed returns the bytes of the outermost array around off that has elements of the given
// size, one starting at off; of the whole local where there is none.
func (s *allocaSplitter) indexed(off, size int64) span {
	t := s.root.Aux.(*ir.Type)
	whole := span{0, t.Size()}
	for base := int64(0); isAggregate(t); {
		if t.Kind == ir.KindArray && size > 0 && t.Elem.Size() == size && (off-base)%size == 0 {
			return span{base, base + t.Size()}
		}
		i, ok := partAt(t, off-base)
		if !ok {
			break
		}
		base += t.PartOffset(i)
		t = t.Part(i)
	}
	return whole
}

// partAt returns the part of t that holds the byte at off.
func partAt(t *ir.Type, off int64) (int, bool) {
	if t.Kind == ir.KindArray {
		size := t.Elem.Size()
		return int(off / max(size, 1)), off >= 0 && size > 0 && off < t.Size()
	}
	for i := range t.NumParts() {
		lo := t.PartOffset(i)
		if off >= lo && off < lo+t.Part(i).Size() {
			return i, true
		}
	}
	return 0, false
}

// group makes the pieces: the smallest parts of the type that hold overlapping reaches
// together. It reports false if that is the whole local.
func (s *allocaSplitter) group() bool {
	whole := s.root.Aux.(*ir.Type)
	s.pieces = make([]piece, 0, len(s.reaches))
	for _, r := range s.reaches {
		s.pieces = append(s.pieces, enclosing(whole, r.span))
	}
	for merged := true; merged; {
		slices.SortFunc(s.pieces, func(a, b piece) int {
			return cmp.Or(cmp.Compare(a.lo, b.lo), -cmp.Compare(a.hi, b.hi))
		})
		merged = s.merge(whole)
	}
	return len(s.pieces) != 1 || s.pieces[0].t != whole
}

// merge replaces neighbours in the sorted list that overlap.
func (s *allocaSplitter) merge(whole *ir.Type) bool {
	merged := false
	list := s.pieces[:0]
	for _, p := range s.pieces {
		if n := len(list); n > 0 && p.lo < list[n-1].hi {
			last := list[n-1]
			list[n-1] = enclosing(whole, span{last.lo, max(last.hi, p.hi)})
			merged = merged || list[n-1].span != last.span
			continue
		}
		list = append(list, p)
	}
	s.pieces = list
	return merged
}

// enclosing returns the smallest part of t that holds r.
func enclosing(t *ir.Type, r span) piece {
	p := piece{span: span{0, t.Size()}, t: t}
	for isAggregate(p.t) {
		i, ok := partAt(p.t, r.lo-p.lo)
		if !ok {
			break
		}
		lo := p.lo + p.t.PartOffset(i)
		hi := lo + p.t.Part(i).Size()
		if r.hi > hi {
			break
		}
		p.span, p.t = span{lo, hi}, p.t.Part(i)
	}
	return p
}

// replace makes the new locals and leads the accesses to them.
func (s *allocaSplitter) replace() {
	b := s.root.Block
	at := slices.Index(b.Values, s.root)
	e := &editor{b: b, pos: s.root.Pos}
	for i := range s.pieces {
		p := &s.pieces[i]
		p.local = e.make(ir.OpAlloca, s.root.Type)
		p.local.Aux, p.local.Imm = p.t, s.root.Imm
	}
	made := map[int64]*ir.Value{}
	for _, r := range s.reaches {
		p := s.pieceAt(r.span.lo)
		if made[r.off] == nil {
			made[r.off] = e.offset(p.local, r.off-p.lo)
		}
		r.user.Args[0] = made[r.off]
	}
	b.Values = slices.Insert(b.Values, at, e.out...)
}

// pieceAt returns the piece that a reach from lo is in: the last that begins at lo or before it. A piece
// of a type without a size holds no byte, but the compiled program may have an access to it that a failed
// check skips.
func (s *allocaSplitter) pieceAt(lo int64) piece {
	i := slices.IndexFunc(s.pieces, func(p piece) bool { return p.lo > lo })
	if i < 0 {
		i = len(s.pieces)
	}
	return s.pieces[i-1]
}
