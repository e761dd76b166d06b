package prim

import (
	"math"
	"reflect"
)

// Number is the constraint of the elements that this package computes with and sorts.
type Number interface {
	~int | ~int32 | ~int64 | ~uint | ~uint32 | ~uint64 | ~float32 | ~float64
}

// number lists the types for which kernels are compiled. They represent all types of Number.
type number interface {
	int32 | int64 | uint32 | uint64 | float32 | float64
}

// pack is the constraint of 16-byte arrays of T, which a thread reads or writes at once.
type pack[T number] interface{ [2]T | [4]T }

// Kernels inspect T by arithmetic, which the compiler folds. A type switch would need interfaces.

// isFloat reports whether T is a floating-point type.
func isFloat[T number]() bool {
	one := T(1)
	return one/2 != 0
}

// isWide reports whether T has 8 bytes rather than 4.
func isWide[T number]() bool {
	if isFloat[T]() {
		x := T(1 << 24) // the first number whose successor is not a float32
		return x+1 != x
	}
	x := T(1 << 16)
	return x*x != 0
}

// toBits returns the bits of v.
func toBits[T number](v T) uint64 {
	switch {
	case !isFloat[T]() && isWide[T]():
		return uint64(v)
	case !isFloat[T]():
		return uint64(uint32(v))
	case isWide[T]():
		return math.Float64bits(float64(v))
	}
	return uint64(math.Float32bits(float32(v)))
}

// fromBits returns the T with the bits b.
func fromBits[T number](b uint64) T {
	switch {
	case !isFloat[T]():
		return T(b)
	case isWide[T]():
		return T(math.Float64frombits(b))
	}
	return T(math.Float32frombits(uint32(b)))
}

// kindOf returns the kind of the type of number that has the representation of T.
func kindOf[T any]() reflect.Kind {
	switch k := reflect.TypeFor[T]().Kind(); k {
	case reflect.Int:
		return reflect.Int64
	case reflect.Uint:
		return reflect.Uint64
	default:
		return k
	}
}
