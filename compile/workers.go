package compile

import (
	"os"
	"runtime"
	"sync"
)

// workers call functions, as many at a time as there are processors.
type workers struct {
	sync.WaitGroup
	free chan struct{} // a place for each that may run
}

// newWorkers returns the workers of a build. What is watched happens in order.
func newWorkers(o Options) *workers {
	n := runtime.GOMAXPROCS(0)
	if o.Trace != nil || os.Getenv(dumpVariable) != "" {
		n = 1
	}
	return &workers{free: make(chan struct{}, n)}
}

// Go has f called. Wait waits for it.
func (w *workers) Go(f func()) {
	w.free <- struct{}{}
	w.WaitGroup.Go(func() {
		defer func() { <-w.free }()
		f()
	})
}
