package race

import "math/bits"

// Kind is the kind of an access.
type Kind uint8

// Kinds of access. The zero Kind is a plain read.
const (
	Write  Kind = 1 << iota // or both
	Strong                  // atomic, relaxed or stronger, volatile
)

// Access is an access of a thread to a range of bytes.
type Access struct {
	Thread uint32 // within the block
	Kind   Kind
	Place  uint32 // of the instruction; below MaxPlaces
}

// MaxPlaces is the maximum number of instructions of a checked kernel.
const MaxPlaces = 1 << 20

// Stamp is an access that happened.
type Stamp struct {
	when  Time
	block uint32
	what  uint32 // thread in 10 bits, place in 20, kind in 2
}

// Where a stamp has the thread, and its warp.
const (
	threadBit = 22
	warpBit   = threadBit + 5
	blockBit  = 32
)

func (a Access) stamp(block uint32, now Time) Stamp {
	return Stamp{now, block, a.Thread<<threadBit | a.Place<<2 | uint32(a.Kind)}
}

// None reports whether there is no access.
func (s Stamp) None() bool { return s.when == 0 }

// Block returns the number of the block.
func (s Stamp) Block() int { return int(s.block) }

// Access returns the access.
func (s Stamp) Access() Access {
	return Access{Thread: s.thread(), Kind: s.kind(), Place: s.what >> 2 & (MaxPlaces - 1)}
}

func (s Stamp) thread() uint32 { return s.what >> threadBit }
func (s Stamp) kind() Kind     { return Kind(s.what & 3) }

// conflicts reports whether two accesses must be ordered.
func conflicts(a, b Kind) bool { return (a|b)&Write != 0 && a&b&Strong == 0 }

// pageCells is the number of cells of a page.
const pageCells = 256

// page is the shadow of a stretch of cells, each of which is bytes that are accessed together.
// What a program does not do to them takes no room.
type page struct {
	writes *[pageCells]Stamp // the last one
	reads  *[pageCells]Stamp // the last one
	more   *[pageCells]more
	// Some writes are atomic. Those that others followed are among the reads: like reads, they are in
	// conflict with a plain write, but also with a plain read.
	atomics bool
}

// more is earlier reads of a cell, by what their thread had in common with that of the read that
// followed: a place for each, so that a write that is ordered after its neighbours' reads meets
// those of others.
type more [3]Stamp

const (
	sameKin = iota
	sameBlock
	otherBlock
)

// Shadow holds the accesses to a range of memory. Its cells are as large as the smallest access so
// far. The zero Shadow has no accesses.
type Shadow struct {
	Shared bool // only the threads of one block see the memory

	begun bool
	shift uint8 // a cell has 1<<shift bytes
	pages []*page
}

// page returns a page, or nil if nothing is known of it.
func (s *Shadow) page(number uint64) *page {
	if number >= uint64(len(s.pages)) {
		return nil
	}
	return s.pages[number]
}

// cells returns where the cells of an aligned access of at most 16 bytes are: n from the i-th of a page on.
func (s *Shadow) cells(at Range) (p *page, i, n uint64) {
	if !s.begun || at.Size < 1<<s.shift {
		s.refine(uint8(bits.TrailingZeros64(at.Size)))
	}
	i = at.Offset >> s.shift
	number := i / pageCells
	if number >= uint64(len(s.pages)) {
		s.pages = append(s.pages, make([]*page, number+1-uint64(len(s.pages)))...)
	}
	p = s.pages[number]
	if p == nil {
		p = &page{}
		s.pages[number] = p
	}
	return p, i % pageCells, at.Size >> s.shift
}

// refine makes the cells smaller, each a copy of the one that it was part of.
func (s *Shadow) refine(shift uint8) {
	if !s.begun {
		s.begun, s.shift = true, shift
		return
	}
	by := s.shift - shift
	old := s.pages
	s.shift, s.pages = shift, make([]*page, len(old)<<by)
	for n, p := range old {
		if p == nil {
			continue
		}
		for part := range 1 << by {
			s.pages[n<<by+part] = &page{
				writes: refined(p.writes, part, by), reads: refined(p.reads, part, by), more: refined(p.more, part, by),
				atomics: p.atomics,
			}
		}
	}
}

// refined returns one of the 1<<by parts of a page, as a page.
func refined[T any](whole *[pageCells]T, part int, by uint8) *[pageCells]T {
	if whole == nil {
		return nil
	}
	var p [pageCells]T
	for i := range p {
		p[i] = whole[(part*pageCells+i)>>by]
	}
	return &p
}
