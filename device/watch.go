package device

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"
)

// Work is a kind of work that streams do.
type Work int

// The kinds of work.
const (
	WorkLaunch   Work = iota // a kernel
	WorkGraph                // a graph as a whole
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

// Activity is a piece of work that a stream of a watched device has done.
type Activity struct {
	Work   Work
	Kernel *Kernel // of a launch, else nil
	Grid   Grid    // of a launch
	Bytes  int     // that were copied or filled
	Device *Device
	Stream int // number of the stream among the device's, from 1

	// Called is when the program asked for the work, and Call how long the call took.
	Called time.Time
	Call   time.Duration
	// Load is how long before Called the program waited for the kernel's code to be ready: a
	// driver compiles it when it is launched first.
	Load time.Duration
	// Stack has the program counters of the callers, the innermost first, for
	// runtime.CallersFrames.
	Stack []uintptr
	// Begin and End are the device's times, put on the host's clock: right to some ten
	// microseconds beside Called, and to about one among each other.
	Begin, End time.Time
}

// Watcher is told what a device has done. Its methods are called by one goroutine at a time.
type Watcher interface {
	// Did tells of work of one stream that was waited for, in the stream's order. The watcher may
	// keep the slice.
	Did([]Activity)
	// Closed tells that the device is closed and nothing follows.
	Closed() error
}

// Watch tells w from now on what the device does, until stop is called or the device closed.
// Work is told when its stream is waited for; work that nobody has waited for at the stop is
// not. Work that is watched costs its caller a few microseconds more. A device has one watcher
// at a time.
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

	mu    sync.Mutex // held while the watcher is told
	ended bool
	base  Mark // a point that was waited for
	at    time.Time
}

// observed is an activity whose times are not known yet.
type observed struct {
	Activity
	watch      *watch
	begin, end Mark
}

// rebase is after how long a new base is taken: a driver tells spans as float32 milliseconds,
// which are good to a microsecond up to 16 seconds.
const rebase = 4 * time.Second

// setClock takes a mark and the time at which the device came to it.
func (w *watch) setClock(b Backend) error {
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

// observe does f, which enqueues a piece of work on s, between two marks.
func (w *watch) observe(s *Stream, a Activity, f func() error) error {
	a.Called = time.Now() // the device may come to the mark before it has the work
	begin, err := s.queue.Mark()
	if err != nil {
		return err
	}
	a.Device, a.Stream = s.device, s.number
	a.Stack = make([]uintptr, 64)
	a.Stack = a.Stack[:runtime.Callers(3, a.Stack)]
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

// tell tells the watchers of work that was waited for. Work whose times the device does not
// know (it was lost) is not told.
func tell(done []observed) error {
	var err error
	for len(done) > 0 {
		w, n := done[0].watch, 1
		for n < len(done) && done[n].watch == w {
			n++
		}
		err = join(err, w.tell(done[:n]))
		done = done[n:]
	}
	return err
}

func (w *watch) tell(done []observed) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var told []Activity
	var freed error
	for _, o := range done {
		if !w.ended && w.date(&o) {
			told = append(told, o.Activity)
		}
		freed = join(freed, o.begin.Free())
		if o.end != w.base {
			freed = join(freed, o.end.Free())
		}
	}
	if len(told) > 0 {
		w.watcher.Did(told)
	}
	return freed
}

// date sets the times of o, and takes its end as the new base now and then.
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

// end frees the base; nothing is told any more.
func (w *watch) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	_ = w.base.Free() // a device that was lost cannot
}

// unwatch ends the watching of a device that is being closed.
func (d *Device) unwatch() error {
	w := d.watching.Swap(nil)
	if w == nil {
		return nil
	}
	w.end()
	return w.watcher.Closed()
}

// work enqueues a piece of work, which is counted and may be watched.
func (s *Stream) work(a Activity, f func(Queue) error) error {
	w := s.device.watching.Load()
	err := s.enqueue(func(q Queue) error {
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
