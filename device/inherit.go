package device

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/gopherwarp/gopherwarp/device/driver"
)

// epoch is the work of a stream from one Synchronize to the next.
type epoch struct {
	ended  atomic.Bool // set by the Synchronize that ends it, after the fields below
	fault  *Fault      // or nil
	failed error       // the error that stuck to the stream
}

// settle ends the stream's epoch with an outcome, unless another goroutine has ended it first: the
// outcome then belongs to the new epoch. The stream's lock is held, and was held when the outcome
// was taken from the queue.
func (s *Stream) settle(e *epoch, out driver.Outcome) {
	if s.epoch != e {
		if out.Fault != nil {
			s.left.out.Fault = out.Fault
		}
		return
	}
	if f := out.Fault; f != nil && f.Launch > 0 && f.Launched == "" {
		f.Launched = s.calls[uint32(f.Launch-1)]
	}
	e.fault = out.Fault
	e.failed, s.failed = s.failed, nil
	s.unfit.Store(s.closed)
	e.ended.Store(true)
	s.epoch, s.sources, s.calls = new(epoch), nil, nil
}

// result returns the fault of an epoch that has ended, or else the inherited one.
func (e *epoch) result(inherited *Fault) error {
	if e.fault != nil {
		return e.fault
	}
	if inherited != nil {
		return inherited
	}
	return nil
}

// source is the work of an epoch before an event, which may have faulted.
type source struct {
	stream   *Stream
	epoch    *epoch
	launches uint32 // number of the stream's launches before the event
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
		return s.sources // all work is done, without a fault
	}
	here.epoch = s.epoch
	return append(slices.Clip(s.sources), here)
}

// stash takes the outcome of a queue that does its work at once, keeps it for the next Synchronize, and
// returns its fault.
func (s *Stream) stash() *Fault {
	err := s.queue.Wait(context.Background())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left.out.Add(s.queue.Take())
	s.left.err = join(s.left.err, err)
	return s.left.out.Fault
}

// adopt makes s inherit the faults of sources. It makes a new list, because waits and events share the
// old one.
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

// clean reports whether the source is known to have no fault.
func (x source) clean() bool {
	return x.fault == nil && x.epoch.ended.Load() && x.epoch.fault == nil
}

// find returns the source's fault, or nil. The work before the event is done.
func (x source) find() *Fault {
	if x.fault != nil {
		return x.fault
	}
	x.stream.mu.Lock() // the fault moves from the queue to the epoch under the lock
	defer x.stream.mu.Unlock()
	fault := x.epoch.fault
	if q := x.stream.later; q != nil && !x.epoch.ended.Load() {
		fault = q.Peek()
	}
	if fault != nil && fault.Launch > int(x.launches) {
		return nil // of a launch after the event
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
