package cpu

import "sync"

// gate is a barrier for the blocks of a grid: what they did before it happens before what they
// do after it, in the terms of Go's memory model.
type gate struct {
	mu      sync.Mutex
	open    sync.Cond
	members int // that have not left
	arrived int
	round   int
}

func newGate(members int) *gate {
	g := &gate{members: members}
	g.open.L = &g.mu
	return g
}

// wait returns when all members have called wait or left.
func (g *gate) wait() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.arrived++
	for round := g.round; !g.release() && round == g.round; {
		g.open.Wait()
	}
}

// leave takes the caller out.
func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.members--
	g.release()
}

// release starts a new round if everybody is here.
func (g *gate) release() bool {
	if g.arrived == 0 || g.arrived < g.members {
		return false
	}
	g.arrived = 0
	g.round++
	g.open.Broadcast()
	return true
}
