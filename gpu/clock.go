package gpu

import (
	"time"

	"github.com/gopherwarp/gopherwarp/internal/simt"
)

// Clock returns a cycle counter of the multiprocessor on which the thread runs. The difference of
// two values is the elapsed time in cycles, including cycles in which other threads ran. On the
// CPU, Clock counts nanoseconds.
func Clock() int64 { return time.Now().UnixNano() }

// GlobalTimer returns a nanosecond counter that all threads of a device share. Many GPUs update it
// only about once per microsecond.
func GlobalTimer() int64 { return time.Now().UnixNano() }

// Sleep suspends the thread for approximately the given time, for example between two polls of a
// variable that another thread will write. The time is at most 1,000,000 nanoseconds; longer times
// are shortened. On a GPU, the actual duration is between zero and twice the given time.
func Sleep(nanoseconds int) {
	simt.Pause()
	time.Sleep(time.Duration(min(max(0, nanoseconds), 1_000_000)))
}
