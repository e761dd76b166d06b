package numbers

import (
	"math"

	"github.com/gopherwarp/gopherwarp/gpu"
)

// limit is a number in types of all widths, as memory has them.
type limit struct {
	Long  int64
	Wide  uint64
	Word  int32
	Words uint32
	Half  uint16
	Byte  uint8
}

// limited has a behaviour a field of what is right of most numbers and wrong of few: those at the ends of a
// type, or of a divisor's multiples.
type limited struct {
	TimesMinusOne, ByteTwiceExtended, HalfTwiceExtended, QuotientsOfWord, QuotientsOfLong, RemaindersOfLong int64
	QuotientsByNegative, RemaindersByNegative                                                               int64
	BehindTheLastWord, DoubleOfWord                                                                         uint64
	LowOfShiftedBy32, LowOfShiftedSum                                                                       uint32
}

func limitsOf(n limit) (r limited) {
	r.TimesMinusOne = int64(n.Word*-1) + n.Long*-1*3
	r.ByteTwiceExtended, r.HalfTwiceExtended = int64(int16(n.Byte)), int64(int32(n.Half))
	w, l := n.Word, n.Long
	r.QuotientsOfWord = int64(w/3) ^ int64(w/5)<<1 ^ int64(w/7)<<2 ^ int64(w/9)<<3 ^ int64(w/25)<<4 ^ int64(w/125)<<5 ^ int64(w/641)<<6 ^ int64(w/1000003)<<7
	r.QuotientsOfLong = l/3 ^ l/5<<1 ^ l/7<<2 ^ l/9<<3 ^ l/25<<4 ^ l/125<<5 ^ l/641<<6 ^ l/1000003<<7
	r.RemaindersOfLong = l%3 ^ l%7<<8 ^ l%1000003<<16
	r.QuotientsByNegative = l/-3 ^ l/-7<<2 ^ int64(w/-5)<<4 ^ int64(w/-4)<<6 ^ l/-16<<8
	r.RemaindersByNegative = l%-3 ^ l%-7<<8 ^ int64(w%-5)<<16 ^ int64(w%-4)<<24
	r.BehindTheLastWord, r.DoubleOfWord = uint64(n.Words)+1, uint64(n.Words)*2
	r.LowOfShiftedBy32 = uint32(n.Wide<<32) + uint32(n.Wide<<35)
	r.LowOfShiftedSum = uint32((n.Wide*3)<<33 + n.Wide)
	return r
}

//gpu:kernel
func limits(t gpu.Thread, in []limit, out []limited) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = limitsOf(in[i])
	}
}

// numbersAtLimits are the ends of each type, and of the multiples of what limitsOf divides by.
func numbersAtLimits() (list []limit) {
	add := func(n int64) {
		for _, n := range []int64{n - 1, n, n + 1, -n} {
			list = append(list, limit{n, uint64(n), int32(n), uint32(n), uint16(n), uint8(n)})
		}
	}
	for _, n := range []int64{0, math.MaxInt8, math.MaxUint8, math.MaxInt16, math.MaxUint16, math.MaxInt32, math.MaxUint32, math.MaxInt64, 1 << 40} {
		add(n)
	}
	for _, c := range []int64{3, 5, 7, 9, 25, 125, 641, 1000003} {
		add(math.MaxInt32 / c * c)
		add(math.MaxInt64 / c * c)
	}
	return list
}
