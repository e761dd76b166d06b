package numbers

import (
	"math/bits"

	"github.com/gopherwarp/gopherwarp/gpu"
)

// shifted has a behaviour of shifts a field.
type shifted[T integer] struct {
	Left, Right, LeftByByte, RightByByte, LeftByWord, RightByWord          T
	LeftBySigned, RightBySigned, LeftByWidth, RightByWidth, LeftByMore     T
	RightByMore, LeftByOne, RightByOne, LeftByConstant, RightByConstant    T
	LeftByHuge, RightByHuge, LeftAndBack, RightAndBack, OfConstant         T
	LeftTwice, RightTwice, Rotated, SignSpread, LowMask, HighBit           T
	Masked, Assigned, AssignedRight, InLoop, Interleaved, ParityByFolding  T
	CountByClearing, ReverseByHalves, FieldExtracted, FieldInserted, Packs T
}

// shiftInput is a number and counts for it.
type shiftInput[T integer] struct {
	X T
	N uint64
}

func shift[T integer](in shiftInput[T]) (r shifted[T]) {
	x, n := in.X, in.N
	r.Left, r.Right = x<<n, x>>n
	r.LeftByByte, r.RightByByte = x<<uint8(n), x>>uint8(n)
	r.LeftByWord, r.RightByWord = x<<uint32(n), x>>uint32(n)
	r.LeftBySigned, r.RightBySigned = x<<int16(n&0x7fff), x>>int(n&0x7fffffff)
	width := widthOf[T]()
	r.LeftByWidth, r.RightByWidth = x<<width, x>>width
	r.LeftByMore, r.RightByMore = x<<(width+n%70), x>>(width+n%70)
	r.LeftByOne, r.RightByOne, r.LeftByConstant, r.RightByConstant = x<<1, x>>1, x<<5, x>>5
	r.LeftByHuge, r.RightByHuge = x<<(n|1<<32), x>>(n|1<<63)
	r.LeftAndBack, r.RightAndBack = x<<3>>3, x>>3<<3
	r.OfConstant = 1<<n | 3>>n
	r.LeftTwice, r.RightTwice = x<<(n%5)<<2, x>>(n%5)>>2
	k := n % width
	r.Rotated = x<<k | x>>(width-k)
	r.SignSpread = x >> (width - 1)
	r.LowMask = T(1)<<k - 1
	r.HighBit = T(1) << (width - 1)
	r.Masked = x >> k & 3
	tricks(x, n, &r)
	return r
}

// widthOf returns the number of bits of T.
func widthOf[T integer]() uint64 {
	n := uint64(0)
	for x := T(1); x != 0; x <<= 1 {
		n++
	}
	return n
}

func tricks[T integer](x T, n uint64, r *shifted[T]) {
	r.Assigned, r.AssignedRight = x, x
	r.Assigned <<= n
	r.AssignedRight >>= n
	for i := range uint(6) {
		r.InLoop += x >> i << (2 * i)
	}
	for i := range 4 {
		r.Interleaved |= (x >> i & 1) << (2 * i)
	}
	y := x
	for half := widthOf[T]() / 2; half > 0; half /= 2 {
		y ^= y >> half
	}
	r.ParityByFolding = y & 1
	for y := x & 0x7f; y != 0; y &= y - 1 {
		r.CountByClearing++
	}
	r.ReverseByHalves = x>>4&0xf | x&7<<4
	r.FieldExtracted = x << 2 >> 4
	r.FieldInserted = x&^(7<<2) | 5<<2
	r.Packs = x&3 | x&3<<2 | x&3<<4
}

//gpu:kernel
func shiftInt8s(t gpu.Thread, in []shiftInput[int8], out []shifted[int8]) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = shift(in[i])
	}
}

//gpu:kernel
func shiftUint8s(t gpu.Thread, in []shiftInput[uint8], out []shifted[uint8]) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = shift(in[i])
	}
}

//gpu:kernel
func shiftInt16s(t gpu.Thread, in []shiftInput[int16], out []shifted[int16]) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = shift(in[i])
	}
}

//gpu:kernel
func shiftUint16s(t gpu.Thread, in []shiftInput[uint16], out []shifted[uint16]) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = shift(in[i])
	}
}

//gpu:kernel
func shiftInt32s(t gpu.Thread, in []shiftInput[int32], out []shifted[int32]) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = shift(in[i])
	}
}

//gpu:kernel
func shiftUint32s(t gpu.Thread, in []shiftInput[uint32], out []shifted[uint32]) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = shift(in[i])
	}
}

//gpu:kernel
func shiftInt64s(t gpu.Thread, in []shiftInput[int64], out []shifted[int64]) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = shift(in[i])
	}
}

//gpu:kernel
func shiftUint64s(t gpu.Thread, in []shiftInput[uint64], out []shifted[uint64]) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = shift(in[i])
	}
}

// counted has a function of package math/bits a field.
type counted struct {
	LeadingZeros8, LeadingZeros16, LeadingZeros32, LeadingZeros64, LeadingZeros        int
	TrailingZeros8, TrailingZeros16, TrailingZeros32, TrailingZeros64, TrailingZeros   int
	OnesCount8, OnesCount16, OnesCount32, OnesCount64, OnesCount                       int
	Len8, Len16, Len32, Len64, Len                                                     int
	Reverse8                                                                           uint8
	Reverse16, ReverseBytes16, RotateLeft16                                            uint16
	Reverse32, ReverseBytes32, RotateLeft32, RotateRight32                             uint32
	Reverse64, ReverseBytes64, RotateLeft64, MulHigh, MulLow, AddSum, AddCarry         uint64
	SubDifference, SubBorrow, DivQuotient, DivRemainder, RemainderOfTwo, RotateFarther uint64
	Add32Sum, Sub32Borrow, Mul32High, Div32Quotient                                    uint32
	RotateLeft8                                                                        uint8
}

func count(p pair[uint64]) (r counted) {
	x, y := p.A, p.B
	r.LeadingZeros8, r.LeadingZeros16 = bits.LeadingZeros8(uint8(x)), bits.LeadingZeros16(uint16(x))
	r.LeadingZeros32, r.LeadingZeros64, r.LeadingZeros = bits.LeadingZeros32(uint32(x)), bits.LeadingZeros64(x), bits.LeadingZeros(uint(x))
	r.TrailingZeros8, r.TrailingZeros16 = bits.TrailingZeros8(uint8(x)), bits.TrailingZeros16(uint16(x))
	r.TrailingZeros32, r.TrailingZeros64, r.TrailingZeros = bits.TrailingZeros32(uint32(x)), bits.TrailingZeros64(x), bits.TrailingZeros(uint(x))
	r.OnesCount8, r.OnesCount16 = bits.OnesCount8(uint8(x)), bits.OnesCount16(uint16(x))
	r.OnesCount32, r.OnesCount64, r.OnesCount = bits.OnesCount32(uint32(x)), bits.OnesCount64(x), bits.OnesCount(uint(x))
	r.Len8, r.Len16, r.Len32, r.Len64, r.Len = bits.Len8(uint8(x)), bits.Len16(uint16(x)), bits.Len32(uint32(x)), bits.Len64(x), bits.Len(uint(x))
	r.Reverse8, r.Reverse16, r.Reverse32, r.Reverse64 = bits.Reverse8(uint8(x)), bits.Reverse16(uint16(x)), bits.Reverse32(uint32(x)), bits.Reverse64(x)
	r.ReverseBytes16, r.ReverseBytes32, r.ReverseBytes64 = bits.ReverseBytes16(uint16(x)), bits.ReverseBytes32(uint32(x)), bits.ReverseBytes64(x)
	n := int(y % 64)
	r.RotateLeft8, r.RotateLeft16, r.RotateLeft32 = bits.RotateLeft8(uint8(x), n), bits.RotateLeft16(uint16(x), n), bits.RotateLeft32(uint32(x), n)
	r.RotateLeft64, r.RotateRight32, r.RotateFarther = bits.RotateLeft64(x, n), bits.RotateLeft32(uint32(x), -n), bits.RotateLeft64(x, n+100)
	r.MulHigh, r.MulLow = bits.Mul64(x, y)
	r.AddSum, r.AddCarry = bits.Add64(x, y, x&1)
	r.SubDifference, r.SubBorrow = bits.Sub64(x, y, y&1)
	if y != 0 {
		r.DivQuotient, r.DivRemainder = bits.Div64(x%y, x, y)
		r.RemainderOfTwo = bits.Rem64(x, y+1, y)
	}
	r.Add32Sum, _ = bits.Add32(uint32(x), uint32(y), 1)
	_, r.Sub32Borrow = bits.Sub32(uint32(x), uint32(y), 0)
	r.Mul32High, _ = bits.Mul32(uint32(x), uint32(y))
	r.Div32Quotient, _ = bits.Div32(uint32(x)&0xff, uint32(y), 0x100)
	return r
}

//gpu:kernel
func counts(t gpu.Thread, in []pair[uint64], out []counted) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = count(in[i])
	}
}
