package harness

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

// Bench prepares a case. It has a stream, random numbers, and the buffers that were made so far. It
// keeps the first error; arrays that are made afterwards are empty.
type Bench struct {
	stream  *device.Stream
	seed    uint64
	buffers []io.Closer
	outputs []output
	err     error
}

// NewBench returns a bench on a stream. The same seed makes the same random numbers.
func NewBench(s *device.Stream, seed uint64) *Bench { return &Bench{stream: s, seed: seed} }

// Stream returns the stream that the case runs on.
func (b *Bench) Stream() *device.Stream { return b.stream }

// Err returns the first error of the preparation.
func (b *Bench) Err() error { return b.err }

// Fail notes an error of the preparation, unless there is one.
func (b *Bench) Fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// Seed returns a seed that no earlier call has returned.
func (b *Bench) Seed() uint64 {
	b.seed++
	return b.seed
}

// Own makes Close also close c.
func (b *Bench) Own(c io.Closer) { b.buffers = append(b.buffers, c) }

// Close frees the buffers, the last one first.
func (b *Bench) Close() error {
	var errs []error
	for _, c := range slices.Backward(b.buffers) {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// output is an array that a case's kernels write.
type output interface {
	// poison fills the array on the device with values that no kernel leaves there.
	poison(s *device.Stream) error
	// fetch enqueues the download to the host.
	fetch(s *device.Stream) error
}

// Input returns an array with the contents of host on the device.
func Input[T any](b *Bench, host []T) *Array[T] {
	a := &Array[T]{Host: host}
	if b.err != nil {
		return a
	}
	if a.dev, b.err = device.Upload(b.stream, host); b.err == nil {
		b.Own(a.dev)
	}
	return a
}

// outputArray is an array that holds poison before a run that is checked.
type outputArray[T any] struct {
	*Array[T]
	before T
}

// Result returns an array of n elements for kernels to write. Before each run that is checked, all
// elements are set to initial: pass 0 if the kernels add to the array, otherwise a value that they
// never store.
func Result[T any](b *Bench, n int, initial T) *Array[T] {
	a := Input(b, make([]T, n))
	b.outputs = append(b.outputs, outputArray[T]{a, initial})
	return a
}

func (o outputArray[T]) poison(s *device.Stream) error {
	InParallel(len(o.Host), func(_, start, end int) {
		for i := start; i < end; i++ {
			o.Host[i] = o.before
		}
	})
	return device.UploadTo(s, o.All(), o.Host)
}

func (o outputArray[T]) fetch(s *device.Stream) error { return device.Download(s, o.Host, o.dev) }

// Scratch returns an array of n elements that kernels write and nobody checks.
func Scratch[T any](b *Bench, n int) *Array[T] { return Input(b, make([]T, n)) }

// Random returns n elements, each made by f from random numbers. The same seed makes the
// same elements, on any number of cores.
func Random[T any](b *Bench, n int, f func(r *rand.Rand, i int) T) []T {
	seed := b.Seed() // the next array has other numbers
	host := make([]T, n)
	InParallel(n, func(chunk, start, end int) {
		r := rand.New(rand.NewPCG(seed, uint64(chunk)))
		for i := start; i < end; i++ {
			host[i] = f(r, i)
		}
	})
	return host
}

// InParallel divides the numbers from 0 to n-1 into ranges, and calls f for each range, on all cores. The arguments of f are the index of the
// range, its first number, and the number after its last. The ranges depend only on n.
func InParallel(n int, f func(index, start, end int)) {
	chunk := min(1<<14, n/64+1)
	next, workers := make(chan int), sync.WaitGroup{}
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for index := range next {
				f(index, index*chunk, min(n, index*chunk+chunk))
			}
		})
	}
	for index := range (n + chunk - 1) / chunk {
		next <- index
	}
	close(next)
	workers.Wait()
}

// Float is an element type of most cases.
type Float interface{ float32 | float64 }

// Uniform makes numbers from 0 to 1.
func Uniform[T Float](r *rand.Rand, _ int) T { return T(r.Float64()) }

// Signed makes numbers from -1 to 1.
func Signed(r *rand.Rand, _ int) float32 { return 2*r.Float32() - 1 }

// Whole makes small whole numbers, whose sums are exact in any order.
func Whole[T Float](r *rand.Rand, _ int) T { return T(r.IntN(17) - 8) }

// Between returns a function that makes numbers from low to high.
func Between(low, high float32) func(*rand.Rand, int) float32 {
	return func(r *rand.Rand, _ int) float32 { return low + (high-low)*r.Float32() }
}

// NaN returns the value that outputs of floats have before a verification.
func NaN[T Float]() T { return T(math.NaN()) }

// SizeOf returns the size of an element in bytes.
func SizeOf[T any]() int { return int(reflect.TypeFor[T]().Size()) }

// LastBit returns the relative distance between neighbouring floats.
func LastBit[T Float]() float64 { return math.Ldexp(1, map[int]int{4: -23, 8: -52}[SizeOf[T]()]) }
