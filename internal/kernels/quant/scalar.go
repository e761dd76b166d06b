package quant

import (
	"math"

	"github.com/gopherwarp/gopherwarp/math32"
)

// scalar is a format's conversion to float32. A unit is a block or, in Q8_0, half a block.
type scalar interface {
	planes(of fields) int32               // of a block
	quads() int                           // columns of a unit, in quads
	halves() int                          // scales of a block
	offset() bool                         // whether blocks have minima
	grouped() bool                        // whether the factors of blocks are products of two numbers
	scaleOf(block int32, of fields) int32 // the number of the scale of a block, if they are
	lower(j int, of fields) int           // which plane of a unit a lane's plane j is
	uppers() int                          // planes with upper bits
	numbers(b *share, w weightsOf, c casts, of fields) numbers
	factors(b *share, half int, of fields) (scale, minimum numbers)
}

// weightsOf is a word of a unit in one of a lane's rows.
type weightsOf struct {
	wordOf
	row int
}

// casts are the bits that make integers float32 numbers, and that invert an integer's sign bit: for the integers of even and of odd
// columns. They are arguments of kernels for the same reason as masks.
type casts struct{ Even, Odd uint32 }

func (nibbles) quads() int                { return 8 }
func (nibbles) grouped() bool             { return false }
func (nibbles) lower(j int, _ fields) int { return j }
func (nibbles) uppers() int               { return 0 }

func (nibbles) scaleOf(block int32, _ fields) int32 { return block }

// numbers returns the lower or the upper halves of the bytes. With the bits of 2^23, an integer of 4 bits at bit 4k is 2^23 + 16^k q.
func (nibbles) numbers(b *share, at weightsOf, c casts, _ fields) (v numbers) {
	w := b.planes[at.j][at.row]
	for i := range v {
		bit := (8*i + 4*at.half) % 16
		q := math.Float32frombits(w>>(8*i&16)&(15<<bit) | c.Even)
		v[i] = math32.FMA(q, power(-bit), -power(23-bit))
	}
	return v
}

func (nibbles) factors(b *share, _ int, _ fields) (scale, minimum numbers) {
	return fourOf(b.d), fourOf(b.m)
}

func (bytes) quads() int                { return 4 }
func (bytes) grouped() bool             { return false }
func (bytes) lower(j int, _ fields) int { return j }
func (bytes) uppers() int               { return 0 }

func (bytes) scaleOf(block int32, _ fields) int32 { return block }

// numbers returns the bytes. With the bits of 2^23 and the opposite sign bit, an integer of 8 bits at bit k is 2^23 + 2^k (q + 128).
func (bytes) numbers(b *share, at weightsOf, c casts, _ fields) (v numbers) {
	w := b.planes[at.j][at.row]
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

func (bytes) factors(b *share, _ int, _ fields) (scale, minimum numbers) {
	return fourOf(b.d), numbers{}
}

// grouped is the conversion of Q4_K, whose integers are in planes as those of Q4_1.
type grouped struct{}

func (grouped) planes(of fields) int32    { return nibbles{}.planes(of) }
func (grouped) quads() int                { return nibbles{}.quads() }
func (grouped) halves() int               { return 1 }
func (grouped) offset() bool              { return true }
func (grouped) grouped() bool             { return true }
func (grouped) uppers() int               { return 0 }
func (grouped) lower(j int, _ fields) int { return j }

func (grouped) scaleOf(block int32, _ fields) int32 { return block >> 3 }

func (grouped) numbers(b *share, at weightsOf, c casts, of fields) numbers {
	return nibbles{}.numbers(b, at, c, of)
}

// factors multiplies those of the superblock by the lower and the upper byte of the group.
func (grouped) factors(b *share, _ int, _ fields) (scale, minimum numbers) {
	scale, minimum = fourOf(b.d), fourOf(b.m)
	for r := range scale {
		g := groupOf(b, r)
		scale[r] *= float32(g & 255)
		minimum[r] *= float32(g >> 8)
	}
	return scale, minimum
}

// groupOf returns the group of a lane's row.
func groupOf(b *share, row int) int32 { return int32(b.g[row/2] >> (row % 2 * 16) & 0xffff) }

func (mixed) quads() int                 { return 8 }
func (mixed) grouped() bool              { return true }
func (mixed) uppers() int                { return 2 }
func (mixed) lower(j int, of fields) int { return of.lower(j) }

func (mixed) scaleOf(block int32, of fields) int32 { return int32(of.scale(int(block))) }

// numbers returns the bytes of the joined planes.
func (mixed) numbers(b *share, at weightsOf, c casts, of fields) (v numbers) {
	w := of.lowerBits(b.planes[at.j][at.row], at.wordOf) | of.upperBits(b.upper[at.j%2][at.row], at.wordOf)
	for i := range v {
		bit := i % 2 * 8
		q := math.Float32frombits(w>>(8*i&16)&(255<<bit) | c.Even)
		v[i] = math32.FMA(q, power(-bit), -power(23-bit))
	}
	return v
}

func (mixed) factors(b *share, half int, of fields) (scale, minimum numbers) {
	scale, minimum = fourOf(b.d), fourOf(b.m)
	for r := range scale {
		scale[r] *= of.Group.scale(groupOf(b, r), half)
		minimum[r] *= of.Group.minimum(groupOf(b, r), half)
	}
	return scale, minimum
}

// power returns 2^n.
func power(n int) float32 { return math.Float32frombits(uint32(127+n) << 23) }
