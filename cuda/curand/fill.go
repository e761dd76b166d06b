package curand

import (
	"math"

	"github.com/gopherwarp/gopherwarp/device"
)

// Float is the type of uniformly and normally distributed numbers.
type Float interface{ float32 | float64 }

// of returns the variant of a function for T.
func of[T Float](f function) function {
	var zero T
	if _, double := any(zero).(float64); double {
		return f + 1
	}
	return f
}

// bits returns the bits of a number, in the form of an argument.
func bits[T Float](v T) uintptr {
	if f, single := any(v).(float32); single {
		return uintptr(math.Float32bits(f))
	}
	return uintptr(math.Float64bits(float64(v)))
}

// Uniform fills x with uniformly distributed numbers in (0, 1].
func Uniform[T Float](g *Generator, x device.Slice[T]) error { return fill(g, of[T](uniform), x) }

// Normal fills x with normally distributed numbers. Pseudorandom generators generate pairs of
// numbers: if the length of x is odd, the error is LengthNotMultiple.
func Normal[T Float](g *Generator, x device.Slice[T], mean, deviation T) error {
	return fill(g, of[T](normal), x, bits(mean), bits(deviation))
}

// LogNormal fills x with log-normally distributed numbers. The logarithms of the numbers have the
// given mean and standard deviation. As for Normal, the length of x must be even for pseudorandom
// generators.
func LogNormal[T Float](g *Generator, x device.Slice[T], mean, deviation T) error {
	return fill(g, of[T](logNormal), x, bits(mean), bits(deviation))
}

// Poisson fills x with Poisson-distributed numbers.
func Poisson(g *Generator, x device.Slice[uint32], mean float64) error {
	return fill(g, poisson, x, bits(mean))
}

// Bits fills x with random bits. Sobol64 and ScrambledSobol64 generate 64-bit numbers, and all
// other kinds generate 32-bit numbers. If the element type of x has the other size, the error is
// TypeError.
func Bits[T uint32 | uint64](g *Generator, x device.Slice[T]) error {
	var zero T
	f := generate
	if _, long := any(zero).(uint64); long {
		f = generateLong
	}
	return fill(g, f, x)
}
