package cpu

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/gopherwarp/gopherwarp/internal/simt"
)

// meetings lets the threads of a block wait for each other, either all of them or those of a warp. It counts
// the threads that have not left the kernel; only these are waited for. If all of them wait, so that none
// can ever arrive, each of them panics.
//
// Coroutines and goroutines differ only in how a thread waits. In the terms of Go's memory model, what
// threads do before they meet happens before what they do after it.
type meetings struct {
	grid  func()                               // waits for all other blocks
	sleep func(g <-chan struct{}, thread int)  // wakes threads that sleep there; p's lock is held
	wake  func(p *meetingPoint, threads []int) // wakes those that sleep there; p's lock is held
	gates bool                                 // meeting points have gates, for goroutines

	block meetingPoint
	warps []meetingPoint
	some  []subsets // of each warp
	// The meeting points of groups of four warps.
	groups []meetingPoint
	park   meetingPoint // for threads that wait for something other than each other

	detector *deadlockDetector
}

// A deadlockDetector counts the threads of a block, or of the blocks of a cluster, that may wait
// for each other, and those that do.
type deadlockDetector struct {
	alive, waiting atomic.Int64 // threads that have not left, and those of them that sleep
	stuck          atomic.Bool
	meetings       []*meetings // of all blocks
}

// deadlock is what a thread panics with if all threads wait. It says where the thread waits, or for what.
type deadlock string

func (d deadlock) String() string {
	return "deadlock: all threads wait, but not for the same operation; one waits " + string(d)
}

// begin resets the detector for the given number of threads.
func (c *deadlockDetector) begin(threads int) {
	c.alive.Store(int64(threads))
	c.waiting.Store(0)
	c.stuck.Store(false)
}

// A meetingPoint is a place where threads wait for each other, in phases. The values that threads
// bring in one phase must stay valid until all threads have arrived in the next, so it keeps two
// sets of them.
type meetingPoint struct {
	mu      sync.Mutex
	members int // threads that have not left
	phase   int
	arrived []int // the threads that have arrived
	kind    simt.Kind
	brought [2]simt.Meeting
	// gate is closed when the phase ends. Threads that leave it take no lock: for the race
	// detector, a lock would order them after the threads that have left the kernel in the
	// meantime.
	gate chan struct{}
}

// gate returns the channel that goroutines wait for at p until the phase ends. p's lock is held.
func (m *meetings) gate(p *meetingPoint) <-chan struct{} {
	if m.gates && p.gate == nil {
		p.gate = make(chan struct{})
	}
	return p.gate
}

// open releases the threads that wait for the gate. p's lock is held.
func (p *meetingPoint) open() {
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
		warps:  make([]meetingPoint, (threads+simt.WarpSize-1)/simt.WarpSize),
		some:   make([]subsets, (threads+simt.WarpSize-1)/simt.WarpSize),
		groups: make([]meetingPoint, (threads+groupSize-1)/groupSize),
	}
	m.detector = &deadlockDetector{meetings: []*meetings{m}}
	return m
}

// begin resets m for another block of the grid, whose detector has been reset.
func (m *meetings) begin(threads int) {
	m.block.begin(threads)
	m.park.begin(0)
	for i := range m.warps {
		n := min(simt.WarpSize, threads-i*simt.WarpSize)
		m.warps[i].begin(n)
		m.some[i].begin(n)
	}
	for i := range m.groups {
		m.groups[i].begin(min(groupSize, threads-i*groupSize))
	}
}

func (p *meetingPoint) begin(members int) { p.members, p.arrived = members, p.arrived[:0] }

// meet implements simt.Block's Meet.
func (m *meetings) meet(thread int, k simt.Kind, lanes uint32, v uint64) *simt.Meeting {
	p := &m.block
	switch {
	case k.Warp() && lanes != simt.AllLanes:
		p = m.some[thread/simt.WarpSize].point(lanes)
	case k.Warp():
		p = &m.warps[thread/simt.WarpSize]
	case k == simt.Products:
		p = &m.groups[thread/groupSize]
	}
	p.mu.Lock()
	if len(p.arrived) > 0 && p.kind != k {
		p.mu.Unlock()
		panic(fmt.Sprintf("a thread reached %v while others wait at %v", k, p.kind))
	}
	gate, result := m.gate(p), p.bring(thread, k, v)
	if len(p.arrived) == p.members {
		m.release(p, 1)
		p.mu.Unlock()
		return result
	}
	p.mu.Unlock()
	m.count(&m.detector.waiting, 1)
	m.sleep(gate, thread)
	if m.detector.stuck.Load() {
		panic(deadlock("at " + k.String()))
	}
	return result
}

// bring records that a thread has arrived, and its value.
func (p *meetingPoint) bring(thread int, k simt.Kind, v uint64) *simt.Meeting {
	m := &p.brought[p.phase%2]
	if len(p.arrived) == 0 {
		p.kind, m.Lanes, m.Threads, m.Ones = k, 0, 0, 0
	}
	p.arrived = append(p.arrived, thread)
	m.Bring(thread, v)
	return m
}

// release ends the phase. The last awake threads that arrived do not sleep. p's lock is held.
func (m *meetings) release(p *meetingPoint, awake int) {
	sleepers := p.arrived[:len(p.arrived)-awake]
	withoutRaceSync(func() { m.detector.waiting.Add(int64(-len(sleepers))) })
	if p.kind == simt.GridBarrier {
		m.grid()
	}
	p.phase++
	m.wake(p, sleepers)
	p.arrived = p.arrived[:0]
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
		p.arrived = append(p.arrived, thread)
		p.mu.Unlock()
		m.count(&m.detector.waiting, 1)
		m.sleep(gate, thread)
		if m.detector.stuck.Load() {
			panic(deadlock("for a gpu.Barrier or a cluster"))
		}
	}
}

// notify implements simt.Block's Notify.
func (m *meetings) notify() {
	p := &m.park
	p.mu.Lock()
	defer p.mu.Unlock()
	withoutRaceSync(func() { m.detector.waiting.Add(int64(-len(p.arrived))) })
	p.phase++
	m.wake(p, p.arrived)
	p.arrived = p.arrived[:0]
}

// leave removes a thread that has left the kernel. Others may have been waiting only for it.
func (m *meetings) leave(thread int) {
	for _, p := range [...]*meetingPoint{&m.warps[thread/simt.WarpSize], &m.groups[thread/groupSize], &m.block} {
		m.leavePoint(p)
	}
	for _, p := range m.some[thread/simt.WarpSize].leave(thread % simt.WarpSize) {
		m.leavePoint(p)
	}
	m.count(&m.detector.alive, -1)
}

// leavePoint removes one of the threads that p waits for.
func (m *meetings) leavePoint(p *meetingPoint) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.members--
	if len(p.arrived) > 0 && len(p.arrived) == p.members {
		m.release(p, 0)
	}
}

// count changes one of the two counts, and detects that every thread waits.
func (m *meetings) count(n *atomic.Int64, by int64) {
	stuck := false
	withoutRaceSync(func() {
		n.Add(by)
		alive := m.detector.alive.Load()
		stuck = alive > 0 && m.detector.waiting.Load() == alive
	})
	if !stuck {
		return
	}
	m.detector.stuck.Store(true)
	for _, m := range m.detector.meetings {
		m.unstickAll()
	}
}

func (m *meetings) unstickAll() {
	m.unstick(&m.block)
	m.unstick(&m.park)
	for i := range m.warps {
		m.unstick(&m.warps[i])
		for _, p := range m.some[i].all() {
			m.unstick(p)
		}
	}
	for i := range m.groups {
		m.unstick(&m.groups[i])
	}
}

// unstick wakes the threads that sleep at p.
func (m *meetings) unstick(p *meetingPoint) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m.wake(p, p.arrived)
	p.arrived = p.arrived[:0]
}
