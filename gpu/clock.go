package gpu

import "time"

// Clock returns a counter of clock cycles of the multiprocessor that the thread runs on. The
// difference of two readings is the time between them, that in which others ran included. On
// the CPU it counts nanoseconds.
func Clock() int64 { return time.Now().UnixNano() }

// GlobalTimer returns a counter of nanoseconds that is the same for all threads of a device. Many GPUs
// update it about once in a microsecond.
func GlobalTimer() int64 { return time.Now().UnixNano() }
