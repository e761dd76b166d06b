package suite

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gopherwarp/gopherwarp/bench/report"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/prim"
)

// The cases of package prim. CUB has the same ones, in bench/peers.

// called returns the contender that is ours by a call.
func called(call func(s *device.Stream) error) []contender {
	return []contender{{name: report.Ours, run: call}}
}

// all returns the array on the device.
func (a *array[T]) all() device.Slice[T] {
	if a.dev == nil { // after an error; nothing is launched
		return device.Slice[T]{}
	}
	return a.dev.All()
}

// anyBits makes numbers of random bits.
func anyBits[T uint32 | uint64](r *rand.Rand, _ int) T { return T(r.Uint64()) }

// small makes whole numbers below 128 whose sums are exact in float32 too.
func small[T int32 | int64 | float32](r *rand.Rand, _ int) T { return T(r.IntN(255) - 127) }

func newPrimSum(b *bench, n int) work {
	x, sum := input(b, random(b, n, whole[float32])), result(b, 1, nan[float32]())
	return work{
		bytes: float64(4 * n),
		more:  called(func(s *device.Stream) error { return prim.Sum(s, sum.all(), x.all()) }),
		check: func() error {
			return exactly(sum.host, func(int) float32 {
				return float32(sumOf(n, func(i int) float64 { return float64(x.host[i]) }))
			})
		},
	}
}

func newPrimScan[T int32 | int64 | float32](b *bench, n int) work {
	x, y := input(b, random(b, n, small[T])), result(b, n, T(1<<24))
	return work{
		bytes: float64(2 * n * sizeOf[T]()),
		more:  called(func(s *device.Stream) error { return prim.InclusiveScan(s, prim.Add, y.all(), x.all()) }),
		check: func() error {
			var sum T
			for i, v := range x.host {
				if sum += v; y.host[i] != sum {
					return fmt.Errorf("element %d is %v, want %v", i, y.host[i], sum)
				}
			}
			return nil
		},
	}
}

// newPrimSort returns the maker of a sort. Keys are sorted in place, and brought back before each run.
func newPrimSort[T uint32 | uint64 | float32](key func(r *rand.Rand, i int) T) func(*bench, int) work {
	return func(b *bench, n int) work {
		keys, x := input(b, random(b, n, key)), result(b, n, T(0))
		return work{
			more:    called(func(s *device.Stream) error { return prim.Sort(s, x.all()) }),
			restore: func(s *device.Stream) error { return device.Copy(s, x.all(), keys.all()) },
			check:   func() error { return permuted(x.host, keys.host) },
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
	return examine(len(sorted), 0, func(i int) error {
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

func newPrimSortPairs(b *bench, n int) work {
	keys := input(b, random(b, n, anyBits[uint32]))
	order := input(b, random(b, n, func(_ *rand.Rand, i int) uint32 { return uint32(i) }))
	x, from := result[uint32](b, n, 0), result[uint32](b, n, 0)
	return work{
		more: called(func(s *device.Stream) error { return prim.SortPairs(s, x.all(), from.all()) }),
		restore: func(s *device.Stream) error {
			return errors.Join(device.Copy(s, x.all(), keys.all()), device.Copy(s, from.all(), order.all()))
		},
		check: func() error {
			return examine(n, 0, func(i int) error {
				k, at := x.host[i], from.host[i]
				if keys.host[at] != k || i > 0 && (k < x.host[i-1] || k == x.host[i-1] && at < from.host[i-1]) {
					return fmt.Errorf("element %d is %d from %d", i, k, at)
				}
				return nil
			})
		},
	}
}

func newPrimCount(b *bench, n int) work {
	x := input(b, random(b, n, func(r *rand.Rand, _ int) uint8 { return uint8(r.Uint32()) }))
	counts := result(b, 256, ^uint64(0))
	return work{
		bytes: float64(n),
		more:  called(func(s *device.Stream) error { return prim.Count(s, counts.all(), x.all(), 0) }),
		check: func() error {
			var want [256]uint64
			for _, v := range x.host {
				want[v]++
			}
			return exactly(counts.host, func(i int) uint64 { return want[i] })
		},
	}
}

func newPrimSelect(b *bench, n int) work {
	x := input(b, random(b, n, anyBits[uint32]))
	set := input(b, random(b, n, func(r *rand.Rand, _ int) bool { return r.Uint32()&1 != 0 }))
	y, count := result[uint32](b, n, 0), result(b, 1, -1)
	return work{
		bytes: float64(7 * n), // of 4 bytes and a flag a half is written
		more: called(func(s *device.Stream) error {
			return prim.Select(s, y.all(), x.all(), prim.Flags{Set: set.all(), Count: count.all()})
		}),
		check: func() error {
			k := 0
			for i, v := range x.host {
				if !set.host[i] {
					continue
				}
				if y.host[k] != v {
					return fmt.Errorf("element %d is %d, want %d", k, y.host[k], v)
				}
				k++
			}
			return exactly(count.host, func(int) int { return k })
		},
	}
}

func newPrimTop(b *bench, n int) work {
	k := min(n, 1000)
	x := input(b, random(b, n, uniform[float32]))
	best, where := result(b, k, nan[float32]()), result(b, k, 0)
	return work{
		bytes: float64(4 * n),
		more:  called(func(s *device.Stream) error { return prim.Top(s, best.all(), where.all(), x.all()) }),
		check: func() error {
			greater := sumOf(n, func(i int) float64 {
				if x.host[i] > best.host[k-1] {
					return 1
				}
				return 0
			})
			if int(greater) >= k || !slices.IsSortedFunc(best.host, func(a, b float32) int { return cmp.Compare(b, a) }) {
				return fmt.Errorf("%v are greater than the last of %d, or these are not in order", greater, k)
			}
			return exactly(best.host, func(i int) float32 { return x.host[where.host[i]] })
		},
	}
}

func newPrimTranspose(b *bench, n int) work {
	x, y := input(b, random(b, n*n, anyBits[uint32])), result[uint32](b, n*n, 0)
	return work{
		bytes: float64(8 * n * n),
		more: append(called(func(s *device.Stream) error { return prim.Transpose(s, y.all(), x.all(), n) }),
			copied(y, x)),
		check: func() error {
			return exactly(y.host, func(i int) uint32 { return x.host[i%n*n+i/n] })
		},
	}
}

// copied returns the contender that copies from one array to another: as much as a kernel that moves
// each element once can reach.
func copied[T comparable](to, from *array[T]) contender {
	return contender{
		name:  report.Copied,
		run:   func(s *device.Stream) error { return device.Copy(s, to.all(), from.all()) },
		check: func() error { return exactly(to.host, func(i int) T { return from.host[i] }) },
	}
}
