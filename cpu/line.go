package cpu

import "sync"

// line is where the threads of a block begin, under the race detector: none starts before all stand there. A goroutine
// that begins takes room from what the detector remembers of those that have ended, so of threads that begin while others
// are at their end already it misses one missing barrier of normalize's in eight, and where there is one core two in three.
type line struct {
	stand sync.WaitGroup // those that are not there yet
	open  chan struct{}
}

// newLine returns one for n threads.
func newLine(n int) *line {
	l := &line{}
	if raceDetector {
		l.stand.Add(n)
		l.open = make(chan struct{})
	}
	return l
}

// wait is called by each thread, and returns when all have come.
func (l *line) wait() {
	if raceDetector {
		quietly(l.stand.Done)
		<-l.open
	}
}

// start lets them go as soon as they are all there.
func (l *line) start() {
	if raceDetector {
		quietly(l.stand.Wait)
		close(l.open)
	}
}
