package cpu

import "sync/atomic"

// share is a range of a launch's chunks that belongs to a worker. The worker takes from its front; others, which have
// nothing left, take the rear half. So each stays in one stretch of memory, launch after launch, as long as all are as fast.
//
// A chunk is in one share or in none, and in none again once it is taken: a range never comes twice in a launch.
type share struct {
	bounds atomic.Uint64 // of the range: the end in the upper half
	_      [120]byte     // others' shares are in other cache lines
}

// maxChunks is how many chunks a launch may have: half of a share's bounds.
const maxChunks = 1<<32 - 1

func (s *share) set(first, end int64) { s.bounds.Store(uint64(end)<<32 | uint64(first)) }

func unpack(bounds uint64) (first, end int64) { return int64(uint32(bounds)), int64(bounds >> 32) }

func (s *share) empty() bool {
	first, end := unpack(s.bounds.Load())
	return first >= end
}

// take takes the first chunk.
func (s *share) take() (chunk int64, ok bool) {
	for {
		old := s.bounds.Load()
		first, end := unpack(old)
		if first >= end {
			return 0, false
		}
		if s.bounds.CompareAndSwap(old, old+1) {
			return first, true
		}
	}
}

// steal moves the rear half of s to the caller's own share, which is empty, but for the first chunk of it, which it returns.
func (s *share) steal(own *share) (chunk int64, ok bool) {
	for {
		old := s.bounds.Load()
		first, end := unpack(old)
		if first >= end {
			return 0, false
		}
		middle := first + (end-first)/2
		if s.bounds.CompareAndSwap(old, uint64(middle)<<32|uint64(first)) {
			own.set(middle+1, end)
			return middle, true
		}
	}
}

// share divides the chunks among so many workers: each has its part, or all have one together, which they
// take from in order.
func (l *launch) share(chunks int64, workers int) {
	if l.ordered() {
		workers = 1
	}
	for len(l.shares) < workers {
		l.shares = append(l.shares, &share{})
	}
	l.sharing = l.shares[:workers]
	for i, s := range l.sharing {
		s.set(int64(i)*chunks/int64(workers), int64(i+1)*chunks/int64(workers))
	}
}

// take returns a chunk that nobody has taken yet, if there is one.
func (w *worker) take() (chunk int64, ok bool) {
	shares := w.launch.sharing
	n := len(shares)
	own := shares[w.index%n]
	if chunk, ok = own.take(); ok || n == 1 {
		return chunk, ok
	}
	for i := 1; i < n && !ok; i++ {
		chunk, ok = shares[(w.index+i)%n].steal(own)
	}
	return chunk, ok
}

// drop gives up the rest of the worker's share.
func (w *worker) drop() {
	shares := w.launch.sharing
	shares[w.index%len(shares)].set(0, 0)
}

// exhausted reports whether nobody's share has a chunk.
func (l *launch) exhausted() bool {
	for _, s := range l.sharing {
		if !s.empty() {
			return false
		}
	}
	return true
}
