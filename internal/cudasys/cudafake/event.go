package cudafake

import "github.com/gopherwarp/gopherwarp/internal/cudasys"

// onEvent is inContext for functions that take an event.
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
		return f.onStream("cuEventRecord", s, func(st *stream) cudasys.Status {
			ev := f.events[e]
			if ev == nil || ev.context != st.context {
				return cudasys.InvalidHandle
			}
			st.add(func() cudasys.Status {
				f.clock++
				ev.time = f.clock
				return cudasys.Success
			})
			ev.stream, ev.at = st, st.end()
			return cudasys.Success
		})
	}
	d.EventQuery = func(e cudasys.Event) cudasys.Status {
		return f.onEvent("cuEventQuery", e, func(ev *event) cudasys.Status {
			if ev.stream == nil {
				return cudasys.Success
			}
			return f.ready(ev.stream, ev.at)
		})
	}
	d.EventSynchronize = func(e cudasys.Event) cudasys.Status {
		return f.onEvent("cuEventSynchronize", e, func(ev *event) cudasys.Status {
			if ev.stream == nil {
				return cudasys.Success
			}
			for f.ready(ev.stream, ev.at) == cudasys.NotReady {
				f.blocked++
				f.held = false // the thread would wait until then
			}
			for _, p := range f.pools {
				if p.context == ev.context {
					p.unseen = 0
				}
			}
			return ev.context.failed
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
