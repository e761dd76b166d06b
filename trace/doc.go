// Package trace records the activity of devices: a timeline of their streams, and a profile of
// device time by Go call stack.
//
//	timeline, profile := trace.NewTimeline(), trace.NewProfile()
//	stop, err := dev.Watch(trace.Tee(timeline, profile))
//	...                       // enqueue work and synchronize
//	stop()
//	err = timeline.Write(f)   // for ui.perfetto.dev
//	err = profile.Write(g)    // for go tool pprof -http=: g
//
// A program needs no code for this if "gopherwarp trace" runs it, or if the environment variables
// GOPHERWARP_TIMELINE and GOPHERWARP_PROFILE name the files to write when gopherwarp.Open opens the
// device.
//
// Package device does all measurements. Events inside a kernel are not recorded.
package trace
