package cudafake

import "github.com/gopherwarp/gopherwarp/internal/cudasys"

// stream is a queue of operations, some of which have not been done yet.
type stream struct {
	context  *context
	priority int32
	busy     int // queries until it does more work
	work     []func() cudasys.Status
	done     int    // operations that were done and removed from work
	capture  *graph // the graph that captures the operations, or nil
}

// event is a point in a stream. Its time is the number of operations that streams had done; 0
// before.
type event struct {
	context *context
	stream  *stream // the stream in which it was recorded last, or nil
	at      int     // operations of the stream before it
	time    int
}

// add enqueues an operation.
func (st *stream) add(work func() cudasys.Status) {
	if st.capture != nil {
		st.capture.add(work)
		return
	}
	st.work = append(st.work, work)
}

// end returns the number of operations so far.
func (st *stream) end() int { return st.done + len(st.work) }

// run does the stream's work up to a point.
func (f *Fake) run(st *stream, end int) cudasys.Status {
	for st.done < end && st.context.failed == cudasys.Success {
		work := st.work[0]
		st.work[0] = nil
		st.work = st.work[1:]
		st.done++
		if s := work(); s != cudasys.Success {
			st.context.failed = s
		}
	}
	if len(st.work) == 0 {
		st.work = nil
	}
	return st.context.failed
}

// finish does all of the stream's work.
func (f *Fake) finish(st *stream) cudasys.Status { return f.run(st, st.end()) }

// finishAll does the work of all streams of c, as freeing memory does.
func (f *Fake) finishAll(c *context) {
	for _, st := range f.streams {
		if st.context == c {
			f.finish(st)
		}
	}
}

// ready does a stream's work up to a point, unless the stream is held or busy.
func (f *Fake) ready(st *stream, end int) cudasys.Status {
	if st.done >= end {
		return st.context.failed
	}
	if f.held {
		return cudasys.NotReady
	}
	if st.busy > 0 {
		st.busy--
		return cudasys.NotReady
	}
	return f.run(st, end)
}

// onStream is inContext for functions that take a stream of that context.
func (f *Fake) onStream(function string, s cudasys.Stream, body func(st *stream) cudasys.Status) cudasys.Status {
	return f.inContext(function, func(c *context) cudasys.Status {
		st := f.streams[s]
		if st == nil || st.context != c {
			return cudasys.InvalidHandle
		}
		return body(st)
	})
}

// enqueue is onStream for functions that add work.
func (f *Fake) enqueue(function string, s cudasys.Stream, body func(st *stream) cudasys.Status) cudasys.Status {
	return f.onStream(function, s, func(st *stream) cudasys.Status {
		st.busy = f.Latency
		return body(st)
	})
}

func (f *Fake) addStreams(d *cudasys.Driver) {
	d.CtxGetStreamPriorityRange = func(least, greatest *int32) cudasys.Status {
		return f.inContext("cuCtxGetStreamPriorityRange", func(*context) cudasys.Status {
			*least, *greatest = 0, -5
			return cudasys.Success
		})
	}
	d.StreamCreateWithPriority = func(s *cudasys.Stream, _ uint32, priority int32) cudasys.Status {
		return f.inContext("cuStreamCreateWithPriority", func(c *context) cudasys.Status {
			*s = cudasys.Stream(f.handle())
			f.streams[*s] = &stream{context: c, priority: priority}
			return cudasys.Success
		})
	}
	d.StreamQuery = func(s cudasys.Stream) cudasys.Status {
		return f.onStream("cuStreamQuery", s, func(st *stream) cudasys.Status {
			if st.capture != nil {
				return cudasys.StreamCaptureUnsupported
			}
			return f.ready(st, st.end())
		})
	}
	d.StreamDestroy = func(s cudasys.Stream) cudasys.Status {
		return f.onStream("cuStreamDestroy", s, func(st *stream) cudasys.Status {
			f.finish(st) // the driver does the remaining work
			delete(f.streams, s)
			return cudasys.Success
		})
	}
	d.StreamWaitEvent = func(s cudasys.Stream, e cudasys.Event, _ uint32) cudasys.Status {
		return f.enqueue("cuStreamWaitEvent", s, func(st *stream) cudasys.Status {
			ev := f.events[e]
			if ev == nil {
				return cudasys.InvalidHandle
			}
			if other, end := ev.stream, ev.at; other != nil {
				st.add(func() cudasys.Status { return f.run(other, end) })
			}
			return cudasys.Success
		})
	}
}

// Priorities returns the priorities of the existing streams, in any order.
func (f *Fake) Priorities() []int {
	f.mu.Lock()
	defer f.mu.Unlock()
	var p []int
	for _, st := range f.streams {
		p = append(p, int(st.priority))
	}
	return p
}
