package gpu

import "github.com/gopherwarp/gopherwarp/internal/simt"

// Threads iterates over the threads that a CPU device runs one after another. Generated code uses
// Threads; kernels do not.
//
//	for ts.Next() {
//		scale(ts.Thread(), x, by)
//	}
type Threads struct {
	next, last  Thread
	more, fresh bool
}

// BlockThreads returns an iterator over all threads of b, where x varies fastest.
func BlockThreads(b *simt.Block) Threads {
	last := Thread{b, int32(b.Dim[0] - 1), int32(b.Dim[1] - 1), int32(b.Dim[2] - 1)}
	return Threads{next: Thread{block: b}, last: last, more: true, fresh: true}
}

// OneThread returns an iterator over the single thread of b at index.
func OneThread(b *simt.Block, index [3]int) Threads {
	t := Thread{b, int32(index[0]), int32(index[1]), int32(index[2])}
	return Threads{next: t, last: t, more: true, fresh: true}
}

// Next advances to the next thread and reports whether there is one.
func (ts *Threads) Next() bool {
	if !ts.fresh && ts.next.x < ts.last.x {
		ts.next.x++
		return true
	}
	return ts.row()
}

// row starts the iteration, advances to the next row of threads along x, or ends the iteration.
func (ts *Threads) row() bool {
	n := &ts.next
	switch {
	case ts.fresh:
		ts.fresh = false
	case n.y < ts.last.y:
		n.x, n.y = 0, n.y+1
	case n.z < ts.last.z:
		n.x, n.y, n.z = 0, 0, n.z+1
	default:
		ts.more = false
	}
	return ts.more
}

// Thread returns the current thread.
func (ts *Threads) Thread() Thread { return ts.next }

// Index returns the current thread's index in its block. After a panic, this is the thread that
// panicked.
func (ts *Threads) Index() [3]int {
	return [3]int{int(ts.next.x), int(ts.next.y), int(ts.next.z)}
}
