package optimizer

import (
	"math"
	"math/bits"
)

// The moments of AdamW8 are numbers of 8 bits: dynamic tree quantization of Dettmers et al., "8-bit Optimizers via Block-wise Quantization".
// A block of moments has the largest magnitude of them as its scale; a code is the number of a level, by which the scale is multiplied.
// Levels are dense in the highest of seven decades and become sparse to the lowest: the levels of a decade are the middles of equal parts
// of the range from 0.1 to 1, and each decade has twice as many as the next lower one. First moments have levels of both signs, second
// moments twice as many positive ones.
const (
	levels  = 256
	decades = 7
)

// signed is the number of parts of the lowest decade for moments with a sign, as a power of two, and unsigned that of moments without one.
const (
	signed   = 0
	unsigned = 1
)

// level returns the level with a number: 0 for a number below the lowest decade, then the levels of the decades, then 1. The levels of a
// decade are numbered from the number of its parts.
func level(number, lowest int) float64 {
	parts := bits.Len(uint(number)) - 1 // as a power of two
	switch decade := parts - lowest; {
	case number == 0 || decade < 0:
		return 0
	case decade == decades:
		return 1
	default:
		n := float64(int(1) << parts)
		return math.Pow10(decade-decades+1) * (0.1 + 0.9*(float64(number)-n+0.5)/n)
	}
}

// zero is the code of the signed level 0.
const zeroCode = 127

// Levels returns the levels of the codes of first moments, and those of second moments.
func Levels() (first, second [levels]float32) {
	for code := range levels {
		if number := code - zeroCode; number >= 0 {
			first[code] = float32(level(number, signed))
		} else {
			first[code] = float32(-level(-number, signed))
		}
		second[code] = float32(level(code+1, unsigned))
	}
	return first, second
}

// cell has the numbers that find the level of a magnitude between two powers of two. There is at most one decade that begins between them.
type cell struct {
	Border float32 // magnitudes from here on are nearest to a level of the higher decade
	Parts  float32 // of the lower decade
	Low    float32 // the parts of the lower decade in a range of 1, and those of the higher one
	High   float32
}

const (
	cells      = 32  // for magnitudes of less than 512, of which those of at least 1 have the level 1
	lowestCell = 104 // the biased exponent of the magnitudes of the first cell, for which the level is 0
)

// cellsOf returns the cells of moments.
func cellsOf(lowest int) (list [cells]cell) {
	border := func(decade int) float64 { // in the middle of two levels
		first := 1 << (decade + lowest)
		return (level(first-1, lowest) + level(first, lowest)) / 2
	}
	parts := func(decade int) float64 { return math.Ldexp(1, decade+lowest) }
	perUnit := func(decade int) float32 {
		if decade < 0 || decade == decades {
			return 0 // there is a single level
		}
		return float32(parts(decade) / 0.9 * math.Pow10(decades-1-decade))
	}
	decade := -1 // of the lower bound of the cell
	for i := range list {
		c := cell{Border: 4, Parts: float32(parts(decade)), Low: perUnit(decade)}
		if end := math.Ldexp(1, i+1+lowestCell-127); decade < decades && border(decade+1) < end {
			decade++
			c.Border, c.High = float32(border(decade)), perUnit(decade)
		}
		list[i] = c
	}
	return list
}

// Tables returns the tables that AdamW8 needs.
func Tables() []float32 {
	first, second := Levels()
	list := append(first[:], second[:]...)
	for _, lowest := range []int{signed, unsigned} {
		for _, c := range cellsOf(lowest) {
			list = append(list, c.Border, c.Parts, c.Low, c.High)
		}
	}
	return list
}

// TableLen is the number of elements of Tables.
const TableLen = 2*levels + 2*4*cells
