package numbers

import (
	"math"
	"math/bits"

	"github.com/gopherwarp/gopherwarp/gpu"
)

// foreseen has a behaviour a field of what a compiler may compute itself, as it knows the numbers when functions
// are inlined: the result is that of the machine.
type foreseen struct {
	QuotientOfNegative, RemainderOfNegative, RemainderByNegative, ProductWraps, SumWraps  int64
	ShiftOfNegative, ShiftOfUnsigned, ShiftByWidth, ShiftTwice, SmallWraps, Complement    int64
	CompareUnsigned, CompareSigned, ExtendUnsigned, ExtendSigned, CutAndExtended          int64
	LeadingZeros32, TrailingZeros16, Reversed8, HighHalf                                  int64
	ByteByLarge, ByteBelowLarge, ByteEqualLarge, QuotientInRange, SmallByLarge, OrInRange int64
	BelowWrappedSum                                                                       int64
	TowardsZero, TowardsZeroNegative, HalfToEven, HalfToEvenAbove, FloorOfNegative        float64
	UnsignedToFloat32, SignedToFloat32, UnsignedToFloat64, RoundedToFloat32               float64
	OverMinusZero, MinusZeroAdded, MinusZeroSubtracted, TinyQuotient, NaNMin, MinusZero   float64
}

func quotientOf[T integer](a, b T) int64  { return int64(a / b) }
func remainderOf[T integer](a, b T) int64 { return int64(a % b) }
func productOf[T integer](a, b T) int64   { return int64(a * b) }
func sumOf[T integer](a, b T) int64       { return int64(a + b) }
func shiftedOf[T integer](a T, n uint) int64 {
	return int64(a >> n)
}

func isLess[T integer](a, b T) int64 {
	if a < b {
		return 1
	}
	return 0
}

func foreseeAll(n int64) (r foreseen) {
	r.QuotientOfNegative, r.RemainderOfNegative, r.RemainderByNegative = quotientOf[int64](-7, 2), remainderOf[int32](-7, 4), remainderOf[int64](7, -4)
	r.ProductWraps, r.SumWraps, r.SmallWraps = productOf[int32](1<<20, 1<<13+1), sumOf[int64](math.MaxInt64, 2), sumOf[uint8](200, 100)
	r.ShiftOfNegative, r.ShiftOfUnsigned, r.ShiftByWidth = shiftedOf[int32](-9, 1), shiftedOf[uint32](1<<31+8, 3), shiftedOf[int16](-2, 16)
	r.ShiftTwice, r.Complement = (n>>2)>>3+(-n>>40)>>40, sumOf(^uint16(5), 0)
	r.CompareUnsigned, r.CompareSigned = isLess[uint64](1<<63, 1), isLess[int8](-128, 1)
	r.ExtendUnsigned, r.ExtendSigned, r.CutAndExtended = sumOf[uint8](200, 0), sumOf[int8](-56, 0), int64(int8(cut(0x1ff80)))
	r.LeadingZeros32, r.TrailingZeros16 = int64(bits.LeadingZeros32(uint32(shiftedOf[uint32](1<<20, 4)))), int64(bits.TrailingZeros16(uint16(shiftedOf[uint16](1<<12, 4))))
	r.Reversed8, r.HighHalf = int64(bits.Reverse8(uint8(sumOf[uint8](3, 8)))), int64(high(1<<63, 12))
	foreseeRanges(n, &r)
	foreseeFloats(n, &r)
	return r
}

// foreseeRanges has numbers of which a compiler knows within which bounds they lie.
func foreseeRanges(n int64, r *foreseen) {
	b := uint8(n)
	r.ByteByLarge = int64(b/200)*1000 + int64(b%200) + int64(uint16(n)/60000)*5000
	if int64(b) < 300 && int64(uint16(n)) <= 70000 {
		r.ByteBelowLarge = 1
	}
	if int64(b) != 300 && int64(int8(n)) > -200 {
		r.ByteEqualLarge = 1
	}
	q := (100 + int64(b)%100) / (1 + int64(uint16(n)>>3)%10)
	if q < 50 {
		r.QuotientInRange = q
	}
	r.SmallByLarge = int64(uint64(uint32(n))/(uint64(n)>>1|1)) + int64(uint64(uint32(n))%(uint64(n)>>1|1))*3
	if x := n&3 | n&4; x > 4 {
		r.OrInRange = x
	}
	m, below := n&math.MaxInt64, n-1
	if below < n {
		r.BelowWrappedSum = 1
		if below < n+m {
			r.BelowWrappedSum = 2
		}
	}
}

func cut(n int64) int64 { return n }

func high(a, b uint64) uint64 {
	h, _ := bits.Mul64(a, b)
	return h
}

func whole(x float64) int64            { return int64(x) }
func single[T integer](x T) float64    { return float64(float32(x)) }
func double[T integer](x T) float64    { return float64(x) }
func over(a, b float64) float64        { return a / b }
func plus(a, b float64) float64        { return a + b }
func negative(x float64) float64       { return -x }
func tiny(a, b float32) float32        { return a / b }
func tenth(x float32) float32          { return float32(float64(x) * 0.1) }
func withTiny(x float32) (out float32) { return x / 0x1p-128 }

func foreseeFloats(n int64, r *foreseen) {
	r.TowardsZero, r.TowardsZeroNegative = float64(whole(2.75)), float64(whole(-1.5))
	r.HalfToEven, r.HalfToEvenAbove, r.FloorOfNegative = math.RoundToEven(plus(2, 0.5)), math.RoundToEven(plus(3, 0.5)), math.Floor(plus(-2, -0.25))
	// Halfway between two numbers but for the last bit: rounded in two steps it comes out below.
	r.UnsignedToFloat32, r.SignedToFloat32 = single[uint64](1<<63+1<<39+1), single[int64](-1<<62-1<<38-1)
	r.UnsignedToFloat64, r.RoundedToFloat32 = double[uint64](1<<63+1<<10+1), 0
	for i := range int64(40) {
		r.RoundedToFloat32 = float64(r.RoundedToFloat32*3) + float64(tenth(float32(n+i*i)))
	}
	zero := negative(float64(n >> 62)) // of most
	r.OverMinusZero, r.MinusZero = over(1, negative(plus(0, 0))), zero
	r.MinusZeroAdded, r.MinusZeroSubtracted = 1/(zero+0), 1/(zero-negative(0))
	r.TinyQuotient = float64(tiny(0x1p-100, 0x1p100)) + float64(withTiny(float32(n)*0x1p-140))
	r.NaNMin = min(math.NaN(), float64(n)) + max(float64(n), math.NaN())
}

//gpu:kernel
func foresees(t gpu.Thread, n []int64, out []foreseen) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = foreseeAll(n[i])
	}
}

// summed has sums of products: products of small integers and their sums are the same however often they are rounded.
type summed struct {
	ProductAndSum, SumAndProduct, ProductMinus, MinusProduct, NegatedProduct, TwoProducts, Difference, Polynomial float32
	RoundedNegated, RoundedInParentheses                                                                          float32
}

func sums(p pair[float32]) (r summed) {
	a, b, c := p.A, p.B, p.A+3
	r.ProductAndSum, r.SumAndProduct, r.ProductMinus, r.MinusProduct = a*b+c, c+a*b, a*b-c, c-a*b
	r.NegatedProduct, r.TwoProducts, r.Difference = -(a*b)-c, a*a+b*b, a*a-b*b
	r.Polynomial = ((a*2-b)*a+1)*b - 7
	x, y := a+0.1, b+0.3
	r.RoundedNegated, r.RoundedInParentheses = x+float32(-(x*y)), float32((x*y))-y
	return r
}

//gpu:kernel
func summing(t gpu.Thread, in []pair[float32], out []summed) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = sums(in[i])
	}
}
