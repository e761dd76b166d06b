package quant

import (
	"math"

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
	planes(of fields) int32 // of a block
	words() int             // integers of a row of a block that a thread has
	upper(i int) int        // which plane thread i of a row has second
	shift(i int) uint32     // of which it skips the lowest bits
	halves() int            // scales of a block
	offset() bool           // whether blocks have minima
	grouped() bool          // whether the factors of blocks are products of two numbers
	// scale returns, if blocks have groups, the factors of two rows: the scales, then the minima or the scales of the second halves.
	scale(d, m [2]float32, groups uint32) numbers
	start() float32 // by which parts are too large
	unit() float32  // the weight of 1 in a part, before its scale
	parts(w [2]pair, m masks) parts
	count() int     // the number of parts
	half(i int) int // which half of the columns of a block part i has
}

// masks are the bits of integers in an integer of a plane. They are arguments of kernels, because an instruction that selects bits and
// sets others has room for one constant.
type masks struct{ Nibbles, Lower, Signs, Sixes uint32 }

// direct is a coding whose blocks have their own scales.
type direct struct{}

func (direct) scale(d, m [2]float32, _ uint32) numbers { return numbers{} }

// nibbles is the conversion of Q4_0 and Q4_1. An integer q of 4 bits becomes 1 + q/16.
type nibbles struct{ direct }

func (nibbles) words() int       { return 1 }
func (nibbles) upper(int) int    { return 0 }
func (nibbles) shift(int) uint32 { return 0 }
func (nibbles) offset() bool     { return true }
func (nibbles) start() float32   { return 1 }
func (nibbles) unit() float32    { return 16 }
func (nibbles) count() int       { return 2 }
func (nibbles) half(i int) int   { return i }

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
type bytes struct{ direct }

func (bytes) words() int       { return 2 }
func (bytes) upper(i int) int  { return 4 + i }
func (bytes) shift(int) uint32 { return 0 }
func (bytes) offset() bool     { return false }
func (bytes) start() float32   { return 0 }
func (bytes) unit() float32    { return 1 }
func (bytes) count() int       { return 4 }
func (bytes) half(i int) int   { return i / 2 }

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

func (grouped) words() int       { return 1 }
func (grouped) upper(int) int    { return 0 }
func (grouped) shift(int) uint32 { return 0 }
func (grouped) start() float32   { return 1 }
func (grouped) unit() float32    { return 16 }
func (grouped) count() int       { return 2 }
func (grouped) half(i int) int   { return i }

func (grouped) parts(w [2]pair, m masks) parts { return nibbles{}.parts(w, m) }

// scale multiplies the scales and the minima by the lower and the upper bytes.
func (grouped) scale(d, m [2]float32, g uint32) numbers {
	return numbers{d[0] * unsigned(g), d[1] * unsigned(g>>16), m[0] * unsigned(g>>8), m[1] * unsigned(g>>24)}
}

// sixes is the conversion of Q6_K. An integer q of 6 bits, which stands for q - 32, becomes 128 + q.
type sixes struct{}

func (sixes) planes(fields) int32 { return 6 }
func (sixes) words() int          { return 2 }
func (sixes) upper(i int) int     { return 4 + i&1 }
func (sixes) shift(i int) uint32  { return uint32(i) & 2 }
func (sixes) halves() int         { return 2 }
func (sixes) offset() bool        { return false }
func (sixes) grouped() bool       { return true }
func (sixes) start() float32      { return 128 + 32 }
func (sixes) unit() float32       { return 1 }
func (sixes) count() int          { return 2 }
func (sixes) half(i int) int      { return i }

// scale multiplies the scales by the integers of the first halves and of the second halves.
func (sixes) scale(d, _ [2]float32, g uint32) numbers {
	return numbers{d[0] * signed(g), d[1] * signed(g>>16), d[0] * signed(g>>8), d[1] * signed(g>>24)}
}

// parts joins the lower four and the upper two bits of the integers of each half.
func (sixes) parts(w [2]pair, m masks) (p parts) {
	const large = 0x43004300
	for row, low := range w[0] {
		high := w[1][row]
		for half := range 2 {
			x := low>>(4*half)&nibbled | high<<(4-4*half)&(twos<<4)
			p[half][row], p[half][2+row] = bits(x, m.Sixes, large), bits(x>>8, m.Sixes, large)
		}
	}
	return p
}

// unsigned and signed return the lowest byte as a number. With the bits of 2^23, a byte q is 2^23 + q: this is faster than a conversion.
func unsigned(x uint32) float32 { return math.Float32frombits(x&255|0x4b000000) - 1<<23 }
func signed(x uint32) float32   { return math.Float32frombits(x&255^0x4b000080) - (1<<23 + 128) }

// bits returns the two numbers with the selected bits of x in their mantissas.
func bits(x, mask, others uint32) gpu.Tile[dtype.BF16] {
	return gpu.Tile[dtype.BF16](x&mask | others)
}

// columns returns the columns of a half of a block.
func columns(x quad, half int) [2]gpu.Tile[dtype.BF16] {
	return [2]gpu.Tile[dtype.BF16]{gpu.Tile[dtype.BF16](x[2*half]), gpu.Tile[dtype.BF16](x[2*half+1])}
}
