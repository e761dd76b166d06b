package main

import (
	"math"
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
		if err := run(&out, 100_000); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), "\nok  100000 elements, largest relative error ") {
			t.Errorf("run wrote\n%s", out.String())
		}
	}
}

// TestExactSums normalizes arrays with exact sums, and thus exact results, for lengths close to
// those of a block and of a grid.
func TestExactSums(t *testing.T) {
	for _, name := range devices {
		s := stream(t, name)
		for _, n := range []int{1, 2, 255, 256, 257, 1000, 256*256 + 3} {
			checkExact(t, s, n)
		}
	}
}

// checkExact normalizes n small integers.
func checkExact(t *testing.T, s *device.Stream, n int) {
	t.Helper()
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(i%4) + 1
	}
	want := append([]float32(nil), x...)
	normalizeLoop(want)
	if err := normalize(s, x); err != nil {
		t.Fatalf("%d elements: %v", n, err)
	}
	for i := range x {
		if x[i] != want[i] {
			t.Fatalf("%d elements: x[%d] = %v, want %v", n, i, x[i], want[i])
		}
	}
}

func TestRelativeError(t *testing.T) {
	if off := relativeError([]float32{1, 3}, []float32{1, 4}); off != 0.25 {
		t.Errorf("relativeError = %v, want 0.25", off)
	}
	nan := float32(math.NaN())
	if off := relativeError([]float32{nan, 1}, []float32{1, 1}); !math.IsNaN(off) {
		t.Errorf("relativeError with a NaN = %v, want NaN", off)
	}
}
