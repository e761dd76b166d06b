package cpu

import "sync"

// A startBarrier is where the threads of a block begin under the race detector: none starts before
// all have arrived. A goroutine that begins evicts what the detector remembers of those that have
// ended. Where threads begin while others are already at their end, the detector misses one missing
// barrier of normalize's in eight, and on a single core two in three.
type startBarrier struct {
	stand sync.WaitGroup // those that are not there yet
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

// start releases the threads once all have arrived.
func (l *startBarrier) start() {
	if raceDetector {
		withoutRaceSync(l.stand.Wait)
		close(l.open)
	}
}
