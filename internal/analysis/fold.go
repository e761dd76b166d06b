package analysis

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/internal/ir"
)

// Fold returns the bits of v where all its arguments are constants and the result is
// defined. Results that are NaN are left to the device, which has its own NaN.
func Fold(v *ir.Value) (int64, bool) {
	if !foldable(v) {
		return 0, false
	}
	var x [3]int64
	for i, a := range v.Args {
		if a.Op != ir.OpConst {
			return 0, false
		}
		x[i] = a.Imm
	}
	return foldWith(v, x)
}

// foldable reports whether v has a value that constants would decide.
func foldable(v *ir.Value) bool {
	return len(v.Args) > 0 && len(v.Args) <= 3 && v.Op.Pure() && v.Type.IsScalar()
}

// foldWith returns what v would be if its arguments were these constants.
func foldWith(v *ir.Value, x [3]int64) (int64, bool) {
	from := v.Args[0].Type
	switch {
	case v.Op >= ir.OpAdd && v.Op <= ir.OpBrev:
		return FoldInt(v.Op, v.Type, x[0], x[1])
	case v.Op >= ir.OpEq && v.Op <= ir.OpULe:
		return BoolBits(foldCompare(v.Op, from, x[0], x[1])), true
	case v.Op >= ir.OpFEq && v.Op <= ir.OpFLe:
		return BoolBits(foldFloatCompare(v.Op, FloatOf(from, x[0]), FloatOf(from, x[1]))), true
	case v.Op >= ir.OpFAdd && v.Op <= ir.OpFCopysign:
		return foldFloat(v.Op, v.Type, x)
	case v.Op >= ir.OpTrunc && v.Op <= ir.OpFToBF16:
		return FoldConversion(v.Op, from, v.Type, x[0])
	}
	return 0, false
}

// BoolBits returns 1 for true and 0 for false.
func BoolBits(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// SignExtend returns x cut to the width of t, as a signed number; for an i1, 0 or 1.
func SignExtend(t *ir.Type, x int64) int64 {
	if t.Kind == ir.KindI1 {
		return x & 1
	}
	n := 64 - t.Bits()
	return x << n >> n
}

// ZeroExtend returns x cut to the width of t, as an unsigned number.
func ZeroExtend(t *ir.Type, x int64) uint64 {
	n := 64 - t.Bits()
	return uint64(x) << n >> n
}

// IntConst returns the value of an integer constant, as a signed number; 0 or 1 for an i1.
func IntConst(v *ir.Value) (int64, bool) {
	if v.Op != ir.OpConst || !v.Type.IsInt() {
		return 0, false
	}
	return SignExtend(v.Type, v.Imm), true
}

// FoldInt returns the bits of the integer operation op, of type t, on a and b. It reports false if the result is undefined.
func FoldInt(op ir.Op, t *ir.Type, a, b int64) (int64, bool) {
	x, y := SignExtend(t, a), SignExtend(t, b)
	ux, uy := ZeroExtend(t, a), ZeroExtend(t, b)
	n := t.Bits()
	var r int64
	switch op {
	case ir.OpAdd:
		r = x + y
	case ir.OpSub:
		r = x - y
	case ir.OpMul:
		r = x * y
	case ir.OpSDiv, ir.OpUDiv, ir.OpSRem, ir.OpURem:
		if y == 0 || n == 1 {
			return 0, false
		}
		r = foldDivision(op, x, y, [2]uint64{ux, uy})
	case ir.OpUMulHi:
		hi, _ := bits.Mul64(ux<<(64-n), uy) // the product of 2n bits, shifted left by 64-n
		r = int64(hi)
	case ir.OpSMulHi:
		return foldSMulHi(t, x, y)
	case ir.OpAnd:
		r = x & y
	case ir.OpOr:
		r = x | y
	case ir.OpXor:
		r = x ^ y
	case ir.OpShl, ir.OpLShr, ir.OpAShr:
		r = foldShift(op, t, a, uint32(b))
	case ir.OpPopc:
		r = int64(bits.OnesCount64(ux))
	case ir.OpClz:
		r = int64(bits.LeadingZeros64(ux)) - int64(64-n)
	case ir.OpBrev:
		r = int64(bits.Reverse64(ux) >> (64 - n))
	default:
		return 0, false
	}
	return SignExtend(t, r), true
}

func foldDivision(op ir.Op, x, y int64, u [2]uint64) int64 {
	switch op {
	case ir.OpSDiv:
		return x / y
	case ir.OpSRem:
		return x % y
	case ir.OpUDiv:
		return int64(u[0] / u[1])
	}
	return int64(u[0] % u[1])
}

func foldSMulHi(t *ir.Type, x, y int64) (int64, bool) {
	p := new(big.Int).Mul(big.NewInt(x), big.NewInt(y))
	return SignExtend(t, p.Rsh(p, uint(t.Bits())).Int64()), t.Bits() > 1
}

func foldShift(op ir.Op, t *ir.Type, a int64, by uint32) int64 {
	switch {
	case op == ir.OpAShr:
		x := a << (64 - t.Bits()) >> (64 - t.Bits())
		return x >> min(by, 63)
	case by >= uint32(t.Bits()):
		return 0
	case op == ir.OpShl:
		return a << by
	}
	return int64(ZeroExtend(t, a) >> by)
}

func foldCompare(op ir.Op, t *ir.Type, a, b int64) bool {
	x, y := SignExtend(t, a), SignExtend(t, b)
	if t.Kind == ir.KindI1 { // true is -1 where the order is signed
		x, y = -x, -y
	}
	ux, uy := ZeroExtend(t, a), ZeroExtend(t, b)
	switch op {
	case ir.OpEq:
		return x == y
	case ir.OpNe:
		return x != y
	case ir.OpSLt:
		return x < y
	case ir.OpSLe:
		return x <= y
	case ir.OpULt:
		return ux < uy
	}
	return ux <= uy
}

func foldFloatCompare(op ir.Op, x, y float64) bool {
	switch op {
	case ir.OpFEq:
		return x == y
	case ir.OpFNe:
		return x != y
	case ir.OpFLt:
		return x < y
	}
	return x <= y
}

// FloatOf returns the float of type t that has the given bits.
func FloatOf(t *ir.Type, b int64) float64 {
	if t.Kind == ir.KindF32 {
		return float64(math.Float32frombits(uint32(b)))
	}
	return math.Float64frombits(uint64(b))
}

// FloatBits returns the bits of x, rounded to t. It reports false for a NaN.
func FloatBits(t *ir.Type, x float64) (int64, bool) {
	if t.Kind == ir.KindF32 {
		return int64(int32(math.Float32bits(float32(x)))), x == x
	}
	return int64(math.Float64bits(x)), x == x
}

// foldFloat folds float arithmetic. Rounding to float64 first does not change the float32
// result of the operations here: 53 bits are more than twice 24.
func foldFloat(op ir.Op, t *ir.Type, bits [3]int64) (int64, bool) {
	x, y := FloatOf(t, bits[0]), FloatOf(t, bits[1])
	switch op {
	case ir.OpFAdd:
		return FloatBits(t, x+y)
	case ir.OpFSub:
		return FloatBits(t, x-y)
	case ir.OpFMul:
		return FloatBits(t, x*y)
	case ir.OpFDiv:
		return FloatBits(t, x/y)
	case ir.OpFSqrt:
		return FloatBits(t, math.Sqrt(x))
	case ir.OpFMin:
		return FloatBits(t, min(x, y))
	case ir.OpFMax:
		return FloatBits(t, max(x, y))
	case ir.OpFFloor:
		return FloatBits(t, math.Floor(x))
	case ir.OpFCeil:
		return FloatBits(t, math.Ceil(x))
	case ir.OpFTrunc:
		return FloatBits(t, math.Trunc(x))
	case ir.OpFRint:
		return FloatBits(t, math.RoundToEven(x))
	case ir.OpFNeg:
		return FloatBits(t, -x)
	case ir.OpFAbs:
		return FloatBits(t, math.Abs(x))
	case ir.OpFCopysign:
		return FloatBits(t, math.Copysign(x, y))
	case ir.OpFma:
		if t.Kind == ir.KindF64 {
			return FloatBits(t, math.FMA(x, y, FloatOf(t, bits[2])))
		}
	}
	return 0, false
}

// FoldConversion returns the bits of the conversion op of a, which has type from, to type to.
func FoldConversion(op ir.Op, from, to *ir.Type, a int64) (int64, bool) {
	switch op {
	case ir.OpTrunc:
		return SignExtend(to, a), true
	case ir.OpSExt:
		if from.Kind == ir.KindI1 {
			return -(a & 1), true
		}
		return SignExtend(from, a), true
	case ir.OpZExt:
		return SignExtend(to, int64(ZeroExtend(from, a))), true
	case ir.OpSToF:
		if from.Kind == ir.KindI1 {
			return 0, false
		}
		return foldIntToFloat(to, float32(SignExtend(from, a)), float64(SignExtend(from, a)))
	case ir.OpUToF:
		return foldIntToFloat(to, float32(ZeroExtend(from, a)), float64(ZeroExtend(from, a)))
	case ir.OpFExt, ir.OpFRound:
		return FloatBits(to, FloatOf(from, a))
	case ir.OpFToS, ir.OpFToU:
		return foldFloatToInt(op, to, FloatOf(from, a))
	case ir.OpF16ToF:
		return FloatBits(to, dtype.F16(a).Float64())
	case ir.OpBF16ToF:
		return FloatBits(to, dtype.BF16(a).Float64())
	case ir.OpFToF16:
		return SignExtend(to, int64(dtype.F16From64(FloatOf(from, a)))), true
	case ir.OpFToBF16:
		return SignExtend(to, int64(dtype.BF16From64(FloatOf(from, a)))), true
	case ir.OpBitcast:
		return a, from.IsPtr() == to.IsPtr() && !from.IsPtr()
	}
	return 0, false
}

func foldIntToFloat(to *ir.Type, single float32, double float64) (int64, bool) {
	if to.Kind == ir.KindF32 {
		return int64(int32(math.Float32bits(single))), true
	}
	return int64(math.Float64bits(double)), true
}

// foldFloatToInt folds what is in the range of the type; the rest is rare.
func foldFloatToInt(op ir.Op, to *ir.Type, x float64) (int64, bool) {
	n := to.Bits()
	x = math.Trunc(x)
	switch {
	case op == ir.OpFToS && x >= -math.Ldexp(1, n-1) && x < math.Ldexp(1, n-1):
		return int64(x), true
	case op == ir.OpFToU && x >= 0 && x < math.Ldexp(1, n):
		return SignExtend(to, int64(uint64(x))), true
	}
	return 0, false
}
