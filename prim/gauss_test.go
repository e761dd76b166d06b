package prim

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestLogarithm compares with package math, also at the borders of exponents and near 1.
func TestLogarithm(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	all := []float64{1, 0x1p-54, 0x1p-53, 0.5, math.Sqrt2 / 2, math.Nextafter(math.Sqrt2/2, 0), math.Nextafter(1, 0)}
	for range 100000 {
		all = append(all, r.Float64()+0x1p-54, math.Exp2(-54*r.Float64()), 1-math.Exp2(-53*r.Float64()))
	}
	for _, u := range all {
		if u == 0 {
			continue
		}
		if got, want := logarithm(u), math.Log(u); math.Abs(got-want) > 1e-16+4e-16*math.Abs(want) {
			t.Fatalf("the logarithm of %v is %v, want %v", u, got, want)
		}
	}
}

func TestTurn(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	all := []float64{0, 0.125, 0.25, 0.375, 0.5, 0.75, 0.875, math.Nextafter(1, 0)}
	for range 100000 {
		all = append(all, r.Float64())
	}
	for _, v := range all {
		sin, cos := turn(v)
		x := 2 * math.Pi * (v - math.Round(v)) // the nearer to 0, the more exact
		if wantSin, wantCos := math.Sincos(x); math.Abs(sin-wantSin) > 6e-16 || math.Abs(cos-wantCos) > 6e-16 {
			t.Fatalf("%v turns: %v, %v, want %v, %v", v, sin, cos, wantSin, wantCos)
		}
	}
}

// TestExtremes looks at the numbers that are farthest from the mean.
func TestExtremes(t *testing.T) {
	if x, y := gauss32(0, 0); x < 6.7 || x > 6.8 || y != 0 {
		t.Errorf("in float32: %v, %v", x, y)
	}
	if x, y := gauss64(0, 0); x < 8.6 || x > 8.7 || y != 0 {
		t.Errorf("in float64: %v, %v", x, y)
	}
	if x, y := gauss32(math.MaxUint32, 7); x != 0 || y != 0 {
		t.Errorf("in the middle: %v, %v", x, y)
	}
}
