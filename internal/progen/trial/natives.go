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
type Natives struct {
	Kernels map[string]func(ts *gpu.Threads, args unsafe.Pointer)
	Twins   map[string]func(b *gpu.Blocks, args unsafe.Pointer) // of those that have one
}

// Native is what a kernel left that Go's own compiler compiled.
type Native struct {
	Result Result
	Wrong  string // how another way to run it on a CPU differs, or ""
	Twin   bool   // it ran as a twin, too
}

// Serve reads trials, runs them on the CPU in every way that there is, and writes a Native of each in the
// same order. It is all that a program of random kernels does.
func (n Natives) Serve(r io.Reader, w io.Writer) error {
	var trials []*Trial
	if err := gob.NewDecoder(r).Decode(&trials); err != nil {
		return fmt.Errorf("trial: reading trials: %w", err)
	}
	results := make([]Native, len(trials))
	err := Each(len(trials), func() (func(int), error) {
		b, err := newBench()
		return func(i int) {
			t := trials[i]
			t.Kernel.Native, t.Kernel.Twin = n.Kernels[t.Kernel.Name], n.Twins[t.Kernel.Name]
			results[i] = b.run(t)
		}, err
	})
	if err != nil {
		return err
	}
	return gob.NewEncoder(w).Encode(results)
}

// bench has a CPU device for each way to run the threads of a block.
type bench struct {
	native *Runner
	others []other
}

type other struct {
	name string
	*Runner
}

func newBench() (*bench, error) {
	dev, err := cpu.OpenNative()
	if err != nil {
		return nil, err
	}
	b := &bench{native: NewRunner(dev)}
	for _, way := range []struct {
		name    string
		threads cpu.Threads
	}{{"twin", cpu.Fastest}, {"coroutines", cpu.Coroutines}, {"goroutines", cpu.Goroutines}} {
		if dev, err = cpu.OpenThreads(way.threads); err != nil {
			return nil, err
		}
		b.others = append(b.others, other{way.name, NewRunner(dev)})
	}
	return b, nil
}

// run compares all ways with the native one.
func (b *bench) run(t *Trial) (n Native) {
	n.Result, n.Twin = b.native.Run(t), t.Kernel.Twin != nil
	for _, o := range b.others {
		if o.name == "twin" && !n.Twin {
			continue
		}
		if d := t.Differs(n.Result, o.Run(t)); d != "" && n.Wrong == "" {
			n.Wrong = o.name + ": " + d
		}
	}
	return n
}

// bare returns the trial without what Go's own compiler has no use for.
func (t *Trial) bare() *Trial {
	b := *t
	b.Kernel.Variants, b.Kernel.Sites = nil, nil
	return &b
}

// WriteBare writes trials for a program of Natives.
func WriteBare(w io.Writer, trials []*Trial) error {
	var bare []*Trial
	for _, t := range trials {
		bare = append(bare, t.bare())
	}
	return gob.NewEncoder(w).Encode(bare)
}

// Each calls, for the numbers below n, functions of as many goroutines as there are processors. Every
// goroutine's is made by begin.
func Each(n int, begin func() (func(int), error)) error {
	var next atomic.Int64
	var running sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
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
