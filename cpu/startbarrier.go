package cpu

import "sync"

// A startBarrier holds the threads of a block at their start, under the race detector, until all of
// them have started. A new goroutine evicts what the detector remembers about goroutines that have
// ended. If threads started while others were already ending, the detector would miss one missing
// barrier in eight in normalize, and two in three on a single core.
type startBarrier struct {
	stand sync.WaitGroup // threads that have not arrived
	open  chan struct{}
}

// newStartBarrier returns a barrier for n threads.
func newStartBarrier(n int) *startBarrier {
	l := &startBarrier{}
	if raceDetector {
		l.stand.Add(n)
		l.open = make(chan struct{})
	}
	return l
}

// wait is called by each thread, and returns when all have arrived.
func (l *startBarrier) wait() {
	if raceDetector {
		withoutRaceSync(l.stand.Done)
		<-l.open
	}
}

// start releases the threads after all have arrived.
func (l *startBarrier) start() {
	if raceDetector {
		withoutRaceSync(l.stand.Wait)
		close(l.open)
	}
}
