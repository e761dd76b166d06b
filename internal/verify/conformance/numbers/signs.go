package numbers

import (
	"math"

	"github.com/gopherwarp/gopherwarp/gpu"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
)

// signs has what the bits of the opposite and of the absolute value of a float say. The sign of a NaN is
// left open.
type signs struct {
	Negated, NegatedAndNumber, NegatedTwice, Absolute, AnyNegated bool
	BitsNegated, BitsAbsolute, SumWithBits                        uint64
	Bits32Negated, Bits32Absolute, SumWithBits32                  uint32
	Negated32, NegatedAndNumber32, Absolute32                     bool
}

func (s *signs) of(x float64) {
	s.NegatedAndNumber = x == x && math.Signbit(-x)
	if x != x {
		return
	}
	s.Negated, s.NegatedTwice, s.Absolute = math.Signbit(-x), math.Signbit(-(-x)), math.Signbit(math.Abs(x))
	s.AnyNegated = int64(math.Float64bits(-x)) < int64(math.Float64bits(x))
	s.BitsNegated, s.BitsAbsolute, s.SumWithBits = math.Float64bits(-x), math.Float64bits(math.Abs(x)), math.Float64bits(-x)+3
}

func (s *signs) of32(x float32) {
	s.NegatedAndNumber32 = x == x && int32(math.Float32bits(-x)) < 0
	if x != x {
		return
	}
	s.Negated32, s.Absolute32 = int32(math.Float32bits(-x)) < 0, int32(math.Float32bits(float32(math.Abs(float64(x))))) < 0
	s.Bits32Negated, s.Bits32Absolute, s.SumWithBits32 = math.Float32bits(-x), math.Float32bits(float32(math.Abs(float64(x)))), math.Float32bits(-x)+5
}

// signsOf is about parameters, which ptxas reads where they are: it may take for an integer's the sign that an
// instruction changes of what it reads.
//
//gpu:kernel
func signsOf(t gpu.Thread, x float64, y float32, out []signs) {
	if i := t.GlobalX(); i < len(out) {
		out[i].of(x)
		out[i].of32(y)
	}
}

func parameterSigns(r *check.Run) {
	for _, x := range []float64{0, math.Copysign(0, -1), 1.5, -1.5, math.NaN(), 5e-324, -5e-324, math.Inf(1), math.Inf(-1), 1 << 40} {
		var want signs
		want.of(x)
		want.of32(float32(x))
		out := check.Make[signs](r, 2)
		r.Launch(SignsOf(r.Stream, check.Threads(2), x, float32(x), out))
		check.Want(r, out, want, want)
	}
}

// zeros has the bits of a zero with a sign, or of what is chosen instead.
type zeros struct {
	OrOne, OneOr, OrMinusOne, MinusOneOr, OfInteger, OrZero, OrTwo uint32
	OrOne64, OneOr64, OrMinusOne64                                 uint64
}

// zerosOf compares anew for each choice, so that nothing else needs what the comparison says: ptxas has an
// instruction that leaves 1 or 0 of it, which has no sign.
func zerosOf(x float32) (z zeros) {
	var zero float32
	var zero64 float64
	n := int32(10 * x)
	z.OrOne = math.Float32bits(either(x != 1, -zero, 1))
	z.OneOr = math.Float32bits(either(x < 1.5, 1, -zero))
	z.OrMinusOne = math.Float32bits(either(x >= 2, -zero, -1))
	z.MinusOneOr = math.Float32bits(either(x == 2.5, -1, -zero))
	z.OfInteger = math.Float32bits(either(n < 30, -zero, -1))
	z.OrZero = math.Float32bits(either(x <= 3.5, -zero, 0))
	z.OrTwo = math.Float32bits(either(x > 4, -zero, 2))
	z.OrOne64 = math.Float64bits(either(float64(x) != 1.25, -zero64, 1))
	z.OneOr64 = math.Float64bits(either(float64(x) < 1.75, 1, -zero64))
	z.OrMinusOne64 = math.Float64bits(either(float64(x) >= 2.25, -zero64, -1))
	return z
}

func either[T any](yes bool, a, b T) T {
	if yes {
		return a
	}
	return b
}

//gpu:kernel
func zerosChosen(t gpu.Thread, in []float32, out []zeros) {
	if i := t.GlobalX(); i < len(out) {
		out[i] = zerosOf(in[i])
	}
}
