package curand

import (
	"errors"
	"io"
	"math"
	"testing"

	"github.com/gopherwarp/gopherwarp/cuda"
	"github.com/gopherwarp/gopherwarp/device"
)

// onGPU returns a stream of the first GPU, or skips the test.
func onGPU(t testing.TB) *device.Stream {
	t.Helper()
	dev, err := cuda.Open(0)
	if err != nil {
		t.Skipf("no GPU: %v", err)
	}
	if _, err := load(); err != nil {
		t.Skip(err)
	}
	s, err := dev.NewStreamTo(io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// numbers is the sample size.
const numbers = 1 << 18

// filled fills new memory and returns its contents.
func filled[T any](t *testing.T, s *device.Stream, fill func(x device.Slice[T]) error) []T {
	t.Helper()
	b, err := device.Make[T](s, numbers)
	if err != nil {
		t.Fatal(err)
	}
	x := make([]T, numbers)
	if err := errors.Join(fill(b.All()), device.Download(s, x, b), s.Synchronize(t.Context()), b.Close()); err != nil {
		t.Fatal(err)
	}
	return x
}

// moments checks the mean and the variance of x, each within five of its standard deviations.
func moments[T float32 | float64 | uint32](t *testing.T, what string, x []T, mean, variance float64) {
	t.Helper()
	sum, squares := 0.0, 0.0
	for _, v := range x {
		sum += float64(v)
		squares += (float64(v) - mean) * (float64(v) - mean)
	}
	n := float64(len(x))
	if got := sum / n; math.Abs(got-mean) > 5*math.Sqrt(variance/n) {
		t.Errorf("%s: mean %v, want %v", what, got, mean)
	}
	if got := squares / n; math.Abs(got-variance) > 0.03*variance {
		t.Errorf("%s: variance %v, want %v", what, got, variance)
	}
}

// TestGPU fills memory with generators of all kinds and checks the moments.
func TestGPU(t *testing.T) {
	s := onGPU(t)
	for _, kind := range []Kind{XORWOW, MRG32K3A, MTGP32, MT19937, Philox, Sobol32, ScrambledSobol32} {
		g, err := New(s, Options{Kind: kind, Seed: 42})
		if err != nil {
			t.Fatalf("kind %d: %v", kind, err)
		}
		single := filled(t, s, func(x device.Slice[float32]) error { return Uniform(g, x) })
		moments(t, "uniform", single, 0.5, 1.0/12)
		double := filled(t, s, func(x device.Slice[float64]) error { return Normal(g, x, 3, 2) })
		moments(t, "normal", double, 3, 4)
		single = filled(t, s, func(x device.Slice[float32]) error { return Normal(g, x, -1, 0.5) })
		moments(t, "normal", single, -1, 0.25)
		double = filled(t, s, func(x device.Slice[float64]) error { return LogNormal(g, x, 0, 0.5) })
		moments(t, "lognormal", double, math.Exp(0.125), (math.Exp(0.25)-1)*math.Exp(0.25))
		moments(t, "poisson", filled(t, s, func(x device.Slice[uint32]) error { return Poisson(g, x, 3.5) }), 3.5, 3.5)
		moments(t, "bits", filled(t, s, func(x device.Slice[uint32]) error { return Bits(g, x) }), 1<<31, math.Exp2(64)/12)
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestGPUSeek moves back in a sequence, and generates 64-bit numbers.
func TestGPUSeek(t *testing.T) {
	s := onGPU(t)
	g, err := New(s, Options{Kind: Philox, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	first := filled(t, s, func(x device.Slice[uint32]) error { return Bits(g, x) })
	next := filled(t, s, func(x device.Slice[uint32]) error { return Bits(g, x) })
	again := filled(t, s, func(x device.Slice[uint32]) error { return errors.Join(g.Seek(0), Bits(g, x)) })
	for i := range first {
		if first[i] != again[i] {
			t.Fatalf("number %d is %d, and %d after going back", i, first[i], again[i])
		}
	}
	if first[0] == next[0] && first[1] == next[1] {
		t.Error("the generator does not continue its sequence")
	}
	q, err := New(s, Options{Kind: Sobol64})
	if err != nil {
		t.Fatal(err)
	}
	above := 0
	for _, v := range filled(t, s, func(x device.Slice[uint64]) error { return Bits(q, x) }) {
		above += int(v >> 63)
	}
	if math.Abs(float64(above)-numbers/2) > 10 {
		t.Errorf("%d of %d numbers are in the upper half", above, numbers)
	}
	if err := Bits(q, device.Slice[uint64]{}); err == nil {
		t.Error("the zero slice is filled")
	}
	_ = s.Synchronize(t.Context()) // returns that error
	if err := errors.Join(g.Close(), q.Close()); err != nil {
		t.Fatal(err)
	}
}
