package race

import "math/bits"

// Kind says what an access does.
type Kind uint8

// Kinds of access. The zero Kind is a plain read.
const (
	Write  Kind = 1 << iota // or both
	Strong                  // atomic, relaxed or stronger, volatile
)

// Access is what a thread does to some bytes.
type Access struct {
	Thread uint32 // within the block
	Kind   Kind
	Place  uint32 // of the instruction; below MaxPlaces
}

// MaxPlaces is how many instructions a kernel that is checked may have.
const MaxPlaces = 1 << 20

// Stamp is an access that happened.
type Stamp struct {
	when  Time
	block uint32
	what  uint32 // thread in 10 bits, place in 20, kind in 2
}

func (a Access) stamp(block uint32, now Time) Stamp {
	return Stamp{now, block, a.Thread<<22 | a.Place<<2 | uint32(a.Kind)}
}

// None reports whether there is no access.
func (s Stamp) None() bool { return s.when == 0 }

// Block returns the number of the block.
func (s Stamp) Block() int { return int(s.block) }

// Access returns what was done.
func (s Stamp) Access() Access {
	return Access{Thread: s.thread(), Kind: s.kind(), Place: s.what >> 2 & (MaxPlaces - 1)}
}

func (s Stamp) thread() uint32 { return s.what >> 22 }
func (s Stamp) kind() Kind     { return Kind(s.what & 3) }

// conflicts reports whether two accesses must be ordered.
func conflicts(a, b Kind) bool { return (a|b)&Write != 0 && a&b&Strong == 0 }

// Where an earlier reader of a cell is kept, by what it has in common with the last one.
const (
	latest = iota
	sameWarp
	sameBlock
	otherBlock
	readers
)

// cell is the shadow of the bytes that are accessed together. Atomic writes that others follow
// are kept among the readers, as they conflict with plain accesses of a later write's kind.
type cell struct {
	write   Stamp
	readers [readers]Stamp
	atomics bool // writes are among the readers
}

// Shadow holds the accesses to a stretch of memory. A cell of it is as large as the smallest
// access so far. The zero Shadow is that of memory that nobody has accessed.
type Shadow struct {
	Shared bool // only the threads of one block see the memory

	begun bool
	shift uint8 // a cell has 1<<shift bytes
	pages [][]cell
}

const pageBits = 8

// cells returns the cells of an aligned access of at most 16 bytes.
func (s *Shadow) cells(offset, size uint64) []cell {
	if !s.begun || size < 1<<s.shift {
		s.refine(uint8(bits.TrailingZeros64(size)))
	}
	i := offset >> s.shift
	page := i >> pageBits
	if page >= uint64(len(s.pages)) {
		s.pages = append(s.pages, make([][]cell, page+1-uint64(len(s.pages)))...)
	}
	if s.pages[page] == nil {
		s.pages[page] = make([]cell, 1<<pageBits)
	}
	i &= 1<<pageBits - 1
	return s.pages[page][i : i+max(1, size>>s.shift)]
}

// refine makes the cells smaller, each a copy of the one that it was part of.
func (s *Shadow) refine(shift uint8) {
	if !s.begun {
		s.begun, s.shift = true, shift
		return
	}
	by := s.shift - shift
	old := s.pages
	s.shift, s.pages = shift, make([][]cell, len(old)<<by)
	for p, cells := range old {
		if cells == nil {
			continue
		}
		for q := range 1 << by {
			s.pages[p<<by+q] = make([]cell, 1<<pageBits)
		}
		for i := range len(cells) << by {
			s.pages[p<<by+i>>pageBits][i&(1<<pageBits-1)] = cells[i>>by]
		}
	}
}
