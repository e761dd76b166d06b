package prim

import (
	"cmp"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
)

// BenchmarkCPU reports the time per element on the CPU device, with the twins and with native
// execution.
func BenchmarkCPU(b *testing.B) {
	const n, rows = 1 << 20, 1 << 10
	for name, open := range map[string]func() (*device.Device, error){"twin": cpu.Open, "native": cpu.OpenNative} {
		dev, err := open()
		if err != nil {
			b.Fatal(err)
		}
		s, err := dev.NewStream()
		if err != nil {
			b.Fatal(err)
		}
		floats, ints, flags := make([]float32, n), make([]int32, n), make([]bool, n)
		for i := range ints {
			ints[i] = int32(i * 7919 % 100003)
			floats[i], flags[i] = float32(ints[i])/100003, ints[i]%3 == 0
		}
		x, y, set := upload(b, s, floats), upload(b, s, floats), upload(b, s, flags)
		whole, sorted := upload(b, s, ints), upload(b, s, ints)
		count, counts := upload(b, s, []int{0}), upload(b, s, make([]uint64, 64))
		for of, f := range map[string]func() error{
			"sum":       func() error { return Sum(s, y.Slice(0, 1), x.All()) },
			"scan":      func() error { return InclusiveScan(s, Add, y.All(), x.All()) },
			"select":    func() error { return Select(s, y.All(), x.All(), Flags{set.All(), count.All()}) },
			"sort":      func() error { return cmp.Or(device.Copy(s, sorted.All(), whole.All()), Sort(s, sorted.All())) },
			"histogram": func() error { return Histogram(s, counts.All(), x.All(), Interval[float32]{0, 1}) },
			"transpose": func() error { return Transpose(s, y.All(), x.All(), rows) },
		} {
			b.Run(of+"/"+name, func(b *testing.B) {
				for b.Loop() {
					if err := cmp.Or(f(), s.Synchronize(b.Context())); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/element")
			})
		}
		if err := dev.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func upload[T any](b *testing.B, s *device.Stream, host []T) *device.Buffer[T] {
	b.Helper()
	x, err := device.Upload(s, host)
	if err != nil {
		b.Fatal(err)
	}
	return x
}
