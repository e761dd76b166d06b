package cpu

import (
	"iter"

	"github.com/gopherwarp/gopherwarp/gpu"
)

// team is the threads of a block as coroutines. Creating a coroutine costs more than switching to
// one, so they run block after block until the launch is over.
type team struct {
	members  []*member
	meetings *meetings
	ready    []int // the threads that get a turn next; those before index next have had it
	next     int
}

// member is one thread of a team.
type member struct {
	worker  *worker
	index   [3]int
	threads gpu.Threads
	yield   func(event) bool
	next    func() (event, bool)
	stop    func()
}

// event is the reason why a coroutine yielded.
type event int

const (
	waits event = iota
	finished
)

func newTeam(w *worker) *team {
	n := w.block.Threads()
	t := &team{members: make([]*member, n), meetings: newMeetings(n)}
	for i := range t.members {
		m := &member{worker: w, index: threadIndex(i, w.block.Dim)}
		m.next, m.stop = iter.Pull(m.run)
		t.members[i] = m
	}
	t.meetings.grid = w.launch.barrier.wait
	t.meetings.sleep = func(_ <-chan struct{}, thread int) { t.members[thread].yield(waits) }
	t.meetings.wake = func(_ *meetingPoint, threads []int) { t.ready = append(t.ready, threads...) }
	if w.launch.kernel.Barriers {
		w.block.Meet = t.meetings.meet
		w.block.Await, w.block.Notify = t.meetings.await, t.meetings.notify
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

// run runs the block. Each thread runs until it must wait for others, and again after they have
// arrived. The others stop waiting for a thread that has left the kernel, even by a fault.
func (t *team) run() {
	t.meetings.detector.begin(len(t.members))
	t.meetings.begin(len(t.members))
	t.ready, t.next = t.ready[:0], 0
	for i := range t.members {
		t.ready = append(t.ready, i)
	}
	for t.next < len(t.ready) {
		thread := t.take()
		if e, _ := t.members[thread].next(); e == finished {
			t.meetings.leave(thread)
		}
	}
}

// take returns the thread that has the next turn. From time to time, it drops the threads that have
// had theirs, so that the list does not grow with the number of turns.
func (t *team) take() int {
	if t.next > len(t.members) {
		t.ready = t.ready[:copy(t.ready, t.ready[t.next:])]
		t.next = 0
	}
	t.next++
	return t.ready[t.next-1]
}

// stop ends the coroutines, none of which is inside the kernel.
func (t *team) stop() {
	for _, m := range t.members {
		m.stop()
	}
}
