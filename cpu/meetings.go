package cpu

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/gopherwarp/gopherwarp/internal/simt"
)

// meetings lets the threads of a block wait for each other, all of them or those of a warp. It
// knows who has not left the kernel: only those are waited for. Where all of them wait, and so
// nobody can come any more, each gets a panic instead.
//
// It is the same for coroutines and for goroutines but for how a thread waits. In the terms of
// Go's memory model, what threads did before they met happens before what they do after it.
type meetings struct {
	grid  func()                              // waits for all other blocks
	sleep func(g <-chan struct{}, thread int) // returns once the gate is open or the thread is woken
	wake  func(p *place, threads []int)       // wakes those that sleep there; p's lock is held
	gates bool                                // places have gates, for goroutines

	block place
	warps []place
	// Of four warps each.
	groups []place
	park   place // of those that wait for something else than each other

	crowd *crowd
}

// crowd is the threads of a block, or of the blocks of a cluster, that can wait for each other.
type crowd struct {
	alive, waiting atomic.Int64 // threads that have not left, those of them that sleep
	stuck          atomic.Bool
	meetings       []*meetings // of the blocks
}

// begin readies c for so many threads.
func (c *crowd) begin(threads int) {
	c.alive.Store(int64(threads))
	c.waiting.Store(0)
	c.stuck.Store(false)
}

// place is where threads meet, round after round. What they bring in one round stands until
// all of them have come in the next one, so two are kept.
type place struct {
	mu      sync.Mutex
	members int // that have not left
	round   int
	came    []int // the threads that have come
	kind    simt.Kind
	brought [2]simt.Meeting
	// gate is closed when the round ends. Who waits for it takes no lock on his way out: that would
	// order him, for the race detector, behind those that have left the kernel meanwhile.
	gate chan struct{}
}

// gate returns what goroutines wait for at p until the round ends. p's lock is held.
func (m *meetings) gate(p *place) <-chan struct{} {
	if m.gates && p.gate == nil {
		p.gate = make(chan struct{})
	}
	return p.gate
}

// open lets those go on that wait for the gate. p's lock is held.
func (p *place) open() {
	if p.gate != nil {
		close(p.gate)
		p.gate = nil
	}
}

// groupSize is the number of threads of a warp group.
const groupSize = 4 * simt.WarpSize

// newMeetings returns the meetings of a block of the given number of threads.
func newMeetings(threads int) *meetings {
	m := &meetings{
		warps:  make([]place, (threads+simt.WarpSize-1)/simt.WarpSize),
		groups: make([]place, (threads+groupSize-1)/groupSize),
	}
	m.crowd = &crowd{meetings: []*meetings{m}}
	return m
}

// begin readies m for another block of the grid, whose crowd has begun.
func (m *meetings) begin(threads int) {
	m.block.begin(threads)
	m.park.begin(0)
	for i := range m.warps {
		m.warps[i].begin(min(simt.WarpSize, threads-i*simt.WarpSize))
	}
	for i := range m.groups {
		m.groups[i].begin(min(groupSize, threads-i*groupSize))
	}
}

func (p *place) begin(members int) { p.members, p.came = members, p.came[:0] }

// meet implements simt.Block's Meet.
func (m *meetings) meet(thread int, k simt.Kind, v uint64) *simt.Meeting {
	p := &m.block
	switch {
	case k.Warp():
		p = &m.warps[thread/simt.WarpSize]
	case k == simt.Products:
		p = &m.groups[thread/groupSize]
	}
	p.mu.Lock()
	if len(p.came) > 0 && p.kind != k {
		p.mu.Unlock()
		panic(fmt.Sprintf("a thread came to %v while others wait at %v", k, p.kind))
	}
	gate, result := m.gate(p), p.bring(thread, k, v)
	if len(p.came) == p.members {
		m.release(p, 1)
		p.mu.Unlock()
		return result
	}
	p.mu.Unlock()
	m.count(&m.crowd.waiting, 1)
	m.sleep(gate, thread)
	if m.crowd.stuck.Load() {
		panic("all threads wait, and not for the same: one waits at " + k.String())
	}
	return result
}

// bring notes that a thread has come.
func (p *place) bring(thread int, k simt.Kind, v uint64) *simt.Meeting {
	m := &p.brought[p.round%2]
	if len(p.came) == 0 {
		p.kind, m.Lanes, m.Threads, m.Ones = k, 0, 0, 0
	}
	p.came = append(p.came, thread)
	m.Bring(thread, v)
	return m
}

// release ends the round; awake is how many of those that came, the last ones, do not sleep. p's
// lock is held.
func (m *meetings) release(p *place, awake int) {
	sleepers := p.came[:len(p.came)-awake]
	quietly(func() { m.crowd.waiting.Add(int64(-len(sleepers))) })
	if p.kind == simt.GridBarrier {
		m.grid()
	}
	p.round++
	m.wake(p, sleepers)
	p.came = p.came[:0]
}

// await implements simt.Block's Await.
func (m *meetings) await(thread int, ready func() bool) {
	p := &m.park
	for {
		p.mu.Lock()
		if ready() {
			p.mu.Unlock()
			return
		}
		gate := m.gate(p)
		p.came = append(p.came, thread)
		p.mu.Unlock()
		m.count(&m.crowd.waiting, 1)
		m.sleep(gate, thread)
		if m.crowd.stuck.Load() {
			panic("all threads wait, and not for the same: one waits for a gpu.Barrier or a cluster")
		}
	}
}

// notify implements simt.Block's Notify.
func (m *meetings) notify() {
	p := &m.park
	p.mu.Lock()
	defer p.mu.Unlock()
	quietly(func() { m.crowd.waiting.Add(int64(-len(p.came))) })
	p.round++
	m.wake(p, p.came)
	p.came = p.came[:0]
}

// leave takes a thread out that has left the kernel. Others may have waited for it alone.
func (m *meetings) leave(thread int) {
	for _, p := range [...]*place{&m.warps[thread/simt.WarpSize], &m.groups[thread/groupSize], &m.block} {
		p.mu.Lock()
		p.members--
		if len(p.came) > 0 && len(p.came) == p.members {
			m.release(p, 0)
		}
		p.mu.Unlock()
	}
	m.count(&m.crowd.alive, -1)
}

// count changes one of the two counts and looks whether anybody is left who does not wait.
func (m *meetings) count(n *atomic.Int64, by int64) {
	stuck := false
	quietly(func() {
		n.Add(by)
		alive := m.crowd.alive.Load()
		stuck = alive > 0 && m.crowd.waiting.Load() == alive
	})
	if !stuck {
		return
	}
	m.crowd.stuck.Store(true)
	for _, m := range m.crowd.meetings {
		m.unstickAll()
	}
}

func (m *meetings) unstickAll() {
	m.unstick(&m.block)
	m.unstick(&m.park)
	for i := range m.warps {
		m.unstick(&m.warps[i])
	}
	for i := range m.groups {
		m.unstick(&m.groups[i])
	}
}

// unstick wakes those that sleep at p.
func (m *meetings) unstick(p *place) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m.wake(p, p.came)
	p.came = p.came[:0]
}
