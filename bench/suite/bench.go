package suite

import (
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"sync"

	"github.com/gopherwarp/gopherwarp/device"
)

// bench is what a case is prepared on: a stream, random numbers and the buffers that were
// made so far. The first error sticks to it; what it returns after one is not to be used.
type bench struct {
	stream  *device.Stream
	seed    uint64
	buffers []io.Closer
	outputs []output
	err     error
}

// output is an array that a case's kernels write.
type output interface {
	// poison fills the array on the device with what no kernel leaves there.
	poison(s *device.Stream) error
	// fetch enqueues its download to the host.
	fetch(s *device.Stream) error
}

// close frees the buffers, the last one first.
func (b *bench) close() error {
	var errs []error
	for _, c := range slices.Backward(b.buffers) {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// input returns an array with the contents of host on the device.
func input[T any](b *bench, host []T) *array[T] {
	a := &array[T]{host: host}
	if b.err != nil {
		return a
	}
	if a.dev, b.err = device.Upload(b.stream, host); b.err == nil {
		b.buffers = append(b.buffers, a.dev)
	}
	return a
}

// outputArray is an array that holds poison before a run that is checked.
type outputArray[T any] struct {
	*array[T]
	before T
}

// result returns an array of n elements for kernels to write. Before a run that is checked it
// holds the value before: 0 where the kernels add to it, else something that they never store.
func result[T any](b *bench, n int, before T) *array[T] {
	a := input(b, make([]T, n))
	b.outputs = append(b.outputs, outputArray[T]{a, before})
	return a
}

func (o outputArray[T]) poison(s *device.Stream) error {
	inParallel(len(o.host), func(_, start, end int) {
		for i := start; i < end; i++ {
			o.host[i] = o.before
		}
	})
	return device.UploadTo(s, o.dev.All(), o.host)
}

func (o outputArray[T]) fetch(s *device.Stream) error { return device.Download(s, o.host, o.dev) }

// scratch returns an array of n elements that kernels write and nobody checks.
func scratch[T any](b *bench, n int) *array[T] { return input(b, make([]T, n)) }

// random returns n elements, each made by f from random numbers. The same seed makes the
// same elements, however many cores there are.
func random[T any](b *bench, n int, f func(r *rand.Rand, i int) T) []T {
	b.seed++ // the next array has other numbers
	seed := b.seed
	host := make([]T, n)
	inParallel(n, func(chunk, start, end int) {
		r := rand.New(rand.NewPCG(seed, uint64(chunk)))
		for i := start; i < end; i++ {
			host[i] = f(r, i)
		}
	})
	return host
}

// inParallel calls f for stretches of 0 to n-1, on all cores. The stretches depend on n alone.
func inParallel(n int, f func(number, start, end int)) {
	chunk := min(1<<14, n/64+1)
	next, workers := make(chan int), sync.WaitGroup{}
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for number := range next {
				f(number, number*chunk, min(n, number*chunk+chunk))
			}
		})
	}
	for number := range (n + chunk - 1) / chunk {
		next <- number
	}
	close(next)
	workers.Wait()
}

// float is an element type of most cases.
type float interface{ float32 | float64 }

// uniform makes numbers from 0 to 1.
func uniform[T float](r *rand.Rand, _ int) T { return T(r.Float64()) }

// signed makes numbers from -1 to 1.
func signed(r *rand.Rand, _ int) float32 { return 2*r.Float32() - 1 }

// whole makes small whole numbers, whose sums are exact in any order.
func whole[T float](r *rand.Rand, _ int) T { return T(r.IntN(17) - 8) }

// between returns a function that makes numbers from low to high.
func between(low, high float32) func(*rand.Rand, int) float32 {
	return func(r *rand.Rand, _ int) float32 { return low + (high-low)*r.Float32() }
}

// nan is the poison of floats.
func nan[T float]() T { return T(math.NaN()) }

// sizeOf returns the bytes of an element.
func sizeOf[T any]() int { return int(reflect.TypeFor[T]().Size()) }

// lastBit returns the relative distance between neighbouring floats.
func lastBit[T float]() float64 { return math.Ldexp(1, map[int]int{4: -23, 8: -52}[sizeOf[T]()]) }
