package cudafake

import "github.com/gopherwarp/gopherwarp/internal/cudasys"

// stream is work in order, of which some has not been done yet.
type stream struct {
	context  *context
	priority int32
	busy     int // queries until it gets on
	work     []func() cudasys.Status
	done     int    // pieces of work that were done and are not in work any more
	capture  *graph // takes the work instead
}

// event is a point in a stream. Its time is the count of what streams have done; 0 before.
type event struct {
	context *context
	stream  *stream // it was recorded in last, or nil
	at      int     // pieces of work of the stream before it
	time    int
}

// add enqueues a piece of work.
func (st *stream) add(work func() cudasys.Status) {
	if st.capture != nil {
		st.capture.add(work)
		return
	}
	st.work = append(st.work, work)
}

// end returns how many pieces of work there have been.
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

// finishAll does the work of all streams of c, as freeing does.
func (f *Fake) finishAll(c *context) {
	for _, st := range f.streams {
		if st.context == c {
			f.finish(st)
		}
	}
}

// ready does a stream's work up to a point unless it is held or busy.
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

// onStream is inContext for functions of a stream of that context.
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
			f.finish(st) // the driver does the work that is left
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

// Priorities returns the priorities of the streams that exist, in no order.
func (f *Fake) Priorities() []int {
	f.mu.Lock()
	defer f.mu.Unlock()
	var p []int
	for _, st := range f.streams {
		p = append(p, int(st.priority))
	}
	return p
}
