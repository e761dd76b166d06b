package cuda

import (
	"syscall"
	"time"
)

// sleep is time.Sleep for the waiter, and blocks a thread. In an otherwise idle program, time.Sleep
// takes at least a millisecond: as long as a copy of 50 MB.
func sleep(d time.Duration) {
	t := syscall.NsecToTimespec(d.Nanoseconds())
	_ = syscall.Nanosleep(&t, nil) // if interrupted, the waiter polls earlier
}
