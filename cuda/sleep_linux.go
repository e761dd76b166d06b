package cuda

import (
	"syscall"
	"time"
)

// sleep is time.Sleep for the waiter, which holds a thread meanwhile. Go's own sleeps at least a
// millisecond where a program has nothing else to do: as long as the copy of 50 MB.
func sleep(d time.Duration) {
	t := syscall.NsecToTimespec(d.Nanoseconds())
	_ = syscall.Nanosleep(&t, nil) // one that is interrupted asks earlier
}
