package main

import (
	"math"

	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

// span is the number of consecutive inputs of a thread.
const span = 1024

// finding is the result of a thread: the largest error in ULP, the bits of the input that has it,
// and a checksum of all values.
type finding struct {
	err float64
	at  uint32
	sum uint32
}

// survey compares a function with its reference. The inputs are the float32 numbers whose
// bits are first, first+step, first+2*step and so on.
//
//gpu:kernel
//gpu:contract off
func survey(t gpu.Thread, which int, first, step uint32, out []finding) {
	i := t.GlobalX()
	if i >= len(out) {
		return
	}
	var f finding
	bits := first + uint32(i)*span*step
	for range span {
		x := math.Float32frombits(bits)
		y := value(which, x)
		f.sum = mix(f.sum, y)
		if d := distance(y, reference(which, float64(x))); d > f.err {
			f.err, f.at = d, bits
		}
		bits += step
	}
	out[i] = f
}

// sums is like Survey, but stores only a checksum of the values of each thread, and is several times as
// fast. The compiler may fuse multiplications and additions in Sums; the functions of math32 must
// return the same bits even then.
//
//gpu:kernel
func sums(t gpu.Thread, which int, first, step uint32, out []uint32) {
	i := t.GlobalX()
	if i >= len(out) {
		return
	}
	var sum uint32
	bits := first + uint32(i)*span*step
	for range span {
		sum = mix(sum, value(which, math.Float32frombits(bits)))
		bits += step
	}
	out[i] = sum
}

// mix adds the bits of y to a checksum that depends on the order of the values. All NaNs count as
// equal.
func mix(sum uint32, y float32) uint32 {
	bits := math.Float32bits(y)
	if y != y {
		bits = 0x7fc00000
	}
	return (sum ^ bits) * 0x01000193
}

// distance returns the difference between y and the true value in units in the last place of the
// true value. It treats an infinity as 2**128, the power of two after the largest float32.
func distance(y float32, want float64) float64 {
	if y != y || want != want {
		if y != y && want != want {
			return 0
		}
		return math.Inf(1)
	}
	got := max(-0x1p128, min(float64(y), 0x1p128))
	want = max(-0x1p128, min(want, 0x1p128))
	if want == 0 && math32.Signbit(y) != math.Signbit(want) {
		return math.Inf(1)
	}
	exponent := max(math.Float64bits(want)&(0x7ff<<52), (1023-126)<<52)
	return math.Abs(got-want) / math.Float64frombits(exponent-23<<52)
}
