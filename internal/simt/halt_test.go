package simt

import (
	"sync"
	"testing"
)

// TestHalt lets threads of two launches wait; only those of the stopped launch leave.
func TestHalt(t *testing.T) {
	var stopped, other Halt
	stopped.Begin()
	other.Begin()
	defer other.End()
	var left, running sync.WaitGroup
	release := make(chan struct{})
	for range 10 {
		left.Go(func() {
			defer stopped.Enter()()
			defer func() {
				if r := recover(); r != any(Halted{}) {
					t.Errorf("a thread of the stopped launch left with %v", r)
				}
			}()
			for {
				Pause()
			}
		})
		running.Go(func() {
			defer other.Enter()()
			for {
				Pause()
				select {
				case <-release:
					return
				default:
				}
			}
		})
	}
	stopped.Stop()
	left.Wait()
	close(release)
	running.Wait()
	stopped.End()
	if n := halts.stopped.Load(); n != 0 {
		t.Errorf("%d launches count as stopped", n)
	}
	halts.threads.Range(func(k, _ any) bool {
		t.Errorf("goroutine %v is still registered", k)
		return true
	})
	stopped.Begin() // Begin again, as a queue does for its next launch
	defer stopped.End()
	defer stopped.Enter()()
	Pause()
}
