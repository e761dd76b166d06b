//go:build !unix

package cpu

import "time"

var begin = time.Now()

// processTime returns the wall-clock time: the processor time is not available on this system.
func processTime() time.Duration { return time.Since(begin) }
