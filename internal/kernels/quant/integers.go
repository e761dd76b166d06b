package quant

import (
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/math32"
)

// halfBlock is the number of weights of half a block.
const halfBlock = BlockSize / 2

// integers is how the integers of weights are in the planes of a block, and which scales they have.
type integers interface {
	planes(of fields) int32 // of a block
	halves() int            // scales of a block
	offset() bool           // whether blocks have minima
	// word returns what the function integer takes for weights 4j to 4j+3 of a half of a block. At is the index of the row's first plane.
	word(planes []uint32, at int, w wordOf, of fields) uint32
	integer(word uint32, i int) float32
	// scaling returns the scale and the minimum of the block or, if it has two scales, of a half.
	scaling(f factorArrays, at place, of fields) scaling
}

// wordOf is four weights of a half of a block.
type wordOf struct{ j, half int }

// factorArrays are the memory of a matrix that scales and minima are computed from.
type factorArrays struct {
	scales, minima []dtype.F16
	groups         []uint16
	factor         float32 // of minima
}

// place is a block of a tile, a row of the tile, and a half of the block.
type place struct{ block, lane, half int }

// scaling is a scale and a minimum.
type scaling struct{ scale, minimum float32 }

// mixed is the formats whose integers and scales are data. All products of a factor and an integer are exact: a float16 has 11 bits, and
// an integer of a group at most 7 without its sign.
type mixed struct{}

func (mixed) planes(of fields) int32 { return of.Planes }
func (mixed) halves() int            { return 2 }
func (mixed) offset() bool           { return true }

func (mixed) word(planes []uint32, at int, w wordOf, of fields) uint32 {
	lower, upper := planes[at+of.lower(w.j)*tileRows], uint32(0)
	if of.UpperMask != 0 {
		upper = of.upperBits(planes[at+of.upper(w.j)*tileRows], w)
	}
	return of.lowerBits(lower, w) | upper
}

func (mixed) integer(word uint32, i int) float32 {
	if i == 3 {
		return float32(int32(word >> 24))
	}
	return float32(int32(word >> (8 * i) & 255))
}

func (mixed) scaling(f factorArrays, at place, of fields) scaling {
	g := int32(f.groups[at.block*tileRows+at.lane])
	i := of.scale(at.block)*tileRows + at.lane
	return scaling{f.scales[i].Float32() * of.Group.scale(g, at.half), f.minima[i].Float32() * f.factor * of.Group.minimum(g, at.half)}
}

func (nibbles) planes(fields) int32 { return 4 }
func (nibbles) halves() int         { return 1 }

func (nibbles) word(planes []uint32, at int, w wordOf, _ fields) uint32 {
	return planes[at+w.j*tileRows] >> (4 * w.half)
}

func (nibbles) integer(word uint32, i int) float32 { return float32(int32(word >> (8 * i) & 15)) }

func (nibbles) scaling(f factorArrays, at place, _ fields) scaling {
	i := at.block*tileRows + at.lane
	return scaling{f.scales[i].Float32(), f.minima[i].Float32() * f.factor}
}

func (bytes) planes(fields) int32 { return 8 }
func (bytes) halves() int         { return 1 }

func (bytes) word(planes []uint32, at int, w wordOf, _ fields) uint32 {
	return planes[at+(4*w.half+w.j)*tileRows]
}

func (bytes) integer(word uint32, i int) float32 { return float32(int32(word<<(24-8*i)) >> 24) }

func (bytes) scaling(f factorArrays, at place, _ fields) scaling {
	return scaling{f.scales[at.block*tileRows+at.lane].Float32(), 0}
}

// weight returns weight i of a word. It has the same bits as in package weights/blocks, except the sign of zero, since only the sum with
// the minimum rounds.
func weight[I integers](s scaling, word uint32, i int) float32 {
	var q I
	if q.offset() {
		return math32.FMA(s.scale, q.integer(word, i), s.minimum)
	}
	return s.scale * q.integer(word, i)
}
