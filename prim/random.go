package prim

import (
	"fmt"
	"math"
	"reflect"

	"github.com/gopherwarp/gopherwarp/device"
)

// Sequence is a part of the sequence of random numbers that Seed generates: it starts at number Offset. Element i
// of a destination gets number Offset+i. So a slice that is filled in parts, even by different devices, gets the
// same numbers as a slice that is filled at once.
//
// The numbers are those of the counter-based generator Philox4x32-10 (Salmon, Moraes, Dror and Shaw,
// "Parallel Random Numbers: As Easy as 1, 2, 3", 2011), with the same bits on every device. Different seeds
// give independent numbers. With the same seed, different functions give independent numbers, and so does
// one function with different element sizes.
type Sequence struct{ Seed, Offset uint64 }

// Uniform fills dst with uniformly distributed numbers in [0, 1): multiples of 2^-24 in float32, and of 2^-53 in float64.
func Uniform[T ~float32 | ~float64](s *device.Stream, dst device.Slice[T], seq Sequence) error {
	if kindOf[T]() == reflect.Float32 {
		return draw(s, seq, drawing{"uniform", dst.Len(), 4}, func(g device.Blocks, d source) error {
			return uniform32(s, g, view[float32](dst), d)
		})
	}
	return draw(s, seq, drawing{"uniform", dst.Len(), 2}, func(g device.Blocks, d source) error {
		return uniform64(s, g, view[float64](dst), d)
	})
}

// Gaussian is a normal distribution with a mean and a standard deviation.
type Gaussian[T ~float32 | ~float64] struct{ Mean, Deviation T }

// Normal fills dst with normally distributed numbers, which the method of Box and Muller generates. A number is at
// most 6.8 standard deviations from the mean in float32, and 8.6 standard deviations in float64.
func Normal[T ~float32 | ~float64](s *device.Stream, dst device.Slice[T], seq Sequence, dist Gaussian[T]) error {
	if kindOf[T]() == reflect.Float32 {
		return draw(s, seq, drawing{"normal", dst.Len(), 4}, func(g device.Blocks, d source) error {
			return normal32(s, g, view[float32](dst), d, Gaussian[float32]{float32(dist.Mean), float32(dist.Deviation)})
		})
	}
	return draw(s, seq, drawing{"normal", dst.Len(), 2}, func(g device.Blocks, d source) error {
		return normal64(s, g, view[float64](dst), d, Gaussian[float64]{float64(dist.Mean), float64(dist.Deviation)})
	})
}

// Range is the set of the integers from Low to High, both included.
type Range[T Integer] struct{ Low, High T }

// Integers fills dst with uniformly distributed integers from bounds.Low to bounds.High. The
// probabilities of two integers differ by at most 2^-32 if T has 4 bytes, and by at most 2^-64 if T
// has 8 bytes.
func Integers[T ~int | ~int32 | ~int64 | ~uint | ~uint32 | ~uint64](s *device.Stream, dst device.Slice[T], seq Sequence, bounds Range[T]) error {
	if bounds.Low > bounds.High {
		return refuse(s, "integers", fmt.Errorf("from %d to %d: %w", bounds.Low, bounds.High, device.ErrRange))
	}
	low, span := uint64(bounds.Low), uint64(bounds.High)-uint64(bounds.Low)
	if reflect.TypeFor[T]().Size() == 4 {
		return draw(s, seq, drawing{"integers", dst.Len(), 2}, func(g device.Blocks, d source) error {
			return integers32(s, g, view[uint32](dst), d, scale[uint32]{uint32(low), uint32(span)})
		})
	}
	return draw(s, seq, drawing{"integers", dst.Len(), 1}, func(g device.Blocks, d source) error {
		return integers64(s, g, view[uint64](dst), d, scale[uint64]{low, span})
	})
}

// drawing describes n numbers and how many of them each counter yields.
type drawing struct {
	what       string
	n, perDraw int
}

// draw launches a kernel that draws numbers: a thread for each counter of all groups that have one of them.
func draw(s *device.Stream, seq Sequence, d drawing, launch func(device.Blocks, source) error) error {
	if uint64(d.n) > math.MaxUint64-seq.Offset {
		return refuse(s, d.what, fmt.Errorf("%d numbers from number %d on: %w", d.n, seq.Offset, device.ErrRange))
	}
	if d.n == 0 {
		return idle(s)
	}
	group := uint64(drawLanes * d.perDraw)
	first, last := seq.Offset/group, (seq.Offset+uint64(d.n)-1)/group
	threads := int(last-first+1) * drawLanes
	return launch(device.Blocks{X: (threads + drawWidth - 1) / drawWidth}, source{
		seed: [2]uint32{uint32(seq.Seed), uint32(seq.Seed >> 32)}, first: first * drawLanes, offset: seq.Offset,
	})
}
