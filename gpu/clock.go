package gpu

import (
	"time"

	"github.com/gopherwarp/gopherwarp/internal/simt"
)

// Clock returns a counter of clock cycles of the multiprocessor that the thread runs on. The
// difference of two readings is the time between them, that in which others ran included. On
// the CPU it counts nanoseconds.
func Clock() int64 { return time.Now().UnixNano() }

// GlobalTimer returns a counter of nanoseconds that is the same for all threads of a device. Many GPUs
// update it about once in a microsecond.
func GlobalTimer() int64 { return time.Now().UnixNano() }

// Sleep lets the thread rest for about so many nanoseconds, of which a GPU takes a million at most, and may take from
// none to twice as many: between two looks at what another thread is to write, say.
func Sleep(nanoseconds int) {
	simt.Pause()
	time.Sleep(time.Duration(min(max(0, nanoseconds), 1_000_000)))
}
