package cudafake

import "github.com/gopherwarp/gopherwarp/internal/cudasys"

// stream is work that has not been done yet.
type stream struct {
	context *context
	busy    int // queries until it gets on
	work    []func() cudasys.Status
}

// event is a point in a stream. Its time is the count of what streams have done; 0 before.
type event struct {
	context *context
	time    int
}

// finish does the stream's work.
func (st *stream) finish() cudasys.Status {
	for _, work := range st.work {
		if s := work(); s != cudasys.Success {
			st.context.failed = s
			break
		}
	}
	clear(st.work)
	st.work = st.work[:0]
	return st.context.failed
}

// finishAll does the work of all streams of c, as freeing does.
func (f *Fake) finishAll(c *context) {
	for _, st := range f.streams {
		if st.context == c {
			st.finish()
		}
	}
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
	d.StreamCreate = func(s *cudasys.Stream, _ uint32) cudasys.Status {
		return f.inContext("cuStreamCreate", func(c *context) cudasys.Status {
			*s = cudasys.Stream(f.handle())
			f.streams[*s] = &stream{context: c}
			return cudasys.Success
		})
	}
	d.StreamQuery = func(s cudasys.Stream) cudasys.Status {
		return f.onStream("cuStreamQuery", s, func(st *stream) cudasys.Status {
			if f.held {
				return cudasys.NotReady
			}
			if st.busy > 0 {
				st.busy--
				return cudasys.NotReady
			}
			return st.finish()
		})
	}
	d.StreamDestroy = func(s cudasys.Stream) cudasys.Status {
		return f.onStream("cuStreamDestroy", s, func(*stream) cudasys.Status {
			delete(f.streams, s)
			return cudasys.Success
		})
	}
}

// onEvent is inContext for functions of an event.
func (f *Fake) onEvent(function string, e cudasys.Event, body func(e *event) cudasys.Status) cudasys.Status {
	return f.inContext(function, func(c *context) cudasys.Status {
		ev := f.events[e]
		if ev == nil || ev.context != c {
			return cudasys.InvalidHandle
		}
		return body(ev)
	})
}

func (f *Fake) addEvents(d *cudasys.Driver) {
	d.EventCreate = func(e *cudasys.Event, _ uint32) cudasys.Status {
		return f.inContext("cuEventCreate", func(c *context) cudasys.Status {
			*e = cudasys.Event(f.handle())
			f.events[*e] = &event{context: c}
			return cudasys.Success
		})
	}
	d.EventRecord = func(e cudasys.Event, s cudasys.Stream) cudasys.Status {
		return f.enqueue("cuEventRecord", s, func(st *stream) cudasys.Status {
			ev := f.events[e]
			if ev == nil || ev.context != st.context {
				return cudasys.InvalidHandle
			}
			st.work = append(st.work, func() cudasys.Status {
				f.clock++
				ev.time = f.clock
				return cudasys.Success
			})
			return cudasys.Success
		})
	}
	d.EventElapsedTime = func(ms *float32, start, end cudasys.Event) cudasys.Status {
		return f.onEvent("cuEventElapsedTime", end, func(last *event) cudasys.Status {
			first := f.events[start]
			if first == nil {
				return cudasys.InvalidHandle
			}
			if first.time == 0 || last.time == 0 {
				return cudasys.NotReady
			}
			return store(ms, float32(last.time-first.time))
		})
	}
	d.EventDestroy = func(e cudasys.Event) cudasys.Status {
		return f.onEvent("cuEventDestroy", e, func(*event) cudasys.Status {
			delete(f.events, e)
			return cudasys.Success
		})
	}
}
