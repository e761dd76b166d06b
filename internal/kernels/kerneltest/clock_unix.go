//go:build unix

package kerneltest

import (
	"syscall"
	"testing"
	"time"
)

// processTime returns for how long the process has had a core, all cores added up.
func processTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
