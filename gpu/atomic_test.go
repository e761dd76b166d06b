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
}

func addTo[T gpu.Number](t *testing.T, was, v, want T) {
	t.Helper()
	x := [3]T{1: was} // neighbours show a write that is too wide
	if old := gpu.AtomicAdd(&x[1], v); old != was || x != [3]T{1: want} {
		t.Errorf("%v + %v: returned %v and left %v, want %v", was, v, old, x, want)
	}
}

func TestAtomicAddIsIndivisible(t *testing.T) {
	t.Run("int32", indivisible[int32])
	t.Run("int", indivisible[int])
	t.Run("float32", indivisible[float32])
	t.Run("float64", indivisible[float64])
}

// indivisible adds ones from many goroutines: every value that the place goes through is
// returned exactly once.
func indivisible[T gpu.Number](t *testing.T) {
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
