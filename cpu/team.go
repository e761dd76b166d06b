package cpu

import (
	"iter"

	"github.com/gopherwarp/gopherwarp/gpu"
)

// team is the threads of a block as coroutines. Making one costs more than a switch, so
// they run block after block until the launch is over.
type team struct {
	worker  *worker
	members []*member
}

// member is one thread of a team.
type member struct {
	worker  *worker
	index   [3]int
	threads gpu.Threads
	yield   func(event) bool
	next    func() (event, bool)
	stop    func()
	waiting bool // at a barrier
}

// event is why a coroutine gave way.
type event int

const (
	barrier event = iota
	finished
)

func newTeam(w *worker) *team {
	t := &team{worker: w, members: make([]*member, w.block.Threads())}
	for i := range t.members {
		m := &member{worker: w, index: threadIndex(i, w.block.Dim)}
		m.next, m.stop = iter.Pull(m.run)
		t.members[i] = m
	}
	if w.launch.kernel.Barriers {
		w.block.Wait = func(thread int) { t.members[thread].yield(barrier) }
	}
	return t
}

// run is the body of the coroutine: the thread, block after block.
func (m *member) run(yield func(event) bool) {
	m.yield = yield
	for more := true; more; more = yield(finished) {
		m.threads = gpu.OneThread(&m.worker.block, m.index)
		m.worker.thread(&m.threads)
	}
}

// run runs the block: between two barriers every thread that is left has one turn. A
// thread that has left, also by a fault, is waited for no more.
func (t *team) run() {
	left := 0
	for _, m := range t.members {
		left += m.turn()
	}
	for left > 0 {
		left = 0
		for _, m := range t.members {
			if m.waiting {
				left += m.turn()
			}
		}
	}
}

// turn lets the thread run to its next barrier, and returns 1, or to its end, and returns 0.
func (m *member) turn() int {
	e, _ := m.next()
	m.waiting = e == barrier
	if m.waiting {
		return 1
	}
	return 0
}

// stop ends the coroutines, none of which is inside the kernel.
func (t *team) stop() {
	for _, m := range t.members {
		m.stop()
	}
}
