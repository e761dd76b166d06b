package main

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestBounds tests random inputs, the neighbors of all powers of two, and the inputs with the
// largest known errors.
func TestBounds(t *testing.T) {
	const step = 1 << 32 / 300_000
	start := uint32(rand.IntN(step))
	for which, f := range functions {
		try := func(bits uint32) {
			x := math.Float32frombits(bits)
			if d := distance(value(which, x), reference(which, float64(x))); !(d <= f.bound) {
				t.Errorf("%s(%g), bits %#x, is off by %g ULP, bound %g", f.name, x, bits, d, f.bound)
			}
		}
		for i := range 300_000 {
			try(start + uint32(i*step))
		}
		for power := range uint32(512) {
			for near := range uint32(16) {
				try(power<<23 + near - 8)
			}
		}
		try(f.worst)
	}
}

// TestWorst tests that the largest known errors are close to the bounds, so that the bounds are
// tight.
func TestWorst(t *testing.T) {
	for which, f := range functions {
		x := math.Float32frombits(f.worst)
		if d := distance(value(which, x), reference(which, float64(x))); d < 0.8*f.bound {
			t.Errorf("%s: the largest known error is %g ULP, the bound is %g", f.name, d, f.bound)
		}
	}
}

func TestRun(t *testing.T) {
	t.Setenv("GOPHERWARP_DEVICE", "cpu")
	var out strings.Builder
	for _, o := range []options{{names: "Exp,Sin", step: 1 << 14}, {names: "Log", step: 1 << 14, same: true}} {
		if err := o.run(&out); err != nil {
			t.Error(err)
		}
	}
	for _, want := range []string{"Exp    0.", "Sin    1.", "Log    same=true"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, out.String())
		}
	}
}

// TestInterpreted tests that PTX and Go compute the same bits, for a few thousand inputs of every
// function.
func TestInterpreted(t *testing.T) {
	t.Setenv("GOPHERWARP_DEVICE", "interp:fast")
	var out strings.Builder
	if err := (options{step: 1<<20 + 1, same: true}).run(&out); err != nil {
		t.Errorf("%v:\n%s", err, out.String())
	}
}
