package quant

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/gpu"
)

// The tensor cores' bfloat16 products of the weights' integers and of a vector are exact, because the vector is split into parts of 8
// bits, and sums are float32. A block's scale counts once, times the sum. Integers become bfloat16 numbers without arithmetic: their bits
// are those of the mantissa of a number whose exponent is constant.

// pair is an integer of a plane for two neighbouring rows.
type pair = [2]uint32

// matrix is a bfloat16 matrix of 16 rows and 16 columns as a thread's share for gpu.MMA. Row i of the upper half is row 2i of a tile, and
// row i of the lower half is row 2i+1.
type matrix = [4]gpu.Tile[dtype.BF16]

// parts are the matrices whose sum is a block, as many as the format needs.
type parts [4]matrix

// coding is a format's conversion to bfloat16.
type coding interface {
	words() int    // integers of a row of a block that a thread has
	offset() bool  // whether parts are too large by 1, and the blocks have minima
	unit() float32 // the weight of 1 in a part, before its scale
	parts(w [2]pair, m masks) parts
	count() int     // the number of parts
	half(i int) int // which half of the columns of a block part i has
}

// masks are the bits of integers in an integer of a plane. They are arguments of kernels, because an instruction that selects bits and
// sets others has room for one constant.
type masks struct{ Nibbles, Lower, Signs uint32 }

// nibbles is the conversion of Q4_0 and Q4_1. An integer q of 4 bits becomes 1 + q/16.
type nibbles struct{}

func (nibbles) words() int     { return 1 }
func (nibbles) offset() bool   { return true }
func (nibbles) unit() float32  { return 16 }
func (nibbles) count() int     { return 2 }
func (nibbles) half(i int) int { return i }

// parts returns the lower halves of the bytes and the upper halves.
func (nibbles) parts(w [2]pair, m masks) (p parts) {
	const one = 0x3f803f80
	for row, x := range w[0] {
		p[0][row], p[0][2+row] = bits(x<<3, m.Nibbles, one), bits(x>>5, m.Nibbles, one)
		p[1][row], p[1][2+row] = bits(x>>1, m.Nibbles, one), bits(x>>9, m.Nibbles, one)
	}
	return p
}

// bytes is the conversion of Q8_0. A signed integer becomes the sum of two numbers: 128 plus its lower 7 bits, and -128 or, if it is
// negative, -256.
type bytes struct{}

func (bytes) words() int     { return 2 }
func (bytes) offset() bool   { return false }
func (bytes) unit() float32  { return 1 }
func (bytes) count() int     { return 4 }
func (bytes) half(i int) int { return i / 2 }

// parts returns the positive and the negative numbers for the first half of the columns, then for the second half.
func (bytes) parts(w [2]pair, m masks) (p parts) {
	const large, negative = 0x43004300, 0xc300c300
	for half := range w {
		for row, x := range w[half] {
			p[2*half][row], p[2*half][2+row] = bits(x, m.Lower, large), bits(x>>8, m.Lower, large)
			p[2*half+1][row], p[2*half+1][2+row] = bits(x, m.Signs, negative), bits(x>>8, m.Signs, negative)
		}
	}
	return p
}

// bits returns the two numbers with the selected bits of x in their mantissas.
func bits(x, mask, others uint32) gpu.Tile[dtype.BF16] {
	return gpu.Tile[dtype.BF16](x&mask | others)
}

// columns returns the columns of a half of a block.
func columns(x quad, half int) [2]gpu.Tile[dtype.BF16] {
	return [2]gpu.Tile[dtype.BF16]{gpu.Tile[dtype.BF16](x[2*half]), gpu.Tile[dtype.BF16](x[2*half+1])}
}
