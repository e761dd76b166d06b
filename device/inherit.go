package device

import (
	"context"
	"slices"
	"sync/atomic"
)

// epoch is what happens on a stream from one Synchronize to the next.
type epoch struct {
	outcome atomic.Pointer[settlement] // nil until the Synchronize that ends it
	failed  error                      // what stuck to the stream; guarded by the stream's lock
}

// settlement is how an epoch ended.
type settlement struct {
	fault  *Fault // or nil
	launch uint32 // FaultLaunch
}

// settle ends the stream's epoch, with what was left, unless another goroutine has ended it
// first: then e already says what went wrong, and later work's outcome is the new epoch's. The
// stream's lock is held, since before what was left was taken from the queue.
func (s *Stream) settle(e *epoch, out Outcome) {
	if s.epoch != e {
		if out.Fault != nil { // of work that came after the epoch
			s.left.out.Fault, s.left.out.FaultLaunch = out.Fault, out.FaultLaunch
		}
		return
	}
	if out.Fault != nil && out.FaultLaunch > 0 && out.Fault.Launched == "" {
		out.Fault.Launched = s.calls[out.FaultLaunch-1]
	}
	e.failed, s.failed = s.failed, nil
	s.unfit.Store(s.closed)
	e.outcome.Store(&settlement{out.Fault, out.FaultLaunch})
	s.epoch, s.sources, s.calls = new(epoch), nil, nil
}

// fault returns the fault of an epoch that has ended, or else the one that was inherited.
func (e *epoch) fault(inherited *Fault) error {
	if f := e.outcome.Load().fault; f != nil {
		return f
	}
	if inherited != nil {
		return inherited
	}
	return nil
}

// source is a stretch of a stream, up to an event, that may have faulted.
type source struct {
	stream   *Stream
	epoch    *epoch
	launches uint32 // of the stream before the event
	fault    *Fault // known when the event was recorded, or nil
}

// sourcesHere returns what a stream that waits for an event of s, recorded now, inherits.
func (s *Stream) sourcesHere() []source {
	here := source{stream: s}
	if s.later != nil {
		here.launches = s.later.Launches()
	} else {
		here.fault = s.stash()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.later == nil && here.fault == nil {
		return s.sources // all is done, and well
	}
	here.epoch = s.epoch
	return append(slices.Clip(s.sources), here)
}

// stash takes what kernels have left in a queue that does its work at once, for the next
// Synchronize, and returns the fault among it.
func (s *Stream) stash() *Fault {
	err := s.queue.Wait(context.Background())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left.out.Add(s.queue.Take())
	s.left.err = join(s.left.err, err)
	return s.left.out.Fault
}

// adopt makes s inherit the faults of sources. Waits and events share the list that was there, so
// there is a new one.
func (s *Stream) adopt(sources []source) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.DeleteFunc(slices.Clone(s.sources), source.clean)
	for _, x := range sources {
		i := slices.IndexFunc(all, func(y source) bool { return y.epoch == x.epoch })
		switch {
		case x.stream == s || x.clean():
		case i < 0:
			all = append(all, x)
		case all[i].launches < x.launches:
			all[i] = x
		}
	}
	s.sources = all
}

// clean reports whether it is known that nothing can be inherited.
func (x source) clean() bool {
	end := x.epoch.outcome.Load()
	return x.fault == nil && end != nil && end.fault == nil
}

// find returns the fault, if there is one. The work before the event is done.
func (x source) find() *Fault {
	if x.fault != nil {
		return x.fault
	}
	x.stream.mu.Lock() // the fault is in the queue or in the epoch, and moves under the lock
	defer x.stream.mu.Unlock()
	var fault *Fault
	var launch uint32
	if end := x.epoch.outcome.Load(); end != nil {
		fault, launch = end.fault, end.launch
	} else if q := x.stream.later; q != nil {
		fault, launch = q.Peek()
	}
	if launch > x.launches {
		return nil
	}
	return fault
}

// inherit returns the first fault of sources.
func inherit(sources []source) *Fault {
	for _, x := range sources {
		if f := x.find(); f != nil {
			return f
		}
	}
	return nil
}
