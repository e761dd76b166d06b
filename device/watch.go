package device

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/gopherwarp/gopherwarp/device/driver"
)

// Work is a kind of work on a stream.
type Work int

// The kinds of work.
const (
	WorkLaunch   Work = iota // a kernel
	WorkGraph                // a whole graph
	WorkUpload               // a copy from the host
	WorkDownload             // a copy to the host
	WorkCopy                 // a copy within the device
	WorkPeer                 // a copy from another device
	WorkFill                 // clearing or filling
	workKinds
)

// String returns "launch", "upload" and so on.
func (w Work) String() string {
	return [workKinds]string{"launch", "graph", "upload", "download", "copy", "peer copy", "fill"}[w]
}

// Activity is a completed piece of work of a watched device.
type Activity struct {
	Work   Work
	Kernel *driver.Kernel // the launched kernel; nil for other work
	Grid   Grid           // the grid of a launch
	Bytes  int            // the number of bytes copied or filled
	Device *Device
	Stream int // number of the stream among the streams of the device, starting with 1

	// Called is the time of the call that enqueued the work, and Call is the duration of that call.
	Called time.Time
	Call   time.Duration
	// Load is how long the program waited, before Called, for the driver to compile the kernel.
	Load time.Duration
	// Stack holds the program counters of the callers, innermost first, for
	// runtime.CallersFrames.
	Stack []uintptr
	// Begin and End are the times at which the device began and ended the work, on the host's clock.
	// The times are accurate to about 10 microseconds relative to Called, and to about 1 microsecond
	// relative to each other.
	Begin, End time.Time
}

// Watcher receives the activities of a device. Its methods are called by one goroutine at a time.
type Watcher interface {
	// Did receives completed work of one stream, in the stream's order. The watcher may keep the
	// slice.
	Did([]Activity)
	// Closed is the last call, after the device has been closed. It is not called after stop.
	Closed() error
}

// Watch reports the device's work to w until stop is called or the device is closed. Work is reported when the program
// waits for the work's stream, unless stop has been called before. Each piece of work takes a few microseconds longer. A
// device has at most one watcher.
func (d *Device) Watch(w Watcher) (stop func(), err error) {
	v := &watch{watcher: w}
	if err := v.setClock(d.backend); err != nil {
		return nil, fmt.Errorf("device: watch: %w", err)
	}
	if !d.watching.CompareAndSwap(nil, v) {
		return nil, join(fmt.Errorf("device: watch: %w", ErrWatched), v.base.Free())
	}
	return func() {
		if d.watching.CompareAndSwap(v, nil) {
			v.end()
		}
	}, nil
}

// watch is a watcher on a device.
type watch struct {
	watcher Watcher

	mu    sync.Mutex // held during calls of the watcher
	ended bool
	base  driver.Mark // a point that was waited for
	at    time.Time
}

// observed is an activity whose times are not known yet.
type observed struct {
	Activity
	watch      *watch
	begin, end driver.Mark
}

// rebase is the age at which a base is replaced: a driver returns time spans as float32
// milliseconds, which are precise to a microsecond up to 16 seconds.
const rebase = 4 * time.Second

// setClock sets the base mark and the time at which the device reached it.
func (w *watch) setClock(b driver.Backend) error {
	q, err := b.NewQueue()
	if err != nil {
		return err
	}
	if w.base, err = q.Mark(); err == nil {
		err = q.Wait(context.Background())
	}
	w.at = time.Now()
	return join(err, q.Close())
}

// observe calls f, which enqueues a piece of work on s, between two marks.
func (w *watch) observe(s *Stream, a Activity, f func() error) error {
	a.Called = time.Now() // the device may come to the mark before it has the work
	begin, err := s.queue.Mark()
	if err != nil {
		return err
	}
	a.Device, a.Stream = s.device, s.number
	var stack [64]uintptr
	a.Stack = slices.Clone(stack[:runtime.Callers(3, stack[:])])
	start := time.Now()
	err = f()
	a.Call = time.Since(start)
	if err != nil {
		return join(err, begin.Free())
	}
	end, err := s.queue.Mark()
	if err != nil {
		return join(err, begin.Free())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.observed = append(s.observed, observed{a, w, begin, end})
	return nil
}

// report reports completed work to the watchers. It leaves out work whose times are unknown because
// the device was lost.
func report(done []observed) error {
	var err error
	for len(done) > 0 {
		w, n := done[0].watch, 1
		for n < len(done) && done[n].watch == w {
			n++
		}
		err = join(err, w.report(done[:n]))
		done = done[n:]
	}
	return err
}

func (w *watch) report(done []observed) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var did []Activity
	var freed error
	for _, o := range done {
		if !w.ended && w.date(&o) {
			did = append(did, o.Activity)
		}
		freed = join(freed, o.begin.Free())
		if o.end != w.base {
			freed = join(freed, o.end.Free())
		}
	}
	if len(did) > 0 {
		w.watcher.Did(did)
	}
	return freed
}

// date sets the times of o, and replaces the base by the end of o if the base is old.
func (w *watch) date(o *observed) bool {
	begin, err := o.begin.Since(w.base)
	if err != nil {
		return false
	}
	end, err := o.end.Since(w.base)
	if err != nil {
		return false
	}
	o.Begin, o.End = w.at.Add(begin), w.at.Add(end)
	if end > rebase && w.base.Free() == nil {
		w.base, w.at = o.end, o.End
	}
	return true
}

// end frees the base. The watcher receives nothing more.
func (w *watch) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	_ = w.base.Free() // a device that was lost cannot
}

// unwatch ends the watch of a device that is being closed.
func (d *Device) unwatch() error {
	w := d.watching.Swap(nil)
	if w == nil {
		return nil
	}
	w.end()
	return w.watcher.Closed()
}

// work enqueues a piece of work, counts it, and observes it for a watcher.
func (s *Stream) work(a Activity, f func(driver.Queue) error) error {
	w := s.device.watching.Load()
	err := s.enqueue(func(q driver.Queue) error {
		if w == nil || s.recorder != nil {
			return f(q)
		}
		return w.observe(s, a, func() error { return f(q) })
	})
	if err == nil && s.recorder == nil {
		s.device.counters.count(a.Work, a.Bytes)
	}
	return err
}
