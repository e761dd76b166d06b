package model

// merge is what becomes of two adjacent symbols.
type merge struct {
	rank int32 // lower ranks merge first
	id   int32
}

// pairs is a hash table of merges by the two symbols' IDs, with open
// addressing. It is filled once and then only read. Lookups dominate the time of
// byte-pair encoding, and a map takes about twice as long for each.
type pairs struct {
	slots []slot
	shift uint
}

// slot is an entry of pairs. A free one has rank -1.
type slot struct {
	key uint64
	merge
}

// newPairs returns a table for n merges.
func newPairs(n int) *pairs {
	bits := uint(4)
	for 1<<bits < 2*n {
		bits++
	}
	p := &pairs{slots: make([]slot, 1<<bits), shift: 64 - bits}
	for i := range p.slots {
		p.slots[i].rank = -1
	}
	return p
}

// find returns the slot of a key, which is free if the key is not in the table.
func (p *pairs) find(a, b int32) *slot {
	key := uint64(uint32(a))<<32 | uint64(uint32(b))
	mask := uint64(len(p.slots) - 1)
	// Fibonacci hashing: the high bits of a product with 2^64/phi.
	for i := key * 0x9e3779b97f4a7c15 >> p.shift; ; i = (i + 1) & mask {
		s := &p.slots[i]
		if s.rank < 0 || s.key == key {
			return s
		}
	}
}

// put adds a merge, or replaces that of the same symbols.
func (p *pairs) put(a, b int32, m merge) {
	s := p.find(a, b)
	s.key = uint64(uint32(a))<<32 | uint64(uint32(b))
	s.merge = m
}

// get returns the merge of two symbols, of rank -1 if there is none.
func (p *pairs) get(a, b int32) merge { return p.find(a, b).merge }
