package prim_test

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/prim"
)

// replays is how often TestReplays runs its graph.
var replays = flag.Int("replays", 0, "how often a recorded sort runs; 0 is 10000 on a GPU and fewer elsewhere")

// replaysOn returns the number of replays for a kind of device.
func replaysOn(kind string) int {
	switch {
	case *replays > 0:
		return *replays
	case kind == "cuda":
		return 10_000
	case kind == "interp" || testing.Short():
		return 3
	default:
		return 500
	}
}

// replayed is a graph that copies numbers from in, stores the greatest in top and their positions in at, and
// the sorted numbers in sorted.
type replayed[T prim.Number] struct {
	in, sorted, top *device.Pinned[T]
	at              *device.Pinned[int]
}

func newReplayed[T prim.Number](b *bench, n, k int) (r replayed[T]) {
	b.Helper()
	var errs [4]error
	r.in, errs[0] = device.NewPinned[T](b.Device(), n)
	r.sorted, errs[1] = device.NewPinned[T](b.Device(), n)
	r.top, errs[2] = device.NewPinned[T](b.Device(), k)
	r.at, errs[3] = device.NewPinned[int](b.Device(), k)
	if err := errors.Join(errs[:]...); err != nil {
		b.Fatal(err)
	}
	return r
}

// record is an ordinary function that allocates, and does not know that it is recorded.
func (r replayed[T]) record(s *device.Stream) error {
	x, err := device.MakeDirty[T](s, r.in.Len())
	top, errTop := device.MakeDirty[T](s, r.top.Len())
	at, errAt := device.MakeDirty[int](s, r.top.Len())
	if err = errors.Join(err, errTop, errAt); err != nil {
		return err
	}
	return errors.Join(
		device.UploadPinned(s, x.All(), r.in.All()),
		prim.Top(s, top.All(), at.All(), x.All()),
		prim.Sort(s, x.All()),
		device.DownloadPinned(s, r.sorted.All(), x.All()),
		device.DownloadPinned(s, r.top.All(), top.All()),
		device.DownloadPinned(s, r.at.All(), at.All()),
		x.Close(), top.Close(), at.Close())
}

// check compares the results with those of plain Go.
func (r replayed[T]) check() error {
	want := slices.Clone(r.in.Host())
	at := make([]int, len(want))
	for i := range at {
		at[i] = i
	}
	sortIndices(at, want)
	if k := r.at.Len(); !slices.Equal(r.at.Host(), at[:k]) {
		return fmt.Errorf("the greatest are at %v, want %v", r.at.Host(), at[:k])
	}
	for i, x := range r.top.Host() {
		if x != want[at[i]] {
			return fmt.Errorf("the greatest are %v", r.top.Host())
		}
	}
	slices.SortFunc(want, cmp.Compare[T])
	if !slices.Equal(r.sorted.Host(), want) {
		return errors.New("the numbers are not sorted")
	}
	return nil
}

// TestReplays records a sort and a search for the greatest elements once, and runs the graph with new data
// each time: the results are right, and no memory is taken.
func TestReplays(t *testing.T) {
	everywhere(t, func(b *bench) {
		b.Run("float32", func(t *testing.T) { replay[float32](&bench{t, b.Stream, b.r, b.big}) })
		if b.Device().Info().Kind == "interp" && testing.Short() {
			return // it takes seconds
		}
		b.Run("int64", func(t *testing.T) { replay[int64](&bench{t, b.Stream, b.r, b.big}) })
	})
}

func replay[T prim.Number](b *bench) {
	kind := b.Device().Info().Kind
	r := newReplayed[T](b, 450+min(b.big, 10)*50, 7)
	g, err := b.Device().Capture(r.record)
	if err != nil {
		b.Fatal(err)
	}
	before := stats(b)
	for i := range replaysOn(kind) {
		copy(r.in.Host(), random[T](b, r.in.Len()))
		if err := errors.Join(g.Launch(b.Stream), b.Synchronize(b.Context()), r.check()); err != nil {
			b.Fatalf("replay %d: %v", i, err)
		}
	}
	if after := stats(b); after != before {
		b.Errorf("after the replays: %+v, before: %+v", after, before)
	}
	if err := errors.Join(g.Close(), r.in.Close(), r.sorted.Close(), r.top.Close(), r.at.Close()); err != nil {
		b.Error(err)
	}
	if end := stats(b); end.Used != 0 {
		b.Errorf("after the graph is closed, %d bytes are in use", end.Used)
	}
}

func stats(b *bench) device.MemoryStats {
	b.Helper()
	m, err := b.Device().MemoryStats()
	if err != nil {
		b.Fatal(err)
	}
	return m
}

// TestRecorded compares the results of all functions that allocate, in a graph and outside.
func TestRecorded(t *testing.T) {
	everywhere(t, func(b *bench) {
		switch {
		case b.Device().Info().Kind != "interp":
			for _, n := range []int{1, 700, 5000 * b.big} {
				recorded[int32](b, n)
				recorded[float64](b, n)
			}
		case testing.Short(): // the interpreter takes seconds for thousands of elements
			recorded[int32](b, 300)
		default:
			recorded[int32](b, 5000)
			recorded[float64](b, 300)
		}
	})
}

func recorded[T prim.Number](b *bench, n int) {
	b.Helper()
	src, flags := random[T](b, n), make([]bool, n)
	for i := range flags {
		flags[i] = b.r.IntN(2) == 0
	}
	x, set := put(b, src), put(b, flags)
	values, places := put(b, make([]uint64, n)), put(b, make([]int, min(n, 9)))
	count, one := put(b, make([]int, 2)), put(b, make([]T, 1))
	var out [8]device.Slice[T]
	for i := range out {
		out[i] = put(b, make([]T, n)) // not all elements are written
	}
	work := func(s *device.Stream) error {
		for _, y := range out[:3] {
			if err := device.Copy(s, y, x); err != nil {
				return err
			}
		}
		return errors.Join(
			device.Fill(s, values, 1<<33+1),
			prim.Sort(s, out[0]), prim.SortDescending(s, out[1]), prim.SortPairs(s, out[2], values),
			prim.Top(s, out[3].Slice(0, places.Len()), places, x),
			prim.InclusiveScan(s, prim.Max, out[4], x), prim.ExclusiveScan(s, prim.Add, out[5], x),
			prim.Select(s, out[6], x, prim.Flags{Set: set, Count: count.Slice(0, 1)}),
			prim.Partition(s, out[7], x, prim.Flags{Set: set, Count: count.Slice(1, 2)}),
			prim.Reduce(s, prim.Min, one, x), prim.Sum(s, one, x))
	}
	results := func() (all [][]T, numbers [][]int) {
		for _, y := range append(out[:], one) {
			all = append(all, get(b, y))
			if err := device.Fill(b.Stream, y, 0); err != nil {
				b.Fatal(err)
			}
		}
		return all, [][]int{get(b, places), get(b, count), get(b, device.View[int](values))}
	}
	if err := work(b.Stream); err != nil {
		b.Fatal(err)
	}
	want, wantNumbers := results()
	g, err := b.Device().Capture(work)
	if err != nil {
		b.Fatal(err)
	}
	defer g.Close()
	for range 2 {
		if err := g.Launch(b.Stream); err != nil {
			b.Fatal(err)
		}
		got, numbers := results()
		for i := range want {
			same(b, fmt.Sprintf("result %d of %d elements", i, n), got[i], want[i])
		}
		for i := range numbers {
			same(b, fmt.Sprintf("numbers %d of %d elements", i, n), numbers[i], wantNumbers[i])
		}
	}
}
