//go:build !unix

package cpu

import "time"

var begin = time.Now()

// processTime returns the time on the wall: what the process has had of it is not known here.
func processTime() time.Duration { return time.Since(begin) }
