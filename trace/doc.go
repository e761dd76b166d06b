// Package trace shows what devices did when: a timeline of the streams, and a profile of the
// device's time by the Go calls that asked for the work.
//
//	timeline, profile := trace.NewTimeline(), trace.NewProfile()
//	stop, err := dev.Watch(trace.Tee(timeline, profile))
//	...                       // work, and waiting for it
//	stop()
//	err = timeline.Write(f)   // for ui.perfetto.dev
//	err = profile.Write(g)    // for go tool pprof -http=: g
//
// A program needs none of that where it is run by "gopherwarp trace": the environment variables
// GOPHERWARP_TIMELINE and GOPHERWARP_PROFILE name the files that Open then has written.
//
// The package measures nothing itself (package device does), and knows nothing of what goes on
// inside a kernel.
package trace
