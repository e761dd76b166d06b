package cpu

import "sync"

// A gridBarrier is a barrier for the blocks of a grid. In the terms of Go's memory model, what the
// blocks do before the barrier happens before what they do after it.
type gridBarrier struct {
	mu      sync.Mutex
	open    sync.Cond
	members int // those that have not left
	arrived int
	phase   int
}

// newGridBarrier returns a barrier for the given number of blocks.
func newGridBarrier(members int) *gridBarrier {
	g := &gridBarrier{members: members}
	g.open.L = &g.mu
	return g
}

// wait returns when all members have called wait or left.
func (g *gridBarrier) wait() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.arrived++
	for phase := g.phase; !g.release() && phase == g.phase; {
		g.open.Wait()
	}
}

// leave removes the caller from the members.
func (g *gridBarrier) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.members--
	g.release()
}

// release completes the phase if all members have arrived.
func (g *gridBarrier) release() bool {
	if g.arrived == 0 || g.arrived < g.members {
		return false
	}
	g.arrived = 0
	g.phase++
	g.open.Broadcast()
	return true
}
