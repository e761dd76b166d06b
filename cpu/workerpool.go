package cpu

import (
	"runtime"
	"sync/atomic"
)

// A workerPool lets workers join a launch and leave it. A launch is open while it has work. A worker that
// arrives later has missed it, and nobody waits for that worker: on a busy machine, a goroutine may start long
// after the work is done.
//
// What the launch's caller writes before begin is visible to workers after join, and what they write before
// leave is visible to the caller after finish. Nobody else accesses this data between two launches.
type workerPool struct {
	// state holds the number of members at work in its lowest bits, then asleep and open, and the
	// launch's number in its upper half.
	state atomic.Uint64
	woken chan struct{} // of capacity 1: the last member has left while the caller slept
}

const (
	members = asleep - 1
	asleep  = 1 << 30 // the caller waits for woken
	open    = 1 << 31
)

// spinRounds is the number of polls, each spinLooks checks and a yield, before a waiter sleeps;
// together they take some 20 us. Waking a goroutine takes longer, and in a program that makes
// launches back to back, the next launch arrives within that time.
const (
	spinRounds = 100
	spinLooks  = 100 // checks between two yields
)

// begin opens launch number n with the given number of members present.
func (c *workerPool) begin(n uint32, present int) {
	c.state.Store(uint64(n)<<32 | open | uint64(present))
}

// joinable reports whether a launch other than number seen is open.
func (c *workerPool) joinable(seen uint32) bool { return isOpenTo(c.state.Load(), seen) }

// isOpenTo is joinable for a loaded state.
func isOpenTo(state uint64, seen uint32) bool { return state&open != 0 && uint32(state>>32) != seen }

// join makes the caller a member of the open launch, unless its number is seen, and returns the
// launch's number.
func (c *workerPool) join(seen uint32) (number uint32, ok bool) {
	for {
		s := c.state.Load()
		if !isOpenTo(s, seen) {
			return 0, false
		}
		if c.state.CompareAndSwap(s, s+1) {
			return uint32(s >> 32), true
		}
	}
}

// leave ends the membership that join began.
func (c *workerPool) leave() {
	if s := c.state.Add(^uint64(0)); s&asleep != 0 && s&members == 0 {
		select {
		case c.woken <- struct{}{}:
		default: // a wake-up is already pending
		}
	}
}

// finish waits until no member is at work and exhausted returns true, and closes the launch.
func (c *workerPool) finish(exhausted func() bool) {
	if spin(func() bool { return c.close(exhausted) }) {
		return
	}
	for !c.close(exhausted) {
		if s := c.state.Load(); s&asleep == 0 && !c.state.CompareAndSwap(s, s|asleep) {
			continue
		}
		if c.close(exhausted) { // the last member may have left before it could see that the caller sleeps
			return
		}
		<-c.woken
	}
}

// close closes the launch if it is over.
func (c *workerPool) close(exhausted func() bool) bool {
	s := c.state.Load()
	return s&members == 0 && exhausted() && c.state.CompareAndSwap(s, s&^(open|asleep))
}

// spin polls done for a limited time and reports whether it has returned true.
func spin(done func() bool) bool {
	for range spinRounds {
		for range spinLooks {
			if done() {
				return true
			}
		}
		runtime.Gosched()
	}
	return false
}

// start makes sure that a goroutine will join the open launch for the worker, and reports whether
// it started a new one.
func (w *worker) start() bool {
	if w.present.Swap(true) {
		return false
	}
	go w.body()
	return true
}

// serve runs one launch after another, as long as they follow closely and the worker arrives in
// time. A worker that finds no work may share a processor with faster ones, and must not compete
// with them.
func (w *worker) serve() {
	c := &w.launch.pool
	for {
		late := false
		if number, ok := c.join(w.seen); ok {
			w.seen = number
			if late = !w.wanted(); !late {
				w.run()
			}
			c.leave()
		}
		seen := w.seen
		if !late && spin(func() bool { return c.joinable(seen) }) {
			continue
		}
		w.present.Store(false)
		if !c.joinable(seen) || w.present.Swap(true) { // from now on, start would start another goroutine
			return
		}
	}
}

// wanted reports whether the launch that the worker has joined runs this worker on a goroutine and
// has work left.
func (w *worker) wanted() bool {
	l := w.launch
	return l.first <= w.index && w.index < l.end && !l.exhausted()
}
