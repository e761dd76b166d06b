package ptx

// slabSize is how many elements a slab makes at once.
const slabSize = 128

// slab is where short lists lie one after the other, so that not each of them is an allocation.
type slab[T any] struct{ free []T }

// keep returns a copy of a list.
func (s *slab[T]) keep(list []T) []T {
	n := len(list)
	if len(s.free) < n {
		s.free = make([]T, max(n, slabSize))
	}
	kept := s.free[:n:n]
	s.free = s.free[n:]
	copy(kept, list)
	return kept
}
