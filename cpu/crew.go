package cpu

import (
	"runtime"
	"sync/atomic"
)

// crew is how workers come to a launch and leave it. A launch is open while there is something to do; a worker that comes later
// has missed it and nobody waits for that one: on a busy machine a goroutine may start long after the work is done.
//
// What the launch's caller writes before begin is seen by those who join, what they do before leave is seen by
// the caller behind finish; nobody else reads or writes any of it between two launches.
type crew struct {
	// state counts the members at work in its lower bits; asleep and open are above, the launch's number in the upper half.
	state atomic.Uint64
	woken chan struct{} // of capacity 1: the last member has left while the caller slept
}

const (
	members = asleep - 1
	asleep  = 1 << 30 // the caller waits for woken
	open    = 1 << 31
)

// spinRounds is how often one who waits looks before it sleeps, which is some 20 us: to be woken takes longer, and in a program that
// launches kernel after kernel the next launch is there before.
const (
	spinRounds = 100
	spinLooks  = 100 // without giving way
)

// begin opens launch number n, at which so many members are already.
func (c *crew) begin(n uint32, present int) {
	c.state.Store(uint64(n)<<32 | open | uint64(present))
}

// joinable reports whether a launch is open that is not the one with number seen.
func (c *crew) joinable(seen uint32) bool { return offers(c.state.Load(), seen) }

// offers is joinable of a state.
func offers(state uint64, seen uint32) bool { return state&open != 0 && uint32(state>>32) != seen }

// join makes the caller a member of the launch that is open, if it is another one than that with number seen, and returns its number.
func (c *crew) join(seen uint32) (number uint32, ok bool) {
	for {
		s := c.state.Load()
		if !offers(s, seen) {
			return 0, false
		}
		if c.state.CompareAndSwap(s, s+1) {
			return uint32(s >> 32), true
		}
	}
}

// leave is the end of join.
func (c *crew) leave() {
	if s := c.state.Add(^uint64(0)); s&asleep != 0 && s&members == 0 {
		select {
		case c.woken <- struct{}{}:
		default: // the caller has been told and not looked yet
		}
	}
}

// finish waits until nobody is at work and exhausted, and closes the launch.
func (c *crew) finish(exhausted func() bool) {
	if spin(func() bool { return c.close(exhausted) }) {
		return
	}
	for !c.close(exhausted) {
		if s := c.state.Load(); s&asleep == 0 && !c.state.CompareAndSwap(s, s|asleep) {
			continue
		}
		if c.close(exhausted) { // the last may have left before it could see that the caller sleeps
			return
		}
		<-c.woken
	}
}

// close closes the launch if it is over.
func (c *crew) close(exhausted func() bool) bool {
	s := c.state.Load()
	return s&members == 0 && exhausted() && c.state.CompareAndSwap(s, s&^(open|asleep))
}

// spin returns true once done does, or false.
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

// start makes sure that the worker comes to the launch that is open, and reports whether that takes a new goroutine.
func (w *worker) start() bool {
	if w.present.Swap(true) {
		return false
	}
	go w.body()
	return true
}

// attend is at one launch after another, as long as they come soon and the worker comes in time: one that finds nothing left
// may share a processor with those that were faster, and must not take it from them.
func (w *worker) attend() {
	c := &w.launch.crew
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
		if !c.joinable(seen) || w.present.Swap(true) { // start starts another one from now on
			return
		}
	}
}

// wanted reports whether the launch, which the worker has joined, has it run by a goroutine and has something left to do.
func (w *worker) wanted() bool {
	l := w.launch
	return l.first <= w.index && w.index < l.end && !l.exhausted()
}
