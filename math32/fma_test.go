package math32_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/gopherwarp/gopherwarp/math32"
)

// TestFMA compares FMA with math/big, mostly for arguments for which rounding twice would give
// another result: the sum is close to the midpoint between two float32 values.
func TestFMA(t *testing.T) {
	r := rand.New(rand.NewPCG(rand.Uint64(), 1))
	middles := 0
	for range 300_000 {
		x, y := number(r), number(r)
		z := number(r)
		if p := float64(x) * float64(y); r.IntN(2) == 0 && math.Abs(p) < 0x1p100 && math.Abs(p) > 0x1p-140 {
			// The product is close to half a unit in the last place of z.
			e := math.Float64bits(p)>>52&0x7ff - 1023
			x = float32(math.Copysign(math.Ldexp(1, int(e)/2), p))
			y = float32(math.Ldexp(1+float64(r.IntN(3)-1)*0x1p-23, int(e)-int(e)/2))
			z = float32(math.Ldexp(1+float64(r.IntN(1<<23))*0x1p-23, min(int(e)+24, 127)))
			middles++
		}
		if got, want := math32.FMA(x, y, z), exactly(x, y, z); math.Float32bits(got) != math.Float32bits(want) {
			t.Fatalf("FMA(%g, %g, %g) is %g, want %g", x, y, z, got, want)
		}
	}
	if middles < 1000 {
		t.Errorf("only %d sums were in the middle", middles)
	}
}

// number returns a random finite float32 of any magnitude.
func number(r *rand.Rand) float32 {
	for {
		if x := math.Float32frombits(r.Uint32()); x-x == 0 {
			return x
		}
	}
}

func exactly(x, y, z float32) float32 {
	f := func(v float32) *big.Float { return new(big.Float).SetPrec(800).SetFloat64(float64(v)) }
	sum := f(0).Add(f(0).Mul(f(x), f(y)), f(z))
	if sum.Sign() == 0 {
		return float32(float64(x)*float64(y) + float64(z)) // with the sign of an exact zero
	}
	v, _ := sum.Float32()
	return v
}

func TestFMASpecial(t *testing.T) {
	special := []float32{0, math32.Copysign(0, -1), 1, -1, math32.Inf(1), math32.Inf(-1), math32.NaN(), math.MaxFloat32, math.SmallestNonzeroFloat32}
	for _, x := range special {
		for _, y := range special {
			for _, z := range special {
				got, want := math32.FMA(x, y, z), float32(math.FMA(float64(x), float64(y), float64(z)))
				if got != want && (got == got || want == want) || got == 0 && math32.Signbit(got) != math32.Signbit(want) {
					t.Errorf("FMA(%g, %g, %g) is %g, want %g", x, y, z, got, want)
				}
			}
		}
	}
}
