package machine

// keptRegisters is how many registers of a launch, 8 bytes each, a memory keeps for the next one: as
// many as most launches have, and less than anybody misses.
const keptRegisters = 2 << 20

// registers returns those of a warp that is made. The first one gets memory for all of the launch,
// so that the next launch can have it at once.
func (l *launch) registers() []uint64 {
	size := l.prog.rows * warpSize
	if len(l.fresh) < size {
		l.file = l.mem.borrow(l.places() * l.warps() * size)
		l.fresh = l.file
		l.prog.begin(l.file)
	}
	r := l.fresh[:size:size]
	l.fresh = l.fresh[size:]
	return r
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

// borrow returns n registers with anything in them, those of the launch before where they are enough.
func (m *Memory) borrow(n int) []uint64 {
	r := m.spare
	m.spare = nil // another launch must not get them, too
	if cap(r) < n {
		return make([]uint64, n)
	}
	return r[:n]
}

// giveBack lets the next launch have registers that nobody uses any more.
func (m *Memory) giveBack(r []uint64) {
	if cap(r) <= keptRegisters {
		m.spare = r
	}
}
