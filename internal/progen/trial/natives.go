package trial

import (
	"encoding/gob"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// Natives are kernels as Go's own compiler compiles them, by name.
type Natives map[string]func(ts *gpu.Threads, args unsafe.Pointer)

// Serve reads trials, runs them on the CPU and writes their results in the same order. It is
// all that a program of random kernels does.
func (n Natives) Serve(r io.Reader, w io.Writer) error {
	var trials []*Trial
	if err := gob.NewDecoder(r).Decode(&trials); err != nil {
		return fmt.Errorf("trial: reading trials: %w", err)
	}
	results := make([]Result, len(trials))
	err := Each(len(trials), func() (func(int), error) {
		dev, err := cpu.OpenNative()
		return func(i int) {
			t := trials[i]
			t.SetNative(n[t.Kernel.Name])
			results[i] = t.On(dev)
		}, err
	})
	if err != nil {
		return err
	}
	return gob.NewEncoder(w).Encode(results)
}

// Each calls, for the numbers below n, functions of as many goroutines as there are processors. Every
// goroutine's is made by begin.
func Each(n int, begin func() (func(int), error)) error {
	var next atomic.Int64
	var running sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		f, err := begin()
		if err != nil {
			return err
		}
		running.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	running.Wait()
	return nil
}
