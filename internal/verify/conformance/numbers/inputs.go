package numbers

import "math"

// edges returns the numbers of T at which arithmetic goes wrong if it does, and some others.
func edges[T integer]() []T {
	top := T(1) << (widthOf[T]() - 1)
	found := []T{0, 1, 2, 3, 7, 10, 16, 100, top, top - 1, top + 1, ^T(0), ^T(0) - 1, ^T(0) - 6}
	state := uint64(0x9e3779b97f4a7c15)
	for range 6 {
		state = state*6364136223846793005 + 1442695040888963407
		found = append(found, T(state>>23))
	}
	return found
}

// pairs returns each edge with each.
func pairs[T integer]() []pair[T] {
	var found []pair[T]
	for _, a := range edges[T]() {
		for _, b := range edges[T]() {
			found = append(found, pair[T]{a, b})
		}
	}
	return found
}

// shiftInputs returns each edge with counts up to and far beyond every width.
func shiftInputs[T integer]() []shiftInput[T] {
	var found []shiftInput[T]
	for _, x := range edges[T]() {
		for _, n := range []uint64{0, 1, 4, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 255, 256, 1 << 32, 1<<32 + 1, 1 << 63} {
			found = append(found, shiftInput[T]{x, n})
		}
	}
	return found
}

// reals returns zeros, infinities, a NaN, the ends of the ranges of float32 and float64, and others.
func reals() []float64 {
	found := []float64{
		0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5,
		math.MaxFloat64, math.SmallestNonzeroFloat64, math.MaxFloat32, math.SmallestNonzeroFloat32,
		-1e-40, 0x1p-126, 0x1p-1022, 0x1.fffffep-127, 16777216, 16777217, 1 << 53, 0.1, -0.3, 1e16, -123456.789,
	}
	for i := range 12 {
		found = append(found, math.Sin(float64(i*i))*math.Exp(float64(i-5)))
	}
	return found
}

func realPairs[T float]() []pair[T] {
	var found []pair[T]
	for _, a := range reals() {
		for _, b := range reals() {
			found = append(found, pair[T]{T(a), T(b)})
		}
	}
	return found
}
