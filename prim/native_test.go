package prim

import (
	"errors"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
)

// TestNative runs the kernels for GPUs natively, which the functions of the package never do on a
// CPU, so that go test -race finds missing synchronization.
func TestNative(t *testing.T) {
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	s, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	const n = scanSpan*4 + 100 // elements in two or more tiles
	host, flags := make([]int32, n), make([]bool, n)
	for i := range host {
		host[i], flags[i] = int32(i*7919%1000)-500, i%3 == 0
	}
	x, y, set := put(t, s, host), put(t, s, make([]int32, n)), put(t, s, flags)
	sum, count, top, where := put(t, s, []int32{0}), put(t, s, []int{0}), put(t, s, make([]uint32, 10)), put(t, s, make([]int, 10))
	keys := view[uint32](put(t, s, host))
	ints := orderOf[uint32](kindOf[int32](), false)
	if err := errors.Join(
		reduceInBlocks(s, reduceInt32[greatest], Max, ends[int32]{sum, x}),
		scanInTiles(s, tiling[int32, [4]int32]{scanInt32[add], scanSpan}, scanning{Add, false}, ends[int32]{y, x}),
		topInTiles(s, ints, ends[uint32]{top, keys}, where),
		sortInTiles(s, ints, pairs[uint32, none]{keys, view[none](keys.Slice(0, 0))}),
	); err != nil {
		t.Fatal(err)
	}
	scanned, greatest, sorted, best := get(t, s, y), get(t, s, sum), get(t, s, device.View[int32](keys)), get(t, s, view[int32](top))
	if err := selectInTiles(s, picking{"partition", Flags{set, count}, true}, ends[uint32]{view[uint32](y), view[uint32](x)}); err != nil {
		t.Fatal(err)
	}
	split := get(t, s, y)
	if got := get(t, s, count)[0]; got != (n+2)/3 || split[1] != host[3] || split[got] != host[1] || split[n-1] != host[n-1] && n%3 != 1 {
		t.Errorf("partition: %d are set, %v", got, split)
	}
	total := int32(0)
	for i, v := range host {
		if total += v; scanned[i] != total {
			t.Fatalf("the scan's element %d is %d, want %d", i, scanned[i], total)
		}
	}
	slices.Sort(host)
	if greatest[0] != host[n-1] {
		t.Errorf("the greatest is %d, want %d", greatest[0], host[n-1])
	}
	if !slices.Equal(sorted, host) {
		t.Error("the sorted keys are not sorted")
	}
	if slices.Sort(best); !slices.Equal(best, host[n-10:]) {
		t.Errorf("the top is %v, want %v", best, host[n-10:])
	}
}

func put[T any](t *testing.T, s *device.Stream, x []T) device.Slice[T] {
	t.Helper()
	d, err := device.Upload(s, x)
	if err != nil {
		t.Fatal(err)
	}
	return d.All()
}

func get[T any](t *testing.T, s *device.Stream, x device.Slice[T]) []T {
	t.Helper()
	host := make([]T, x.Len())
	if err := errors.Join(device.Download(s, host, x), s.Synchronize(t.Context())); err != nil {
		t.Fatal(err)
	}
	return host
}
