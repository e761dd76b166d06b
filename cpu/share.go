package cpu

import "sync/atomic"

// share is a range of a launch's chunks that belongs to a worker. The worker takes chunks from the start of its
// range. Workers that have none left take the second half of another's range. So, as long as all workers are
// equally fast, each stays in one range of memory, launch after launch.
//
// Each chunk is in at most one share, and in none after it was taken: no range appears twice in a launch.
type share struct {
	bounds atomic.Uint64 // of the range: the end is in the upper half
	_      [120]byte     // puts each share in a cache line of its own
}

// maxChunks is the maximum number of chunks of a launch: each bound has half of the bits of bounds.
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

// steal moves the second half of s to the caller's own share, which is empty, except for its first
// chunk, which it returns.
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

// share divides the chunks among the given number of workers. Each gets a part or, if blocks must
// start in order, all of them have one share in common.
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

// take returns a chunk that no worker has taken, if there is one.
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

// drop empties the worker's share.
func (w *worker) drop() {
	shares := w.launch.sharing
	shares[w.index%len(shares)].set(0, 0)
}

// exhausted reports whether all shares are empty.
func (l *launch) exhausted() bool {
	for _, s := range l.sharing {
		if !s.empty() {
			return false
		}
	}
	return true
}
