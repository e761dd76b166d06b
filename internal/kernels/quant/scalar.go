package quant

import (
	"math"

	"github.com/gopherwarp/gopherwarp/math32"
)

// scalar is a format's conversion to float32. A unit is four planes: a block in formats of 4 bits, and half a block in Q8_0.
type scalar interface {
	coding
	quads() int // columns of a unit, in quads
	// numbers returns the weights in an integer of plane j that quad j of a unit multiplies or, if upper is 1, quad 4+j.
	numbers(w uint32, upper int, c casts) numbers
}

// casts are the bits that make integers float32 numbers, and that invert an integer's sign bit: for the integers of even and of odd
// columns. They are arguments of kernels for the same reason as masks.
type casts struct{ Even, Odd uint32 }

func (nibbles) quads() int { return 8 }

// numbers returns the lower or the upper halves of the bytes. With the bits of 2^23, an integer of 4 bits at bit 4k is 2^23 + 16^k q.
func (nibbles) numbers(w uint32, upper int, c casts) (v numbers) {
	for i := range v {
		bit := (8*i + 4*upper) % 16
		q := math.Float32frombits(w>>(8*i&16)&(15<<bit) | c.Even)
		v[i] = math32.FMA(q, power(-bit), -power(23-bit))
	}
	return v
}

func (bytes) quads() int { return 4 }

// numbers returns the bytes. With the bits of 2^23 and the opposite sign bit, an integer of 8 bits at bit k is 2^23 + 2^k (q + 128).
func (bytes) numbers(w uint32, _ int, c casts) (v numbers) {
	for i := range v {
		bit, cast := i%2*8, c.Even
		if i%2 == 1 {
			cast = c.Odd
		}
		q := math.Float32frombits(w>>(8*i&16)&(255<<bit) ^ cast)
		v[i] = math32.FMA(q, power(-bit), -power(23-bit)-128)
	}
	return v
}

// power returns 2^n.
func power(n int) float32 { return math.Float32frombits(uint32(127+n) << 23) }
