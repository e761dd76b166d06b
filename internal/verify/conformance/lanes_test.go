package conformance_test

import (
	"math"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/check"
	"github.com/gopherwarp/gopherwarp/internal/verify/conformance/numbers"
)

// wild are floats of which most fit no integer.
var wild = []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1 << 31, 1 << 32, 1<<32 + 0.5, -1<<31 - 1, 1 << 52, 1<<52 + 1, -1<<52 - 1, 1<<53 - 1, 1 << 62, 1<<63 - 1024, 1 << 63, -1 << 63, -1<<63 - 2048,
	1 << 84, -1 << 84, -1 << 90, 1e300, -1e300, 5e-324, 4294967295.75, -4294967295.75, 0.99, -0.99, 1<<40 + 0.5, -1<<40 - 0.5, 123456789012.75, -123456789012.75, 0, math.Copysign(0, -1)}

// TestWild compares vector code with Go twins where Go's own compiler does otherwise: of floats that fit no integer.
func TestWild(t *testing.T) {
	var in []numbers.Wide
	for i, x := range wild {
		for k, y := range wild {
			in = append(in, numbers.Wide{A: int64(i), B: int64(k), X: x, Y: y})
		}
	}
	want := computed(t, cpu.Scalar, numbers.ComputesInLanes, in)
	for name, way := range vectorWays() {
		for i, got := range computed(t, way, numbers.ComputesInLanes, in) {
			if got.LongOfFloat != want[i].LongOfFloat || got.LongOfSingle != want[i].LongOfSingle || got.IntOfSingle != want[i].IntOfSingle {
				t.Errorf("%s: of %v and %v come %d, %d and %d, want %d, %d and %d", name, in[i].X, in[i].Y,
					got.LongOfFloat, got.LongOfSingle, got.IntOfSingle, want[i].LongOfFloat, want[i].LongOfSingle, want[i].IntOfSingle)
			}
			for k, pair := range [][2]float64{{got.Smaller, want[i].Smaller}, {got.Larger, want[i].Larger}, {float64(got.SmallerSingle), float64(want[i].SmallerSingle)},
				{float64(got.LargerSingle), float64(want[i].LargerSingle)}, {got.Floor, want[i].Floor}, {got.Ceil, want[i].Ceil}, {got.Trunc, want[i].Trunc}, {got.Even, want[i].Even}} {
				if x, y := pair[0], pair[1]; math.Float64bits(x) != math.Float64bits(y) && (x == x || y == y) {
					t.Errorf("%s: number %d of %v and %v is %v, want %v", name, k, in[i].X, in[i].Y, x, y)
				}
			}
		}
	}
}

// TestWildIntegers is TestWild for conversions to integers of other sizes than the floats'.
func TestWildIntegers(t *testing.T) {
	in := slices.Clone(wild)
	for i := range 64 {
		in = append(in, math.Ldexp(1.2345678901, i), -math.Ldexp(1.7654321098, i))
	}
	want := computed(t, cpu.Scalar, numbers.ConvertsInLanes, in)
	for name, way := range vectorWays() {
		for i, got := range computed(t, way, numbers.ConvertsInLanes, in) {
			if got != want[i] {
				t.Errorf("%s: of %v come %+v, want %+v", name, in[i], got, want[i])
			}
		}
	}
}

// vectorWays returns the ways to run vector code on this machine.
func vectorWays() map[string]cpu.Threads {
	ways := map[string]cpu.Threads{"the fastest": cpu.Fastest}
	if cpu.VectorLanes() > 0 {
		ways["AVX2"] = cpu.AVX2
	}
	return ways
}

// computed returns what a kernel makes of numbers on a CPU device that runs threads in some way.
func computed[In, Out any](t *testing.T, way cpu.Threads, launch check.Launcher[In, Out], in []In) []Out {
	t.Helper()
	dev, err := cpu.OpenThreads(way)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	s, err := dev.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	from, err := device.Upload(s, in)
	if err != nil {
		t.Fatal(err)
	}
	to, err := device.Make[Out](s, len(in))
	if err != nil {
		t.Fatal(err)
	}
	if err := launch(s, device.Cover(len(in), 128), from.All(), to.All()); err != nil {
		t.Fatal(err)
	}
	out := make([]Out, len(in))
	if err := device.Download(s, out, to.All()); err != nil {
		t.Fatal(err)
	}
	if err := s.Synchronize(t.Context()); err != nil {
		t.Fatal(err)
	}
	return out
}
