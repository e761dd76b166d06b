//go:build !linux

package cuda

import "time"

// sleep is time.Sleep, for the waiter.
func sleep(d time.Duration) { time.Sleep(d) }
