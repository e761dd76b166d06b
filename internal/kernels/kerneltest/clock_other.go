//go:build !unix

package kerneltest

import (
	"testing"
	"time"
)

// processTime skips the benchmark.
func processTime(b *testing.B) time.Duration {
	b.Skip("the system does not report CPU time")
	return 0
}
