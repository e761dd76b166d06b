package selftest

import (
	"errors"
	"fmt"
	"math"

	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// mixFloat uses each operator of floats. The conversions forbid to round a product and a sum
// once, on every machine.
func mixFloat[T float32 | float64](a, b T) T {
	c := T(a*b) + a
	c -= T(b / (T(a*a) + 1))
	if a < b || b != b {
		c = -c
	}
	return c + max(a, 2) - min(b, -3)
}

//gpu:kernel
func float32s(t gpu.Thread, a, b, c []float32) {
	if i := t.GlobalX(); i < len(c) {
		c[i] = mixFloat(a[i], b[i])
	}
}

//gpu:kernel
func float64s(t gpu.Thread, a, b, c []float64) {
	if i := t.GlobalX(); i < len(c) {
		c[i] = mixFloat(a[i], b[i])
	}
}

func checkFloat32(s *session) error { return checkFloats(s, Float32s) }
func checkFloat64(s *session) error { return checkFloats(s, Float64s) }

func checkFloats[T float32 | float64](s *session, launch binary[T]) error {
	var numbers []T
	for _, x := range reals() {
		numbers = append(numbers, T(x))
	}
	return checkPairs(s, launch, pairsOf(numbers, mixFloat[T]))
}

// reals returns zeros, infinities, a NaN, numbers that are subnormal as float32 and others.
func reals() []float64 {
	found := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 1e-40, -3e-42, 3e38, 1, -1}
	for i := range 20 {
		found = append(found, math.Sin(float64(i*i))*math.Exp(float64(i-8)))
	}
	return found
}

// converted is a number in other types.
type converted struct {
	i8  int8
	u16 uint16
	i32 int32
	i64 int64
	f32 float32
	f64 float64
}

// convert converts x, which all types can hold, to and fro.
func convert(x float64) converted {
	return converted{
		i8: int8(x), u16: uint16(x), i32: int32(-x), i64: int64(x * 1e9),
		f32: float32(x) / 3, f64: float64(float32(x)) + float64(int32(x)),
	}
}

//gpu:kernel
func conversions(t gpu.Thread, x []float64, y []converted) {
	if i := t.GlobalX(); i < len(x) {
		y[i] = convert(x[i])
	}
}

func checkConversions(s *session) error {
	var x []float64
	var want []converted
	for i := range 500 {
		x = append(x, float64(i)/4)
		want = append(want, convert(float64(i)/4))
	}
	dx, err := upload(s, x)
	if err != nil {
		return err
	}
	dy, err := upload(s, make([]converted, len(x)))
	if err != nil {
		return err
	}
	if err := Conversions(s.stream, device.Cover(len(x), 64), dx, dy); err != nil {
		return err
	}
	return expect(s, dy, want)
}

// functions is how many functions of package math are checked.
const functions = 8

// evaluate stores their values at x in y.
func evaluate(x float64, y *[functions]float64) {
	y[0] = math.Sqrt(x)
	y[1] = math.Floor(x)
	y[2] = math.Abs(-x)
	y[3] = math.Sin(x)
	y[4] = math.Atan(x)
	y[5] = math.Cbrt(x)
	y[6] = math.Exp(-x)
	y[7] = math.Log(x)
}

//gpu:kernel
//gpu:contract off
func mathFunctions(t gpu.Thread, x []float64, y [][functions]float64) {
	if i := t.GlobalX(); i < len(x) {
		evaluate(x[i], &y[i])
	}
}

// checkMath allows the last bits to differ: on some machines package math is in assembly,
// or Go rounds a product and a sum once.
func checkMath(s *session) error {
	const tolerance = 1e-14
	var x []float64
	for i := range 300 {
		x = append(x, 0.01+float64(i)/8)
	}
	dx, err := upload(s, x)
	if err != nil {
		return err
	}
	dy, err := upload(s, make([][functions]float64, len(x)))
	if err != nil {
		return err
	}
	if err := MathFunctions(s.stream, device.Cover(len(x), 64), dx, dy); err != nil {
		return err
	}
	got, err := download(s, dy)
	if err != nil {
		return err
	}
	var errs []error
	for i := range x {
		var want [functions]float64
		evaluate(x[i], &want)
		for f := range want {
			if d := math.Abs(got[i][f] - want[f]); !(d <= tolerance*max(1, math.Abs(want[f]))) {
				errs = append(errs, fmt.Errorf("function %d of %v is %v, want %v", f, x[i], got[i][f], want[f]))
			}
		}
	}
	return errors.Join(errs[:min(len(errs), 3)]...)
}
