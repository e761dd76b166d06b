package kerneltest

import (
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/device"
)

// Measure launches run b.N times after a launch that warms up, and returns the CPU time of one launch: of all cores together.
func Measure(b *testing.B, s *device.Stream, run func() error) time.Duration {
	b.Helper()
	launch := func(n int) {
		for range n {
			if err := run(); err != nil {
				b.Fatal(err)
			}
		}
		if err := s.Synchronize(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	launch(1)
	b.ResetTimer()
	began := processTime(b)
	launch(b.N)
	return (processTime(b) - began) / time.Duration(b.N)
}

// ReportRate reports floating-point operations per CPU second, of which a launch does n in the time that Measure returned.
func ReportRate(b *testing.B, n float64, took time.Duration) {
	b.ReportMetric(n/float64(max(took, 1).Nanoseconds()), "GFLOP/CPU-s")
}
