package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/gopherwarp/gopherwarp"
	"github.com/gopherwarp/gopherwarp/device"
)

// devices are the best device of this machine and the interpreter.
var devices = [...]string{"", "interp"}

// stream returns a stream on the device that the value name of GOPHERWARP_DEVICE selects.
func stream(t *testing.T, name string) *device.Stream {
	t.Helper()
	t.Setenv("GOPHERWARP_DEVICE", name)
	dev, err := gopherwarp.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	s, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestRun(t *testing.T) {
	for _, name := range devices {
		t.Setenv("GOPHERWARP_DEVICE", name)
		var out strings.Builder
		if err := run(&out, sizes{40, 30, 50}); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(out.String(), "\nok  2000 elements twice, largest error 0\n") {
			t.Errorf("run wrote\n%s", out.String())
		}
	}
}

// TestSizes multiplies matrices smaller than a tile, of whole tiles, and of whole tiles and a part.
func TestSizes(t *testing.T) {
	for _, name := range devices {
		s := stream(t, name)
		for _, z := range []sizes{{1, 1, 1}, {2, 3, 4}, {16, 16, 16}, {17, 33, 15}, {32, 1, 48}} {
			checkProduct(t, s, z)
		}
	}
}

// checkProduct multiplies matrices of the given sizes with both kernels.
func checkProduct(t *testing.T, s *device.Stream, z sizes) {
	t.Helper()
	x, want := newProblem(z), make([]float32, z.m*z.n)
	matmulLoop(x.a, x.b, want, z)
	for name, launch := range map[string]launcher{"naive": Naive, "tiled": Tiled} {
		got, _, err := x.multiply(s, launch)
		if err != nil {
			t.Fatalf("%s %v: %v", name, z, err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s %v = %v, want %v", name, z, got, want)
		}
	}
}

func TestLoop(t *testing.T) {
	c := make([]float32, 4)
	matmulLoop([]float32{1, 2, 3, 4, 5, 6}, []float32{1, 0, 0, 1, 1, 1}, c, sizes{2, 3, 2})
	if want := []float32{4, 5, 10, 11}; !slices.Equal(c, want) {
		t.Errorf("product %v, want %v", c, want)
	}
}
