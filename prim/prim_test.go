package prim_test

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/ptxinterp"
	"github.com/gopherwarp/gopherwarp/prim"
)

// bench is a stream with helpers for tests.
type bench struct {
	*testing.T
	*device.Stream
	r *rand.Rand
	// big is a factor for sizes: 1 on the slow devices, more on a GPU.
	big int
}

// everywhere runs a test on every device: the CPU, the interpreter and, if there is one, the GPU.
func everywhere(t *testing.T, f func(b *bench)) {
	t.Helper()
	for _, on := range []struct {
		name string
		open func() (*device.Device, error)
		big  int
	}{{"cpu", cpu.Open, 1}, {"interp", ptxinterp.Open, 1}, {"cuda", func() (*device.Device, error) { return cuda.Open(0) }, 1000}} {
		t.Run(on.name, func(t *testing.T) {
			dev, err := on.open()
			if err != nil && on.name == "cuda" {
				t.Skipf("no GPU: %v", err)
			} else if err != nil {
				t.Fatal(err)
			}
			defer dev.Close()
			s, err := dev.NewStream()
			if err != nil {
				t.Fatal(err)
			}
			f(&bench{t, s, rand.New(rand.NewPCG(1, 2)), on.big})
		})
	}
}

// put returns a slice on the device with the elements of x.
func put[T any](b *bench, x []T) device.Slice[T] {
	b.Helper()
	d, err := device.Upload(b.Stream, x)
	if err != nil {
		b.Fatal(err)
	}
	return d.All()
}

// get synchronizes the stream and returns the elements of x.
func get[T any](b *bench, x device.Slice[T]) []T {
	b.Helper()
	host := make([]T, x.Len())
	if err := errors.Join(device.Download(b.Stream, host, x), b.Synchronize(b.Context())); err != nil {
		b.Fatal(err)
	}
	return host
}

// random returns n random numbers, small enough that sums of floats are exact.
func random[T prim.Number](b *bench, n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(b.r.IntN(100))
		if b.r.IntN(2) == 0 && T(0)-1 < 0 {
			x[i] = 0 - x[i] // no -0
		}
	}
	return x
}

func join[T prim.Number](op prim.Op, a, b T) T {
	switch op {
	case prim.Add:
		return a + b
	case prim.Min:
		return min(a, b)
	}
	return max(a, b)
}

// nothing returns the reduction of no elements.
func nothing[T prim.Number](op prim.Op) (v T) {
	if op == prim.Add {
		return 0
	}
	switch p := any(&v).(type) {
	case *int32:
		*p = map[prim.Op]int32{prim.Min: math.MaxInt32, prim.Max: math.MinInt32}[op]
	case *int:
		*p = map[prim.Op]int{prim.Min: math.MaxInt, prim.Max: math.MinInt}[op]
	case *uint32:
		*p = map[prim.Op]uint32{prim.Min: math.MaxUint32}[op]
	case *uint64:
		*p = map[prim.Op]uint64{prim.Min: math.MaxUint64}[op]
	case *float32:
		*p = float32(math.Inf(map[prim.Op]int{prim.Min: 1, prim.Max: -1}[op]))
	case *float64:
		*p = math.Inf(map[prim.Op]int{prim.Min: 1, prim.Max: -1}[op])
	}
	return v
}

var (
	ops   = []prim.Op{prim.Add, prim.Min, prim.Max}
	sizes = []int{0, 1, 3, 4, 31, 1023, 16384, 16385, 40007} // a tile has 8192 or 16384 elements
)

func TestReduce(t *testing.T) {
	everywhere(t, func(b *bench) {
		reduces[int32](b)
		reduces[uint32](b)
		reduces[int](b)
		reduces[uint64](b)
		reduces[float32](b)
		reduces[float64](b)
	})
}

func reduces[T prim.Number](b *bench) {
	b.Helper()
	for i, n := range sizes {
		op := ops[i%len(ops)]
		n *= b.big
		x := random[T](b, n)
		want := nothing[T](op)
		for _, v := range x {
			want = join(op, want, v)
		}
		d := put(b, []T{77})
		if err := prim.Reduce(b.Stream, op, d, put(b, x)); err != nil {
			b.Fatal(err)
		}
		if got := get(b, d)[0]; got != want {
			b.Errorf("%v of %d %T is %v, want %v", op, n, want, got, want)
		}
	}
}

func TestScan(t *testing.T) {
	everywhere(t, func(b *bench) {
		scans[int32](b)
		scans[uint32](b)
		scans[int](b)
		scans[uint64](b)
		scans[float32](b)
		scans[float64](b)
	})
}

func scans[T prim.Number](b *bench) {
	b.Helper()
	for i, n := range sizes {
		op := ops[i%len(ops)]
		n *= b.big
		x := random[T](b, n)
		inclusive, exclusive := make([]T, n), make([]T, n)
		r := nothing[T](op)
		for i, v := range x {
			exclusive[i] = r
			r = join(op, r, v)
			inclusive[i] = r
		}
		from := put(b, x)
		to := put(b, make([]T, n))
		if err := prim.ExclusiveScan(b.Stream, op, to, from); err != nil {
			b.Fatal(err)
		}
		same(b, fmt.Sprintf("exclusive %v of %d", op, n), get(b, to), exclusive)
		if err := prim.InclusiveScan(b.Stream, op, from, from); err != nil { // in place
			b.Fatal(err)
		}
		same(b, fmt.Sprintf("inclusive %v of %d", op, n), get(b, from), inclusive)
	}
}

// same reports an error if the elements that a device computed differ from the expected ones.
func same[T comparable](b *bench, what string, got, want []T) {
	b.Helper()
	if len(got) != len(want) {
		b.Errorf("%s: %d elements, want %d", what, len(got), len(want))
		return
	}
	for i := range want {
		if got[i] != want[i] {
			b.Errorf("%s: element %d (%T) is %v, want %v", what, i, want[i], got[i], want[i])
			return
		}
	}
}

// TestScanMany adds enough elements for large tiles, of which the last is not full, and the last elements fill no pack.
func TestScanMany(t *testing.T) {
	everywhere(t, func(b *bench) {
		addsMany[int64](b)
		addsMany[float32](b)
		if testing.Short() {
			return
		}
		addsMany[int32](b)
		addsMany[uint32](b)
		addsMany[uint64](b)
		addsMany[float64](b)
	})
}

func addsMany[T prim.Number](b *bench) {
	b.Helper()
	n := 50_003 * b.big
	x := random[T](b, n)
	inclusive, exclusive := make([]T, n), make([]T, n)
	r := T(0)
	for i, v := range x {
		exclusive[i] = r
		r += v
		inclusive[i] = r
	}
	from, to := put(b, x), put(b, make([]T, n))
	if err := errors.Join(prim.ExclusiveScan(b.Stream, prim.Add, to, from), prim.InclusiveScan(b.Stream, prim.Add, from, from)); err != nil {
		b.Fatal(err)
	}
	same(b, "exclusive sums", get(b, to), exclusive)
	same(b, "inclusive sums", get(b, from), inclusive)
}

// TestScanUnaligned scans part of a buffer that does not start at a multiple of 16 bytes.
func TestScanUnaligned(t *testing.T) {
	everywhere(t, func(b *bench) {
		x := random[int32](b, 6001)
		d := put(b, x)
		if err := prim.InclusiveScan(b.Stream, prim.Add, d.Slice(1, 6001), d.Slice(1, 6001)); err != nil {
			b.Fatal(err)
		}
		want := slices.Clone(x)
		for i := 2; i < len(want); i++ {
			want[i] += want[i-1]
		}
		same(b, "scan", get(b, d), want)
	})
}

// TestMistakes tests the documented errors, and that the stream keeps them.
func TestMistakes(t *testing.T) {
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	s, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t, s, rand.New(rand.NewPCG(1, 2)), 1}
	x := put(b, random[int32](b, 100))
	for _, c := range []struct {
		name string
		want error
		call func() error
	}{
		{"two sums", device.ErrLength, func() error { return prim.Sum(s, x.Slice(0, 2), x.Slice(50, 100)) }},
		{"a sum in its source", device.ErrOverlap, func() error { return prim.Sum(s, x.Slice(60, 61), x.Slice(50, 100)) }},
		{"no operation", errors.ErrUnsupported, func() error { return prim.Reduce(s, 7, x.Slice(0, 1), x.Slice(50, 100)) }},
		{"scan to less", device.ErrLength, func() error { return prim.InclusiveScan(s, prim.Add, x.Slice(0, 49), x.Slice(50, 100)) }},
		{"scan to the neighbor", device.ErrOverlap, func() error { return prim.InclusiveScan(s, prim.Add, x.Slice(0, 50), x.Slice(1, 51)) }},
		{"more values than keys", device.ErrLength, func() error { return prim.SortPairs(s, x.Slice(0, 9), x.Slice(10, 20)) }},
		{"keys as values", device.ErrOverlap, func() error { return prim.SortPairs(s, x, x) }},
		{"values of 12 bytes", errors.ErrUnsupported, func() error { return prim.SortPairs(s, x.Slice(0, 2), device.View[[3]int32](x.Slice(10, 16))) }},
		{"no count", device.ErrLength, func() error { return prim.Select(s, x.Slice(0, 9), x.Slice(10, 20), prim.Flags{}) }},
		{"no bins", device.ErrLength, func() error { return prim.Count(s, device.Slice[uint64]{}, x, 0) }},
		{"an empty interval", device.ErrRange, func() error {
			return prim.Histogram(s, device.View[uint64](x), device.View[float32](x), prim.Interval[float32]{Low: 1, High: 1})
		}},
		{"rows that are no rows", device.ErrLength, func() error { return prim.Transpose(s, x.Slice(0, 50), x.Slice(50, 100), 7) }},
		{"a transpose in place", device.ErrOverlap, func() error { return prim.Transpose(s, x, x, 10) }},
		{"more than there are", device.ErrLength, func() error { return prim.Top(s, x.Slice(0, 60), put(b, make([]int, 60)), x.Slice(60, 100)) }},
		{"no memory", device.ErrNilBuffer, func() error { return prim.Sum(s, x.Slice(0, 1), device.Slice[int32]{}) }},
	} {
		if err := c.call(); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if err := s.Synchronize(t.Context()); !errors.Is(err, c.want) {
			t.Errorf("%s: Synchronize returns %v, want %v", c.name, err, c.want)
		}
	}
}

func TestSort(t *testing.T) {
	everywhere(t, func(b *bench) {
		sorts[int32](b, 10007)
		sorts[uint32](b, 0)
		sorts[uint32](b, 1)
		sorts[uint32](b, 12288) // two tiles
		sorts[int](b, 4097)
		sorts[uint64](b, 255)
		sorts[float32](b, 5000)
		sorts[float64](b, 5000)
	})
}

// wild returns n numbers with random bits, a tenth of which are equal.
func wild[T prim.Number](b *bench, n int) []T {
	x := make([]T, n)
	for i := range x {
		r := b.r.Uint64()
		switch p := any(&x[i]).(type) {
		case *int32:
			*p = int32(r)
		case *uint32:
			*p = uint32(r)
		case *int:
			*p = int(r)
		case *uint64:
			*p = r
		case *float32:
			*p = math.Float32frombits(uint32(r))
		case *float64:
			*p = math.Float64frombits(r)
		}
		if r%10 == 0 || x[i] != x[i] {
			x[i] = 0
		}
	}
	return x
}

func sorts[T prim.Number](b *bench, n int) {
	b.Helper()
	x := wild[T](b, n*b.big)
	up, down := put(b, x), put(b, x)
	if err := errors.Join(prim.Sort(b.Stream, up), prim.SortDescending(b.Stream, down)); err != nil {
		b.Fatal(err)
	}
	slices.Sort(x)
	same(b, fmt.Sprintf("%d sorted", n), get(b, up), x)
	slices.Reverse(x)
	same(b, fmt.Sprintf("%d sorted in descending order", n), get(b, down), x)
}

func TestSortPairs(t *testing.T) {
	everywhere(t, func(b *bench) {
		sortsPairs[int32, float32](b, 5001)
		sortsPairs[uint32, [2]int32](b, 100)
		sortsPairs[float64, int32](b, 4000)
		sortsPairs[uint64, int](b, 4099)
	})
}

// sortsPairs sorts keys with few distinct values, so that the values show whether equal keys keep
// their order.
func sortsPairs[K prim.Number, V float32 | int32 | int | [2]int32](b *bench, n int) {
	b.Helper()
	n *= b.big
	keys, order, values := random[K](b, n), make([]int, n), make([]V, n)
	for i := range order {
		order[i] = i
		switch v := any(&values[i]).(type) {
		case *float32:
			*v = float32(i)
		case *int32:
			*v = int32(i)
		case *int:
			*v = i
		case *[2]int32:
			*v = [2]int32{int32(i), -int32(i)}
		}
	}
	for _, descending := range []bool{false, true} {
		dk, dv := put(b, keys), put(b, values)
		slices.SortStableFunc(order, func(i, j int) int {
			if c := cmp.Compare(keys[i], keys[j]); !descending {
				return cmp.Or(c, i-j)
			} else {
				return cmp.Or(-c, i-j)
			}
		})
		sort := prim.SortPairs[K, V]
		if descending {
			sort = prim.SortPairsDescending[K, V]
		}
		if err := sort(b.Stream, dk, dv); err != nil {
			b.Fatal(err)
		}
		gotKeys, gotValues := get(b, dk), get(b, dv)
		wantKeys, wantValues := make([]K, n), make([]V, n)
		for i, from := range order {
			wantKeys[i], wantValues[i] = keys[from], values[from]
		}
		same(b, fmt.Sprintf("keys of %d", n), gotKeys, wantKeys)
		same(b, fmt.Sprintf("values of %d", n), gotValues, wantValues)
	}
}

func TestSelect(t *testing.T) {
	everywhere(t, func(b *bench) {
		selects(b, 0, func(i int) int32 { return int32(i) })
		selects(b, 1, func(i int) uint8 { return uint8(i) })
		selects(b, 5000, func(i int) int16 { return int16(i) })
		selects(b, 8192, func(i int) float32 { return float32(i) })
		selects(b, 9000, func(i int) int { return i })
		selects(b, 100, func(i int) [4]int32 { return [4]int32{int32(i), 1, 2, 3} })
	})
}

func selects[T comparable](b *bench, n int, element func(i int) T) {
	b.Helper()
	n *= b.big
	x, flags := make([]T, n), make([]bool, n)
	var kept, others []T
	for i := range x {
		x[i], flags[i] = element(i), b.r.IntN(3) == 0
		if flags[i] {
			kept = append(kept, x[i])
		} else {
			others = append(others, x[i])
		}
	}
	src, set, count := put(b, x), put(b, flags), put(b, []int{-1, -1, -1})
	dst, split, few := put(b, make([]T, n)), put(b, make([]T, n)), put(b, make([]T, len(kept)/2))
	if err := errors.Join(
		prim.Select(b.Stream, dst, src, prim.Flags{Set: set, Count: count.Slice(0, 1)}),
		prim.Select(b.Stream, few, src, prim.Flags{Set: set, Count: count.Slice(1, 2)}),
		prim.Partition(b.Stream, split, src, prim.Flags{Set: set, Count: count.Slice(2, 3)})); err != nil {
		b.Fatal(err)
	}
	same(b, fmt.Sprintf("counts of %d", n), get(b, count), []int{len(kept), len(kept), len(kept)})
	same(b, fmt.Sprintf("selected of %d", n), get(b, dst)[:len(kept)], kept)
	same(b, fmt.Sprintf("the first selected of %d", n), get(b, few), kept[:len(kept)/2])
	same(b, fmt.Sprintf("partition of %d", n), get(b, split), append(kept, others...))
}
