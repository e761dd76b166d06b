package machine

import "unsafe"

// keptBytes is how much of a kind of memory of a launch's warps is kept for the next launch: as much as
// most launches have, and less than anybody misses.
const keptBytes = 16 << 20

// warpMemory is what the warps of a launch have to themselves, one after the other.
type warpMemory struct {
	registers, marks []uint64 // marks of local memory; none unless unwritten memory is looked for
	local            []byte
}

// borrow gets the launch memory for all its warps, with anything in it but in registers: what the launch
// before left, where it is enough.
func (l *launch) borrow() {
	n, p, kept := l.places()*l.warps(), l.prog, &l.mem.kept
	l.lent.registers = reuse(&kept.registers, n*p.rows*warpSize)
	l.lent.local = reuse(&kept.local, n*p.local*warpSize)
	if l.mem.checks.Unwritten {
		l.lent.marks = reuse(&kept.marks, n*p.localMarks())
	}
	l.prog.begin(l.lent.registers)
	l.free = l.lent
}

// giveBack lets the next launch have the memory of warps that do not run any more.
func (l *launch) giveBack() {
	kept := &l.mem.kept
	keep(&kept.registers, l.lent.registers)
	keep(&kept.local, l.lent.local)
	keep(&kept.marks, l.lent.marks)
}

// reuse takes what is kept and returns n elements, with anything in them.
func reuse[T any](kept *[]T, n int) []T {
	p := *kept
	*kept = nil // nobody else may get it
	if cap(p) < n {
		return make([]T, n)
	}
	return p[:n]
}

// keep keeps p, unless it is much.
func keep[T any](kept *[]T, p []T) {
	if cap(p)*int(unsafe.Sizeof(*new(T))) <= keptBytes {
		*kept = p
	}
}

// cut returns the first n elements, and moves past them.
func cut[T any](from *[]T, n int) []T {
	p := *from
	*from = p[n:]
	return p[:n:n]
}

// begin makes of the registers of warps what all begin with, whatever was there: constants, and
// elsewhere all ones.
func (p *program) begin(warps []uint64) {
	size := p.rows * warpSize
	first := warps[:size]
	for at, end := 0, 0; at < p.rows; at = end {
		for end = at; end < p.rows && p.widths[end] == p.widths[at]; {
			end++
		}
		same := first[at*warpSize : end*warpSize]
		repeat((*row)(same), p.widths[at])
		spread(same, warpSize)
	}
	for _, c := range p.consts {
		repeat((*row)(first[c.row:]), c.value)
	}
	for at := size; at < len(warps); at += size { // from the first, which stays in the cache
		copy(warps[at:], first)
	}
}

// repeat gives all threads a value.
func repeat(r *row, v uint64) {
	for i := range r {
		r[i] = v
	}
}

// spread fills p with its first n elements, over and over.
func spread[T any](p []T, n int) {
	for ; n < len(p); n *= 2 {
		copy(p[n:], p[:n])
	}
}
