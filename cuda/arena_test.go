package cuda

import (
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/device/devicetest"
	"github.com/gopherwarp/gopherwarp/internal/cudasys/cudafake"
)

// wantPoolCalls checks how often the driver allocated and freed memory of the pool.
func wantPoolCalls(t *testing.T, f *cudafake.Fake, allocations, frees int) {
	t.Helper()
	if a, n := f.Calls("cuMemAllocFromPoolAsync"), f.Calls("cuMemFreeAsync"); a != allocations || n != frees {
		t.Errorf("%d calls of cuMemAllocFromPoolAsync and %d of cuMemFreeAsync, want %d and %d", a, n, allocations, frees)
	}
}

// TestArenaSparesTheDriver makes and closes buffers on one stream, which takes one allocation of each size.
func TestArenaSparesTheDriver(t *testing.T) {
	f := newFake()
	dev := open(t, f)
	s, other := newStream(t, dev), newStream(t, dev)
	k := devicetest.Multiply()
	for range 50 {
		check(t, multiply(s, k, 100)) // three buffers
	}
	wantPoolCalls(t, f, 3, 0)
	check(t, multiply(other, k, 100)) // the work of s may not be done
	wantPoolCalls(t, f, 6, 0)
	check(t, s.Close())
	late := newStream(t, dev)
	check(t, multiply(late, k, 100)) // the memory of s
	wantPoolCalls(t, f, 6, 0)
	mustClose(t, dev)
}

// TestSharedMemoryIsFreedByTheDriver closes a buffer that two streams may be using.
func TestSharedMemoryIsFreedByTheDriver(t *testing.T) {
	f := newFake()
	dev := open(t, f)
	s, other := newStream(t, dev), newStream(t, dev)
	f.Hold(true)
	x, err := device.Make[float32](s, 100)
	check(t, err)
	check(t, device.Fill(s, x.All(), 1))
	check(t, device.Fill(other, x.All(), 1))
	check(t, x.Close())
	wantPoolCalls(t, f, 1, 1)
	y, err := device.Make[float32](other, 100) // used on one stream that is not the one that made it
	check(t, err)
	check(t, device.Fill(s, y.Slice(0, 50), 2))
	f.Hold(false)
	check(t, s.Close())
	check(t, y.Close()) // only other may have work on it
	wantPoolCalls(t, f, 2, 1)
	z, err := device.MakeDirty[float32](other, 100)
	check(t, err)
	wantPoolCalls(t, f, 2, 1)
	check(t, z.Close())
	mustClose(t, dev)
}

// BenchmarkFakeAllocate measures what an allocation and its Close cost on the host, without the driver.
func BenchmarkFakeAllocate(b *testing.B) {
	f := newFake()
	dev := open(b, f)
	s := newStream(b, dev)
	b.ReportAllocs()
	begin := cpuTime()
	for b.Loop() {
		x, err := device.MakeDirty[float32](s, 1000)
		if err != nil {
			b.Fatal(err)
		}
		if err := x.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cpuTime()-begin)/float64(b.N), "cpu-ns/op")
	b.ReportMetric(float64(f.Calls("cuMemAllocFromPoolAsync")+f.Calls("cuMemFreeAsync")), "driver-calls")
	b.StopTimer()
	check(b, dev.Close())
}
