package matvec

import (
	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

// numbers are eight numbers of a float32 vector.
type numbers = [perQuad]float32

// batch is the number of quads that a thread has requested at once when a block copies a vector to shared memory.
const batch = 4

// stage copies a vector to shared memory.
func stage(t gpu.Thread, x, from []quad) {
	from = from[:len(x)]
	for first := t.ThreadX(); first < len(x); first += batch * t.BlockDimX() {
		var v [batch]quad
		for j := range batch {
			v[j] = from[min(first+j*t.BlockDimX(), len(x)-1)] // without a branch, so that all loads come first
		}
		for j := range batch {
			if i := first + j*t.BlockDimX(); i < len(x) {
				x[i] = v[j]
			}
		}
	}
}

// normalize replaces the factors in x by the products with from, whose root mean square becomes 1 before (Zhang and
// Sennrich, "Root Mean Square Layer Normalization"). Each block does it for itself: that is faster than another kernel.
func normalize(t gpu.Thread, x []quad, from []numbers, epsilon float32) {
	from = from[:len(x)]
	parts := gpu.Shared[[warpSize]float32](t)
	var sum float32
	for first := t.ThreadX(); first < len(x); first += 2 * t.BlockDimX() {
		second, weight := first+t.BlockDimX(), float32(1)
		if second >= len(x) {
			second, weight = first, 0 // without a branch around the loads, as above
		}
		a, b := from[first], from[second]
		sum += squares(a) + squares(b)*weight
	}
	sum = total(t, sum)
	if t.Lane() == 0 {
		parts[t.Warp()] = sum
	}
	t.Sync()
	sum = 0
	for i := range t.BlockDimX() / warpSize {
		sum += parts[i]
	}
	scale := math32.Rsqrt(sum/float32(len(x)*perQuad) + epsilon)
	for i := t.ThreadX(); i < len(x); i += t.BlockDimX() {
		gain := widened(x[i])
		for j, v := range from[i] {
			gain[j] *= v * scale
		}
		x[i] = quad{packed(gain[0], gain[1]), packed(gain[2], gain[3]), packed(gain[4], gain[5]), packed(gain[6], gain[7])}
	}
	t.Sync()
}

// squares returns the sum of the squares.
func squares(v numbers) (sum float32) {
	for _, x := range v {
		sum += x * x
	}
	return sum
}
