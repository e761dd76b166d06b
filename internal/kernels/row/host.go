package row

import "github.com/gopherwarp/gopherwarp/dtype"

// Float64 returns x as a float64, which is exact.
func Float64[T Number](x T) float64 {
	switch x := any(x).(type) {
	case dtype.BF16:
		return x.Float64()
	case dtype.F16:
		return x.Float64()
	case float32:
		return float64(x)
	}
	panic("BUG: row: no such element type")
}

// From64 returns x rounded to an element.
func From64[T Number](x float64) T {
	var y T
	switch y := any(&y).(type) {
	case *dtype.BF16:
		*y = dtype.BF16From64(x)
	case *dtype.F16:
		*y = dtype.F16From64(x)
	case *float32:
		*y = float32(x)
	}
	return y
}

// Float64s returns the elements of x as float64 numbers.
func Float64s[T Number](x []T) []float64 {
	list := make([]float64, len(x))
	for i, v := range x {
		list[i] = Float64(v)
	}
	return list
}

// Rounding returns the largest relative error of a normal number that is rounded to an element, and the largest error of a
// subnormal one.
func Rounding[T Number]() (relative, absolute float64) {
	switch any(*new(T)).(type) {
	case dtype.BF16:
		return 0x1p-8, 0x1p-134
	case dtype.F16:
		return 0x1p-11, 0x1p-25
	}
	return 0x1p-24, 0x1p-150
}
