package cpu_test

import (
	"io"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/devicetest"
	"github.com/gopherwarp/gopherwarp/device/driver"
)

func benchStream(b *testing.B) *device.Stream {
	b.Helper()
	dev, err := cpu.Open()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := dev.Close(); err != nil {
			b.Error(err)
		}
	})
	s, err := dev.NewStreamTo(io.Discard)
	if err != nil {
		b.Fatal(err)
	}
	return s
}

func benchBuffer(b *testing.B, s *device.Stream, n int) device.Slice[float32] {
	b.Helper()
	buf, err := device.Make[float32](s, n)
	if err != nil {
		b.Fatal(err)
	}
	return buf.All()
}

// run launches k with slices, b.Loop times.
func run(b *testing.B, s *device.Stream, k *driver.Kernel, g device.Grid, args ...device.Slice[float32]) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		p := s.Plan(k, g)
		for _, a := range args {
			a.Pass(p)
		}
		if err := p.Launch(); err != nil {
			b.Fatal(err)
		}
	}
	if err := s.Synchronize(b.Context()); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkEmpty measures the cost of a launch: blocks of one thread, with no work.
func BenchmarkEmpty(b *testing.B) {
	s := benchStream(b)
	none := benchBuffer(b, s, 0)
	b.Run("1 block", func(b *testing.B) {
		run(b, s, devicetest.Multiply(), device.Cover(1, 1), none, none, none)
	})
	b.Run("64 blocks", func(b *testing.B) {
		run(b, s, devicetest.Multiply(), device.Cover(64, 1), none, none, none)
	})
}

// BenchmarkMultiply compares a kernel with one multiplication per thread with a plain loop.
func BenchmarkMultiply(b *testing.B) {
	const n = 1 << 20
	b.Run("kernel", func(b *testing.B) {
		s := benchStream(b)
		x, y, z := benchBuffer(b, s, n), benchBuffer(b, s, n), benchBuffer(b, s, n)
		b.SetBytes(12 * n)
		run(b, s, devicetest.Multiply(), device.Cover(n, 256), x, y, z)
	})
	b.Run("loop", func(b *testing.B) {
		x, y, z := make([]float32, n), make([]float32, n), make([]float32, n)
		b.SetBytes(12 * n)
		for b.Loop() {
			for i := range z {
				z[i] = x[i] * y[i]
			}
		}
	})
}

// BenchmarkBarriers runs blocks of 256 threads that wait for each other nine times.
func BenchmarkBarriers(b *testing.B) {
	for _, blocks := range []int{1, 1000} {
		b.Run(map[int]string{1: "1 block", 1000: "1000 blocks"}[blocks], func(b *testing.B) {
			s := benchStream(b)
			run(b, s, devicetest.Sum(), device.Cover(256*blocks, 256), benchBuffer(b, s, 256*blocks), benchBuffer(b, s, blocks))
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*blocks), "us/block")
		})
	}
}

// BenchmarkAllocate makes and closes buffers. Make clears the memory, MakeDirty does not.
func BenchmarkAllocate(b *testing.B) {
	for _, c := range []struct {
		name string
		n    int
		make func(*device.Stream, int) (*device.Buffer[byte], error)
	}{
		{"Make/4KB", 4 << 10, device.Make[byte]}, {"MakeDirty/4KB", 4 << 10, device.MakeDirty[byte]},
		{"Make/4MB", 4 << 20, device.Make[byte]}, {"MakeDirty/4MB", 4 << 20, device.MakeDirty[byte]},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := benchStream(b)
			for b.Loop() {
				x, err := c.make(s, c.n)
				if err != nil {
					b.Fatal(err)
				}
				if err := x.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
