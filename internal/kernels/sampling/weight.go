package sampling

import (
	"math"
	"math/bits"

	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/math32"
)

const (
	one      = 1 << 26       // the weight of the greatest logit
	excluded = math.MinInt32 // the key of NaN and of what the mask excludes
	lowest   = -0x7f800001   // the key of negative infinity; tokens up to it are excluded
)

// keyOf returns an integer that is ordered as z is. The key of NaN is the lowest.
func keyOf(z float32) int32 {
	if z != z {
		return excluded
	}
	b := int32(math.Float32bits(z + 0)) // of -0 the same as of 0
	return b ^ int32(uint32(b>>31)>>1)
}

// logitOf returns the number of a key.
func logitOf(key int32) float32 {
	return math.Float32frombits(uint32(key ^ int32(uint32(key>>31)>>1)))
}

// weightOf returns the weight of logit z, when the greatest is top: one for top itself, which may be infinite.
func weightOf(z, top, inverse float32) int32 {
	if z == top {
		return one
	}
	return int32(math32.Exp((z-top)*inverse)*one + 0.5)
}

// leastWeight returns the least weight that MinP keeps: of all that may be drawn at least 1, and at most that of the greatest logit.
func (p *Params) leastWeight() int32 {
	if !(p.MinP > 0) {
		return 1
	}
	return max(1, int32(min(p.MinP, 1)*one))
}

// share returns the sum of weights that TopP keeps at least, of total.
func (p *Params) share(total int64) int64 {
	return max(1, int64(float64(p.TopP)*float64(total)))
}

// draw returns a number from 0 to total-1: which unit of the sum of weights is drawn.
func draw(seed uint64, position int32, total int64) int64 {
	r := gpu.Philox4x32([4]uint32{uint32(position)}, [2]uint32{uint32(seed), uint32(seed >> 32)})
	high, _ := bits.Mul64(uint64(r[1])<<32|uint64(r[0]), uint64(total))
	return int64(high)
}

// logprob returns the logarithm of the probability of logit z, given the greatest logit and the sum of all weights at temperature 1.
func logprob(z, top float32, total int64) float32 {
	if z == top {
		return -math32.Log(float32(total) / one)
	}
	return z - top - math32.Log(float32(total)/one)
}

// rankOfKey returns an integer without sign that is ordered as keys are, and keyOfRank its inverse.
func rankOfKey(key int32) uint32  { return uint32(key) ^ 1<<31 }
func keyOfRank(rank uint32) int32 { return int32(rank ^ 1<<31) }

// rankOfWeight returns an integer that is ordered as positive weights are and has as many values for each power of 2, and weightOfRank
// its inverse. Weights are numbers in float32, so they are exact.
func rankOfWeight(w int32) uint32    { return math.Float32bits(float32(w)) - rankBase }
func weightOfRank(rank uint32) int32 { return int32(math.Float32frombits(rank + rankBase)) }

// rankBase is the representation of 1 in float32.
const rankBase = 0x3f800000
