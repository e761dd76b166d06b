//go:build unix

package quant

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/gopherwarp/gopherwarp/cpu"
)

// processTime returns for how long the process has had a core.
func processTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkCPU reports GFLOP per CPU second, two operations for each weight: for a square matrix, and for those of a small model.
func BenchmarkCPU(b *testing.B) {
	for _, format := range []string{"Q4_1", "Q8_0"} {
		for _, shape := range []Shape{{4096, 4096}, {1536, 576}, {576, 1536}} {
			for name, way := range map[string]cpu.Threads{"vectors": cpu.Fastest, "AVX2": cpu.AVX2} {
				b.Run(fmt.Sprintf("%s/%dx%d/%s", format, shape.Rows, shape.Columns, name), func(b *testing.B) {
					s := open(b, threads(way))
					p := newProduct(b, s, format, shape)
					if err := p.run(Tiles); err != nil {
						b.Fatal(err)
					}
					if err := s.Synchronize(b.Context()); err != nil {
						b.Fatal(err)
					}
					b.ResetTimer()
					began := processTime(b)
					for range b.N {
						if err := p.run(Tiles); err != nil {
							b.Fatal(err)
						}
					}
					if err := s.Synchronize(b.Context()); err != nil {
						b.Fatal(err)
					}
					took := processTime(b) - began
					b.ReportMetric(2*float64(shape.Rows)*float64(shape.Columns)*float64(b.N)/float64(took.Nanoseconds()), "GFLOP/CPU-s")
				})
			}
		}
	}
}
