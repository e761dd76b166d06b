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
// A program that opens its device with gopherwarp.Open needs no such code: if the environment
// variables GOPHERWARP_TIMELINE and GOPHERWARP_PROFILE name files, the device writes a timeline and
// a profile to them. The command "gopherwarp trace" runs a program with these variables.
//
// Events inside a kernel are not recorded.
package trace
