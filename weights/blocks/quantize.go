package blocks

import (
	"errors"
	"fmt"

	"github.com/gopherwarp/gopherwarp/dtype"
)

// ErrNotFinite is the error of weights that cannot be quantized: NaN, infinity, or a number so large that the scale does not fit in a
// float16.
var ErrNotFinite = errors.New("blocks: weight is not finite or too large")

// The quantizers below are ggml's reference algorithms (quantize_row_q4_0_ref and its siblings in ggml-quants.c): they round to the nearest
// multiple of the scale, with halves away from zero or up, and do not search for the scale with the smallest error.

// QuantizeQ4_0 returns the weights as a block. The weight of greatest magnitude becomes q = 0.
func QuantizeQ4_0(w *[Size]float32) (b Q4_0, err error) {
	extreme := w[0]
	for _, x := range w {
		if magnitude(x) > magnitude(extreme) {
			extreme = x
		}
	}
	d := extreme / -8
	inverse := reciprocal(d)
	for i := range b.Q {
		low := nearest(float32(w[i]*inverse) + 8.5)
		high := nearest(float32(w[i+Size/2]*inverse) + 8.5)
		b.Q[i] = low | high<<4
	}
	b.D = dtype.F16From32(d)
	return b, check(w, b.D)
}

// QuantizeQ4_1 returns the weights as a block. The smallest weight becomes q = 0 and the greatest q = 15.
func QuantizeQ4_1(w *[Size]float32) (b Q4_1, err error) {
	least, greatest := w[0], w[0]
	for _, x := range w {
		if x < least {
			least = x
		}
		if x > greatest {
			greatest = x
		}
	}
	d := (greatest - least) / 15
	inverse := reciprocal(d)
	for i := range b.Q {
		low := nearest(float32((w[i]-least)*inverse) + 0.5)
		high := nearest(float32((w[i+Size/2]-least)*inverse) + 0.5)
		b.Q[i] = low | high<<4
	}
	b.D, b.M = dtype.F16From32(d), dtype.F16From32(least)
	return b, check(w, b.D, b.M)
}

// QuantizeQ8_0 returns the weights as a block. The weight of greatest magnitude becomes q = 127 or -127.
func QuantizeQ8_0(w *[Size]float32) (b Q8_0, err error) {
	greatest := float32(0)
	for _, x := range w {
		greatest = max(greatest, magnitude(x))
	}
	d := greatest / 127
	inverse := reciprocal(d)
	for i, x := range w {
		b.Q[i] = awayFromZero(x * inverse)
	}
	b.D = dtype.F16From32(d)
	return b, check(w, b.D)
}

// check reports weights and scales that are not finite.
func check(w *[Size]float32, scales ...dtype.F16) error {
	for i, x := range w {
		if x-x != 0 {
			return fmt.Errorf("%w: weight %d is %v", ErrNotFinite, i, x)
		}
	}
	for _, s := range scales {
		if s.IsNaN() || s.IsInf(0) {
			return fmt.Errorf("%w: a scale of the block is %v", ErrNotFinite, s)
		}
	}
	return nil
}

// magnitude returns the absolute value of x.
func magnitude(x float32) float32 {
	if x < 0 {
		return -x
	}
	return x
}

// reciprocal returns 1/d, or 0 if d is 0 or so small that 1/d overflows: such a scale is 0 as a float16.
func reciprocal(d float32) float32 {
	if r := 1 / d; r-r == 0 {
		return r
	}
	return 0
}

// nearest returns the integer part of x, which includes 0.5 for rounding, from 0 to 15.
func nearest(x float32) uint8 { return uint8(min(max(x, 0), 15)) }

// awayFromZero returns x rounded to the nearest integer, with halves away from zero. Its magnitude is at most 127.5.
func awayFromZero(x float32) int8 {
	n := int8(min(magnitude(x), 127))
	if float32(magnitude(x)-float32(n)) >= 0.5 && n < 127 {
		n++
	}
	if x < 0 {
		return -n
	}
	return n
}
