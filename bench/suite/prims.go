package suite

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gopherwarp/gopherwarp/bench/harness"
	"github.com/gopherwarp/gopherwarp/bench/report"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/prim"
)

// The cases of package prim. CUB has the same ones, in bench/peers.

// called returns the contender that is ours by a call.
func called(call func(s *device.Stream) error) []harness.Contender {
	return []harness.Contender{{Name: report.Ours, Run: call}}
}

// anyBits makes numbers of random bits.
func anyBits[T uint32 | uint64](r *rand.Rand, _ int) T { return T(r.Uint64()) }

// small makes whole numbers below 128 whose sums are exact in float32 too.
func small[T int32 | int64 | float32](r *rand.Rand, _ int) T { return T(r.IntN(255) - 127) }

func newPrimSum(b *harness.Bench, n int) harness.Work {
	x, sum := harness.Input(b, harness.Random(b, n, harness.Whole[float32])), harness.Result(b, 1, harness.NaN[float32]())
	return harness.Work{
		Bytes: float64(4 * n),
		More:  called(func(s *device.Stream) error { return prim.Sum(s, sum.All(), x.All()) }),
		Check: func() error {
			return harness.Exactly(sum.Host, func(int) float32 {
				return float32(sumOf(n, func(i int) float64 { return float64(x.Host[i]) }))
			})
		},
	}
}

func newPrimScan[T int32 | int64 | float32](b *harness.Bench, n int) harness.Work {
	x, y := harness.Input(b, harness.Random(b, n, small[T])), harness.Result(b, n, T(1<<24))
	return harness.Work{
		Bytes: float64(2 * n * harness.SizeOf[T]()),
		More:  called(func(s *device.Stream) error { return prim.InclusiveScan(s, prim.Add, y.All(), x.All()) }),
		Check: func() error {
			var sum T
			for i, v := range x.Host {
				if sum += v; y.Host[i] != sum {
					return fmt.Errorf("element %d is %v, want %v", i, y.Host[i], sum)
				}
			}
			return nil
		},
	}
}

// newPrimSort returns the maker of a sort. Keys are sorted in place, and brought back before each run.
func newPrimSort[T uint32 | uint64 | float32](key func(r *rand.Rand, i int) T) func(*harness.Bench, int) harness.Work {
	return func(b *harness.Bench, n int) harness.Work {
		keys, x := harness.Input(b, harness.Random(b, n, key)), harness.Result(b, n, T(0))
		return harness.Work{
			More:    called(func(s *device.Stream) error { return prim.Sort(s, x.All()) }),
			Restore: func(s *device.Stream) error { return device.Copy(s, x.All(), keys.All()) },
			Check:   func() error { return permuted(x.Host, keys.Host) },
		}
	}
}

// permuted demands that sorted has the elements of keys in ascending order.
func permuted[T uint32 | uint64 | float32](sorted, keys []T) error {
	got := sumOf(len(sorted), func(i int) float64 { return lowBits(sorted[i]) })
	want := sumOf(len(keys), func(i int) float64 { return lowBits(keys[i]) })
	if got != want {
		return fmt.Errorf("the sorted keys have the sum %v, want %v", got, want)
	}
	return harness.Examine(len(sorted), 0, func(i int) error {
		if i > 0 && sorted[i] < sorted[i-1] {
			return fmt.Errorf("element %d is %v, behind %v", i, sorted[i], sorted[i-1])
		}
		return nil
	})
}

// lowBits returns the last 20 bits as a number: sums of many are exact.
func lowBits[T uint32 | uint64 | float32](v T) float64 {
	var bits uint64
	switch v := any(v).(type) {
	case uint32:
		bits = uint64(v)
	case uint64:
		bits = v
	case float32:
		bits = uint64(math.Float32bits(v))
	}
	return float64(bits & (1<<20 - 1))
}

func newPrimSortPairs(b *harness.Bench, n int) harness.Work {
	keys := harness.Input(b, harness.Random(b, n, anyBits[uint32]))
	order := harness.Input(b, harness.Random(b, n, func(_ *rand.Rand, i int) uint32 { return uint32(i) }))
	x, from := harness.Result[uint32](b, n, 0), harness.Result[uint32](b, n, 0)
	return harness.Work{
		More: called(func(s *device.Stream) error { return prim.SortPairs(s, x.All(), from.All()) }),
		Restore: func(s *device.Stream) error {
			return errors.Join(device.Copy(s, x.All(), keys.All()), device.Copy(s, from.All(), order.All()))
		},
		Check: func() error {
			return harness.Examine(n, 0, func(i int) error {
				k, at := x.Host[i], from.Host[i]
				if keys.Host[at] != k || i > 0 && (k < x.Host[i-1] || k == x.Host[i-1] && at < from.Host[i-1]) {
					return fmt.Errorf("element %d is %d from %d", i, k, at)
				}
				return nil
			})
		},
	}
}

func newPrimCount(b *harness.Bench, n int) harness.Work {
	x := harness.Input(b, harness.Random(b, n, func(r *rand.Rand, _ int) uint8 { return uint8(r.Uint32()) }))
	counts := harness.Result(b, 256, ^uint64(0))
	return harness.Work{
		Bytes: float64(n),
		More:  called(func(s *device.Stream) error { return prim.Count(s, counts.All(), x.All(), 0) }),
		Check: func() error {
			var want [256]uint64
			for _, v := range x.Host {
				want[v]++
			}
			return harness.Exactly(counts.Host, func(i int) uint64 { return want[i] })
		},
	}
}

func newPrimSelect(b *harness.Bench, n int) harness.Work {
	x := harness.Input(b, harness.Random(b, n, anyBits[uint32]))
	set := harness.Input(b, harness.Random(b, n, func(r *rand.Rand, _ int) bool { return r.Uint32()&1 != 0 }))
	y, count := harness.Result[uint32](b, n, 0), harness.Result(b, 1, -1)
	return harness.Work{
		Bytes: float64(7 * n), // of 4 bytes and a flag a half is written
		More: called(func(s *device.Stream) error {
			return prim.Select(s, y.All(), x.All(), prim.Flags{Set: set.All(), Count: count.All()})
		}),
		Check: func() error {
			k := 0
			for i, v := range x.Host {
				if !set.Host[i] {
					continue
				}
				if y.Host[k] != v {
					return fmt.Errorf("element %d is %d, want %d", k, y.Host[k], v)
				}
				k++
			}
			return harness.Exactly(count.Host, func(int) int { return k })
		},
	}
}

func newPrimTop(b *harness.Bench, n int) harness.Work {
	k := min(n, 1000)
	x := harness.Input(b, harness.Random(b, n, harness.Uniform[float32]))
	best, where := harness.Result(b, k, harness.NaN[float32]()), harness.Result(b, k, 0)
	return harness.Work{
		Bytes: float64(4 * n),
		More:  called(func(s *device.Stream) error { return prim.Top(s, best.All(), where.All(), x.All()) }),
		Check: func() error {
			greater := sumOf(n, func(i int) float64 {
				if x.Host[i] > best.Host[k-1] {
					return 1
				}
				return 0
			})
			if int(greater) >= k || !slices.IsSortedFunc(best.Host, func(a, b float32) int { return cmp.Compare(b, a) }) {
				return fmt.Errorf("%v are greater than the last of %d, or these are not in order", greater, k)
			}
			return harness.Exactly(best.Host, func(i int) float32 { return x.Host[where.Host[i]] })
		},
	}
}

func newPrimTranspose(b *harness.Bench, n int) harness.Work {
	x, y := harness.Input(b, harness.Random(b, n*n, anyBits[uint32])), harness.Result[uint32](b, n*n, 0)
	return harness.Work{
		Bytes: float64(8 * n * n),
		More: append(called(func(s *device.Stream) error { return prim.Transpose(s, y.All(), x.All(), n) }),
			copied(y, x)),
		Check: func() error {
			return harness.Exactly(y.Host, func(i int) uint32 { return x.Host[i%n*n+i/n] })
		},
	}
}

// copied returns the contender that copies from one array to another: as much as a kernel that moves
// each element once can reach.
func copied[T comparable](to, from *harness.Array[T]) harness.Contender {
	return harness.Contender{
		Name:  report.Copied,
		Run:   func(s *device.Stream) error { return device.Copy(s, to.All(), from.All()) },
		Check: func() error { return harness.Exactly(to.Host, func(i int) T { return from.Host[i] }) },
	}
}
