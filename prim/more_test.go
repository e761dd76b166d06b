package prim_test

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/prim"
)

func TestCount(t *testing.T) {
	everywhere(t, func(b *bench) {
		counts[uint8](b, 5003, 256, 0)
		counts[int16](b, 3001, 50, -20)
		counts[int32](b, 2000, 100, -50)
		counts[uint](b, 17, 5000, 0) // more bins than fit in shared memory
		counts[int](b, 0, 3, 0)
	})
}

func counts[T prim.Integer](b *bench, n, bins int, low T) {
	b.Helper()
	x, want := make([]T, n*b.big), make([]uint64, bins)
	for i := range x {
		x[i] = T(b.r.IntN(256) - 100)
		if at := int(x[i]) - int(low); x[i] >= low && at >= 0 && at < bins {
			want[at]++
		}
	}
	got := put(b, make([]uint64, bins))
	if err := prim.Count(b.Stream, got, put(b, x), low); err != nil {
		b.Fatal(err)
	}
	same(b, fmt.Sprintf("counts of %d %T from %d", n, low, low), get(b, got), want)
}

func TestHistogram(t *testing.T) {
	everywhere(t, func(b *bench) {
		histograms[float32](b, 5003)
		histograms[float64](b, 31)
	})
}

// histograms uses integers and bins of width 2, so that no element is affected by rounding.
func histograms[T float32 | float64](b *bench, n int) {
	b.Helper()
	x, want := make([]T, n*b.big), make([]uint64, 40)
	for i := range x {
		v := b.r.IntN(100) - 50
		if x[i] = T(v); v == 49 {
			x[i] = T(math.NaN())
		} else if v >= -40 && v < 40 {
			want[(v+40)/2]++
		}
	}
	got := put(b, make([]uint64, len(want)))
	if err := prim.Histogram(b.Stream, got, put(b, x), prim.Interval[T]{Low: -40, High: 40}); err != nil {
		b.Fatal(err)
	}
	same(b, fmt.Sprintf("histogram of %d %T", n, x[0]), get(b, got), want)
}

func TestTranspose(t *testing.T) {
	everywhere(t, func(b *bench) {
		transposes(b, 64, 128, func(i int) float32 { return float32(i) })
		transposes(b, 37, 50, func(i int) int32 { return int32(i) })
		transposes(b, 0, 5, func(i int) int32 { return int32(i) })
		transposes(b, 33, 1, func(i int) uint8 { return uint8(i) })
		transposes(b, 2, 70, func(i int) uint16 { return uint16(i) })
		transposes(b, 40, 33, func(i int) float64 { return float64(i) })
		transposes(b, 3, 35, func(i int) [2]int { return [2]int{i, -i} })
	})
}

func transposes[T comparable](b *bench, rows, columns int, element func(i int) T) {
	b.Helper()
	x, want := make([]T, rows*columns), make([]T, rows*columns)
	for i := range x {
		x[i] = element(i)
		want[i%columns*rows+i/columns] = x[i]
	}
	got := put(b, make([]T, len(x)))
	if err := prim.Transpose(b.Stream, got, put(b, x), rows); err != nil {
		b.Fatal(err)
	}
	same(b, fmt.Sprintf("%d x %d", rows, columns), get(b, got), want)
}

func TestTop(t *testing.T) {
	everywhere(t, func(b *bench) {
		tops[int32](b, 5000, 100)
		tops[uint32](b, 10, 10)
		tops[float32](b, 9001, 1)
		tops[float64](b, 3000, 1000)
		tops[int](b, 3000, 0)
	})
}

// tops tests Top with few distinct values, so that the order of equal elements matters.
func tops[T prim.Number](b *bench, n, k int) {
	b.Helper()
	x := random[T](b, n*b.big)
	indices := make([]int, len(x))
	for i := range indices {
		indices[i] = i
	}
	sortIndices(indices, x)
	want := make([]T, k)
	for i := range want {
		want[i] = x[indices[i]]
	}
	src, at, dst := put(b, x), put(b, make([]int, k)), put(b, make([]T, k))
	if err := errors.Join(prim.Top(b.Stream, dst, at, src)); err != nil {
		b.Fatal(err)
	}
	same(b, fmt.Sprintf("the greatest %d of %d", k, n), get(b, dst), want)
	same(b, fmt.Sprintf("indices of the greatest %d of %d", k, n), get(b, at), indices[:k])
}

// sortIndices sorts indices by the elements of x in descending order.
func sortIndices[T prim.Number](indices []int, x []T) {
	slices.SortStableFunc(indices, func(i, j int) int { return cmp.Compare(x[j], x[i]) })
}

// TestGraph records functions that need no memory.
func TestGraph(t *testing.T) {
	everywhere(t, func(b *bench) {
		x, y, n := put(b, []int32{1, 2, 3, 4, 5, 6}), put(b, make([]int32, 6)), put(b, make([]uint64, 3))
		g, err := b.Device().Capture(func(s *device.Stream) error {
			return errors.Join(prim.Transpose(s, y, x, 2), prim.Count(s, n, x, 4))
		})
		if err != nil {
			b.Fatal(err)
		}
		defer g.Close()
		if err := g.Launch(b.Stream); err != nil {
			b.Fatal(err)
		}
		same(b, "transpose", get(b, y), []int32{1, 4, 2, 5, 3, 6})
		same(b, "counts", get(b, n), []uint64{1, 1, 1})
	})
}
