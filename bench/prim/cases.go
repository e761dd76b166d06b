package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/prim"
)

// benchmark is one algorithm at one size.
type benchmark struct {
	name string
	cub  bool // CUB's part knows it by the same name
	n    int
	make func(h *hall, n int) (work, func(context.Context) error)
}

// work is what is timed, and what is done before each time.
type work struct{ prepare, run func() error }

func cases() []benchmark {
	return []benchmark{
		{"sum-float32", true, 1 << 28, newSum},
		{"inclusive-int32", true, 1 << 28, newScan[int32](prim.InclusiveScan[int32], false)},
		{"inclusive-float32", true, 1 << 28, newScan[float32](prim.InclusiveScan[float32], false)},
		{"exclusive-float32", true, 1 << 28, newScan[float32](prim.ExclusiveScan[float32], true)},
		{"inclusive-int64", true, 1 << 27, newScan[int64](prim.InclusiveScan[int64], false)},
		{"sort-uint32", true, 1 << 26, newSort(func(r uint64) uint32 { return uint32(r) })},
		{"sort-float32", true, 1 << 26, newSort(small[float32])},
		{"sort-uint64", true, 1 << 26, newSort(func(r uint64) uint64 { return r })},
		{"sort-pairs", true, 1 << 26, newSortPairs},
		{"histogram", true, 1 << 30, newHistogram},
		{"select", true, 1 << 28, newSelect},
		{"transpose", false, 16384 * 16384, newTranspose},
		{"top", false, 1 << 28, newTop},
	}
}

// hall holds the memory of a case. After an error nothing more is made.
type hall struct {
	s    *device.Stream
	made []interface{ Close() error }
	err  error
}

func (h *hall) close() {
	for _, m := range h.made {
		m.Close()
	}
}

// empty returns n elements on the device.
func empty[T any](h *hall, n int) device.Slice[T] {
	b, err := device.Make[T](h.s, n)
	if h.err != nil || err != nil {
		h.err = err
		return device.Slice[T]{}
	}
	h.made = append(h.made, b)
	return b.All()
}

// input returns n elements on the host and on the device, made of random numbers in parallel.
func input[T any](h *hall, n int, make1 func(r uint64) T) ([]T, device.Slice[T]) {
	host := make([]T, n)
	var all sync.WaitGroup
	const parts = 16
	for p := range parts {
		all.Go(func() {
			r := rand.New(rand.NewPCG(rand.Uint64(), 1))
			for i := n * p / parts; i < n*(p+1)/parts; i++ {
				host[i] = make1(r.Uint64())
			}
		})
	}
	all.Wait()
	x := empty[T](h, n)
	if h.err == nil {
		h.err = device.UploadTo(h.s, x, host)
	}
	return host, x
}

// small returns a small whole number: sums of all of them are exact, in float32 too as long as they
// stay below 1<<24, which a random walk does.
func small[T int32 | int64 | float32](r uint64) T { return T(int(r%255) - 127) }

func newSum(h *hall, n int) (work, func(context.Context) error) {
	host, x := input(h, n, small[float32])
	master, sum := empty[float32](h, n), empty[float32](h, 1)
	check := func(ctx context.Context) error {
		want := 0
		for _, v := range host {
			want += int(v)
		}
		got := []float32{0}
		if err := download(ctx, h.s, got, sum); err != nil {
			return err
		}
		if got[0] != float32(want) {
			return fmt.Errorf("the sum is %v, want %v", got[0], want)
		}
		return nil
	}
	return work{
		func() error { return device.Copy(h.s, master, x) },
		func() error { return prim.Sum(h.s, sum, x) },
	}, check
}

// newScan returns the maker of a scan.
func newScan[T int32 | int64 | float32](scan func(s *device.Stream, op prim.Op, dst, src device.Slice[T]) error, exclusive bool) func(*hall, int) (work, func(context.Context) error) {
	return func(h *hall, n int) (work, func(context.Context) error) {
		host, master := input(h, n, small[T])
		x, y := empty[T](h, n), empty[T](h, n)
		check := func(ctx context.Context) error {
			got := make([]T, n)
			if err := download(ctx, h.s, got, y); err != nil {
				return err
			}
			var want T
			for i, v := range host {
				before := want
				if want += v; exclusive && got[i] != before || !exclusive && got[i] != want {
					return fmt.Errorf("element %d is %v, want %v or %v", i, got[i], before, want)
				}
			}
			return nil
		}
		return work{
			func() error { return device.Copy(h.s, x, master) },
			func() error { return scan(h.s, prim.Add, y, x) },
		}, check
	}
}

// newSort returns the maker of a sort.
func newSort[T uint32 | uint64 | float32](make1 func(r uint64) T) func(*hall, int) (work, func(context.Context) error) {
	return func(h *hall, n int) (work, func(context.Context) error) {
		host, master := input(h, n, make1)
		x := empty[T](h, n)
		check := func(ctx context.Context) error {
			got := make([]T, n)
			if err := download(ctx, h.s, got, x); err != nil {
				return err
			}
			var sum, want float64 // of whole numbers, so exact
			for i, v := range got {
				sum, want = sum+low(v), want+low(host[i])
				if i > 0 && v < got[i-1] {
					return fmt.Errorf("element %d is %v, behind %v", i, v, got[i-1])
				}
			}
			if sum != want {
				return fmt.Errorf("the sorted keys have the sum %v, want %v", sum, want)
			}
			return nil
		}
		return work{
			func() error { return device.Copy(h.s, x, master) },
			func() error { return prim.Sort(h.s, x) },
		}, check
	}
}

// low returns a whole number made of v.
func low[T uint32 | uint64 | float32](v T) float64 { return float64(int64(v) & (1<<20 - 1)) }

// newSortPairs sorts keys with their indices.
func newSortPairs(h *hall, n int) (work, func(context.Context) error) {
	host, master := input(h, n, func(r uint64) uint32 { return uint32(r) })
	order := make([]uint32, n)
	for i := range order {
		order[i] = uint32(i)
	}
	x, y, indices := empty[uint32](h, n), empty[uint32](h, n), empty[uint32](h, n)
	if h.err == nil {
		h.err = device.UploadTo(h.s, indices, order)
	}
	check := func(ctx context.Context) error {
		keys, from := make([]uint32, n), make([]uint32, n)
		if err := errors.Join(device.Download(h.s, from, y), download(ctx, h.s, keys, x)); err != nil {
			return err
		}
		for i, k := range keys {
			if host[from[i]] != k || i > 0 && (k < keys[i-1] || k == keys[i-1] && from[i] < from[i-1]) {
				return fmt.Errorf("element %d is %d from %d, behind %d from %d", i, k, from[i], keys[max(i-1, 0)], from[max(i-1, 0)])
			}
		}
		return nil
	}
	return work{
		func() error { return errors.Join(device.Copy(h.s, x, master), device.Copy(h.s, y, indices)) },
		func() error { return prim.SortPairs(h.s, x, y) },
	}, check
}

// newHistogram counts bytes.
func newHistogram(h *hall, n int) (work, func(context.Context) error) {
	host, x := input(h, n, func(r uint64) uint8 { return uint8(r) })
	master, counts := empty[uint8](h, n), empty[uint64](h, 256)
	check := func(ctx context.Context) error {
		got, want := make([]uint64, 256), make([]uint64, 256)
		for _, v := range host {
			want[v]++
		}
		if err := download(ctx, h.s, got, counts); err != nil {
			return err
		}
		if !slices.Equal(got, want) {
			return fmt.Errorf("the counts are %v, want %v", got, want)
		}
		return nil
	}
	return work{
		func() error { return device.Copy(h.s, master, x) },
		func() error { return prim.Count(h.s, counts, x, 0) },
	}, check
}

// newSelect keeps half of the elements.
func newSelect(h *hall, n int) (work, func(context.Context) error) {
	host, master := input(h, n, func(r uint64) uint32 { return uint32(r) })
	set, flags := input(h, n, func(r uint64) bool { return r&1 != 0 })
	x, y, count := empty[uint32](h, n), empty[uint32](h, n), empty[int](h, 1)
	check := func(ctx context.Context) error {
		got, kept := []int{0}, make([]uint32, n)
		if err := errors.Join(device.Download(h.s, got, count), download(ctx, h.s, kept, y)); err != nil {
			return err
		}
		k := 0
		for i, v := range host {
			if set[i] {
				if kept[k] != v {
					return fmt.Errorf("element %d is %d, want %d", k, kept[k], v)
				}
				k++
			}
		}
		if got[0] != k {
			return fmt.Errorf("%d are selected, want %d", got[0], k)
		}
		return nil
	}
	return work{
		func() error { return device.Copy(h.s, x, master) },
		func() error { return prim.Select(h.s, y, x, prim.Flags{Set: flags, Count: count}) },
	}, check
}

// newTranspose transposes a matrix of one to four times as many columns as rows.
func newTranspose(h *hall, n int) (work, func(context.Context) error) {
	rows := 1
	for 4*rows*rows <= n {
		rows *= 2
	}
	columns := n / rows
	n = rows * columns
	host, master := input(h, n, func(r uint64) uint32 { return uint32(r) })
	x, y := empty[uint32](h, n), empty[uint32](h, n)
	check := func(ctx context.Context) error {
		got := make([]uint32, n)
		if err := download(ctx, h.s, got, y); err != nil {
			return err
		}
		for i, v := range host {
			if at := i%columns*rows + i/columns; got[at] != v {
				return fmt.Errorf("element %d is %d, want %d", at, got[at], v)
			}
		}
		return nil
	}
	return work{
		func() error { return device.Copy(h.s, x, master) },
		func() error { return prim.Transpose(h.s, y, x, rows) },
	}, check
}

// newTop takes the greatest 1000.
func newTop(h *hall, n int) (work, func(context.Context) error) {
	host, master := input(h, n, func(r uint64) float32 { return float32(r>>40) / (1 << 24) })
	k := min(n, 1000)
	x, best, where := empty[float32](h, n), empty[float32](h, k), empty[int](h, k)
	check := func(ctx context.Context) error {
		got, at := make([]float32, k), make([]int, k)
		if err := errors.Join(device.Download(h.s, at, where), download(ctx, h.s, got, best)); err != nil {
			return err
		}
		greater := 0
		for _, v := range host {
			if v > got[k-1] {
				greater++
			}
		}
		for i, v := range got {
			if host[at[i]] != v || i > 0 && (v > got[i-1] || v == got[i-1] && at[i] < at[i-1]) || greater >= k {
				return fmt.Errorf("number %d is %v from %d, behind %v; %d are greater than the last", i, v, at[i], got[max(i-1, 0)], greater)
			}
		}
		return nil
	}
	return work{
		func() error { return device.Copy(h.s, x, master) },
		func() error { return prim.Top(h.s, best, where, x) },
	}, check
}

// download waits and fills host.
func download[T any](ctx context.Context, s *device.Stream, host []T, x device.Slice[T]) error {
	if err := device.Download(s, host, x); err != nil {
		return err
	}
	return s.Synchronize(ctx)
}
