package trial

import (
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// Natives are kernels as Go's own compiler compiles them, by name.
type Natives struct {
	Kernels map[string]func(ts *gpu.Threads, args unsafe.Pointer)
	Twins   map[string]func(b *gpu.Blocks, args unsafe.Pointer) // of those that have one
}

// Serve runs trials on the CPU in every way that there is: all that a program of random kernels does.
func (n Natives) Serve(r io.Reader, w io.Writer) error {
	b, err := newBench()
	if err != nil {
		return err
	}
	return Serve(r, w, b.native.Device().Info().Name, func(q Question) Answer {
		k := &q.Trial.Kernel
		k.Native, k.Twin = n.Kernels[k.Name], n.Twins[k.Name]
		return b.run(&q.Trial)
	})
}

// bench has a CPU device for each way to run the threads of a block.
type bench struct {
	native *Runner
	others []other
}

type other struct {
	name string
	twin bool // it differs from the native way only where there is a twin
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
		twin    bool
		threads cpu.Threads
	}{{"twin", true, cpu.Fastest}, {"AVX2 twin", true, cpu.AVX2}, {"scalar twin", true, cpu.Scalar}, {"coroutines", false, cpu.Coroutines}, {"goroutines", false, cpu.Goroutines}} {
		if way.threads == cpu.AVX2 && cpu.VectorLanes() <= 8 { // as the twin, or none
			continue
		}
		if dev, err = cpu.OpenThreads(way.threads); err != nil {
			return nil, err
		}
		b.others = append(b.others, other{way.name, way.twin, NewRunner(dev)})
	}
	return b, nil
}

// run compares all ways with the native one.
func (b *bench) run(t *Trial) Answer {
	a := Answer{Result: b.native.within(t), Twin: t.Kernel.Twin != nil}
	if a.Last = a.Result.Endless; a.Last { // it goes on until the process ends
		return a
	}
	for _, o := range b.others {
		if o.twin && !a.Twin {
			continue
		}
		got := o.within(t)
		if got.Endless {
			return Answer{Result: a.Result, Twin: a.Twin, Wrong: o.name + ": takes too long", Last: true}
		}
		if d := t.Differs(a.Result, got); d != "" && a.Wrong == "" {
			a.Wrong = o.name + ": " + d
		}
	}
	return a
}

// within runs a trial for as long as its patience lasts. A kernel that takes longer keeps the runner's device busy.
func (r *Runner) within(t *Trial) Result {
	if t.Patience == 0 {
		return r.Run(t)
	}
	done := make(chan Result, 1)
	go func() { done <- r.Run(t) }()
	select {
	case result := <-done:
		return result
	case <-time.After(t.Patience):
		return Result{Endless: true}
	}
}

// Bare returns the trial without code for GPUs.
func (t *Trial) Bare() Trial {
	b := *t
	b.Kernel.Variants = nil
	return b
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
