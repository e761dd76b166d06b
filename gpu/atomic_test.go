package gpu_test

import (
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/gopherwarp/gopherwarp/gpu"
)

type kelvin float32

func TestAtomicAdd(t *testing.T) {
	addTo(t, int32(math.MaxInt32), 1, math.MinInt32)
	addTo(t, int32(5), -7, -2)
	addTo(t, uint32(1), math.MaxUint32, 0)
	addTo(t, int64(math.MinInt64), -1, math.MaxInt64)
	addTo(t, uint64(1)<<63, 1<<63, 0)
	addTo(t, -3, 10, 7)
	addTo(t, uint(3), 10, 13)
	addTo(t, float32(0.25), 0.5, 0.75)
	addTo(t, float32(1<<24), 1, 1<<24) // rounded to the type
	addTo(t, 0.1, 0.2, 0.30000000000000004)
	addTo(t, math.Inf(1), -1, math.Inf(1))
	addTo(t, kelvin(270), 3.5, 273.5)
	addTo(t, int8(127), 2, -127)
	addTo(t, uint8(255), 3, 2)
	addTo(t, int16(-32768), -1, 32767)
	addTo(t, uint16(65535), 65535, 65534)
}

func addTo[T gpu.AtomicNumber](t *testing.T, was, v, want T) {
	t.Helper()
	for i := range 5 { // neighbors show a write that is too wide
		var x, wants [5]T
		x[i], wants[i] = was, want
		if old := gpu.AtomicAdd(&x[i], v); old != was || x != wants {
			t.Errorf("%v + %v: returned %v and left %v, want %v", was, v, old, x, want)
		}
	}
}

func TestAtomicAddIsIndivisible(t *testing.T) {
	t.Run("int32", indivisible[int32])
	t.Run("int", indivisible[int])
	t.Run("float32", indivisible[float32])
	t.Run("float64", indivisible[float64])
	t.Run("uint16", indivisible[uint16])
}

// TestAtomicBytes adds to the four bytes of a word from different goroutines.
func TestAtomicBytes(t *testing.T) {
	const each = 5000
	var x [7]uint8
	var running sync.WaitGroup
	for i := range x {
		running.Go(func() {
			for n := range each {
				if old := gpu.AtomicAdd(&x[i], uint8(i)); old != uint8(n*i) {
					t.Errorf("byte %d was %d before addition %d", i, old, n)
					return
				}
			}
		})
	}
	running.Wait()
	for i, v := range x {
		if v != uint8(each*i%256) {
			t.Errorf("byte %d is %d, want %d", i, v, each*i%256)
		}
	}
}

// indivisible adds ones from several goroutines: each intermediate value must be
// returned exactly once.
func indivisible[T int32 | int | uint16 | float32 | float64](t *testing.T) {
	const goroutines, each = 8, 1000
	var x T
	var running sync.WaitGroup
	seen := make([][]T, goroutines)
	for g := range seen {
		running.Go(func() {
			for range each {
				seen[g] = append(seen[g], gpu.AtomicAdd(&x, 1))
			}
		})
	}
	running.Wait()
	count := map[T]int{}
	for g, values := range seen {
		for i, v := range values {
			count[v]++
			if i > 0 && v <= values[i-1] {
				t.Fatalf("goroutine %d saw %v after %v", g, v, values[i-1])
			}
		}
	}
	if x != goroutines*each || len(count) != goroutines*each {
		t.Errorf("the sum is %v with %d values on the way, want %d", x, len(count), goroutines*each)
	}
}

func BenchmarkAtomicAdd(b *testing.B) {
	var i int32
	var f float32
	b.Run("int32", func(b *testing.B) {
		for b.Loop() {
			gpu.AtomicAdd(&i, 1)
		}
	})
	b.Run("float32", func(b *testing.B) {
		for b.Loop() {
			gpu.AtomicAdd(&f, 1)
		}
	})
}

func ExampleAtomicAdd() {
	var histogram [4]int32
	for _, v := range []int{1, 3, 1, 1} {
		gpu.AtomicAdd(&histogram[v], 1)
	}
	fmt.Println(histogram)
	// Output: [0 3 0 1]
}

func TestAtomicUpdates(t *testing.T) {
	updates(t, int32(-5), 3)
	updates(t, uint32(math.MaxUint32), 3)
	updates(t, int64(math.MinInt64), 1)
	updates(t, uint64(1)<<63, 1)
	updates(t, -5, -6)
	updates(t, uint(5), 6)
	updates(t, int8(-5), 3)
	updates(t, uint8(250), 3)
	updates(t, int16(-300), 200)
	updates(t, uint16(65000), 7)
}

// updates applies each operation to the middle of three numbers; the others must not change.
func updates[T gpu.AtomicInteger](t *testing.T, was, v T) {
	t.Helper()
	for name, c := range map[string]struct {
		f    func(*T, T, ...gpu.Memory) T
		want T
	}{
		"sub": {gpu.AtomicSub[T], was - v}, "min": {gpu.AtomicMin[T], min(was, v)}, "max": {gpu.AtomicMax[T], max(was, v)},
		"and": {gpu.AtomicAnd[T], was & v}, "or": {gpu.AtomicOr[T], was | v}, "xor": {gpu.AtomicXor[T], was ^ v},
		"exchange": {gpu.AtomicExchange[T], v},
	} {
		x := [3]T{1: was, 2: v}
		if old := c.f(&x[1], v, gpu.Sequential); old != was || x != [3]T{1: c.want, 2: v} {
			t.Errorf("%s of %v and %v: returned %v and left %v, want %v", name, was, v, old, x, c.want)
		}
	}
	swaps(t, was, v)
}

// swaps tests AtomicLoad, AtomicStore and AtomicCompareAndSwap.
func swaps[T gpu.AtomicNumber](t *testing.T, was, v T) {
	t.Helper()
	x := [3]T{1: v}
	gpu.AtomicStore(&x[1], was, gpu.Release)
	if got := gpu.AtomicLoad(&x[1], gpu.Acquire); got != was || x != [3]T{1: was} {
		t.Errorf("stored %v, loaded %v, left %v", was, got, x)
	}
	if old, ok := gpu.AtomicCompareAndSwap(&x[1], v, v); ok || old != was || x[1] != was {
		t.Errorf("swapped %v although it is not %v: %v, %v", was, v, old, x)
	}
	if old, ok := gpu.AtomicCompareAndSwap(&x[1], was, v); !ok || old != was || x != [3]T{1: v} {
		t.Errorf("did not swap %v for %v: %v, %v", was, v, old, x)
	}
}

func TestAtomicFloats(t *testing.T) {
	swaps(t, float32(1.5), -2)
	swaps(t, math.Inf(-1), 1e300)
	swaps(t, kelvin(1), 2)
	negative := math.Copysign(0, -1)
	x := 0.0
	if gpu.AtomicMin(&x, negative); math.Float64bits(x) != 1<<63 {
		t.Errorf("the minimum of 0 and -0 is %v", x)
	}
	if gpu.AtomicMax(&x, math.NaN()); x == x {
		t.Errorf("the maximum of -0 and NaN is %v", x)
	}
	if _, ok := gpu.AtomicCompareAndSwap(&x, x, 7); !ok || x != 7 {
		t.Errorf("a NaN was not swapped for 7: %v", x)
	}
	if old := gpu.AtomicSub(&x, 7.5); old != 7 || x != -0.5 {
		t.Errorf("7 - 7.5 is %v and was %v", x, old)
	}
	gpu.Fence(gpu.SystemScope)
}

// TestAtomicMaxIsIndivisible raises a number from several goroutines, none of which may see it decrease.
func TestAtomicMaxIsIndivisible(t *testing.T) {
	const goroutines, each = 8, 2000
	var x float32
	var running sync.WaitGroup
	for g := range goroutines {
		running.Go(func() {
			last := float32(0)
			for i := range each {
				v := float32(i*goroutines + g)
				if old := gpu.AtomicMax(&x, v); old < last {
					t.Errorf("%v after %v", old, last)
					return
				}
				last = v
			}
		})
	}
	running.Wait()
	if x != goroutines*each-1 {
		t.Errorf("the maximum is %v", x)
	}
}
