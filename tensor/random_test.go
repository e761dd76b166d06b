package tensor_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/gopherwarp/gopherwarp/cpu"
	"github.com/gopherwarp/gopherwarp/device"
	"github.com/gopherwarp/gopherwarp/dtype"
	"github.com/gopherwarp/gopherwarp/tensor"
)

// numbersOf returns the elements of a tensor.
func numbersOf(t *testing.T, x *tensor.Tensor) []float64 {
	t.Helper()
	v, err := tensor.Values[float64](t.Context(), x.To(dtype.Float64))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// draws returns random tensors.
func draws(s *tensor.Scope) []*tensor.Tensor {
	return []*tensor.Tensor{
		tensor.Uniform(s, dtype.Float32, 40, 50), tensor.Uniform(s, dtype.Float64, 2000), tensor.Uniform(s, dtype.BFloat16, 2000),
		tensor.Normal(s, dtype.Float32, 2000), tensor.Normal(s, dtype.Float64, 2000),
		tensor.Integers(s, -3, 5, 2000), tensor.Bernoulli(s, 0.3, 2000),
	}
}

// TestRandomNumbers tests the distributions, that numbers are the same on all devices, and what they depend on.
func TestRandomNumbers(t *testing.T) {
	var want [][]float64
	if err := onCPU(t, func(s *tensor.Scope) error {
		s.Seed(7)
		for _, x := range draws(s) {
			want = append(want, numbersOf(t, x))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for i, expected := range []struct{ mean, variance float64 }{{0.5, 1. / 12}, {0.5, 1. / 12}, {0.5, 1. / 12}, {0, 1}, {0, 1}, {0.5, 5.25}, {0.3, 0.21}} {
		mean, squares := 0.0, 0.0
		for _, v := range want[i] {
			mean += v / 2000
			squares += v * v / 2000
		}
		if d := math.Sqrt(expected.variance / 2000); math.Abs(mean-expected.mean) > 4*d || math.Abs(squares-mean*mean-expected.variance) > 0.2*expected.variance {
			t.Errorf("tensor %d: mean %v, variance %v, want %v", i, mean, squares-mean*mean, expected)
		}
	}
	if low, high := slices.Min(want[5]), slices.Max(want[5]); low != -3 || high != 4 {
		t.Errorf("integers from %v to %v", low, high)
	}
	run(t, func(t *testing.T, s *tensor.Scope) error {
		s.Seed(7)
		for i, x := range draws(s) {
			if !slices.Equal(numbersOf(t, x), want[i]) {
				t.Errorf("tensor %d differs from that of the CPU", i)
			}
		}
		again := numbersOf(t, tensor.Uniform(s, dtype.Float32, 40, 50))
		s.Seed(8)
		other := numbersOf(t, tensor.Uniform(s, dtype.Float32, 40, 50))
		if slices.Equal(again, want[0]) || slices.Equal(other, want[0]) {
			t.Error("another call or another seed gives the same numbers")
		}
		return nil
	})
}

// TestDropout compares results and derivatives with the elements that are kept.
func TestDropout(t *testing.T) {
	run(t, func(t *testing.T, s *tensor.Scope) error {
		ones := tensor.Full(s, 1, dtype.Float32, 30, 40)
		if y := ones.Dropout(0.25); y != ones {
			t.Error("dropout outside a recording")
		}
		s.Record()
		x := s.Variable(ones)
		y := x.Dropout(0.25)
		s.NoGrad(func() {
			if z := x.Dropout(0.25); z != x {
				t.Error("dropout in NoGrad")
			}
		})
		other := x.Dropout(0.25)
		s.Backward(y.Mul(y.Scale(0.5)).Sum())
		kept, zeros := numbersOf(t, y), 0
		for _, v := range kept {
			if v == 0 {
				zeros++
			} else if v != float64(float32(1/0.75)) {
				t.Fatalf("an element is %v", v)
			}
		}
		if zeros < 240 || zeros > 360 {
			t.Errorf("%d zeros of 1200, want about 300", zeros)
		}
		if slices.Equal(kept, numbersOf(t, other)) {
			t.Error("two calls drop the same elements")
		}
		near(t, "derivative", numbersOf(t, x.Grad()), numbersOf(t, y.Scale(1/0.75)), 1e-6)
		return nil
	})
}

// TestDropoutInCheckpoint compares the derivatives with those without a Checkpoint.
func TestDropoutInCheckpoint(t *testing.T) {
	run(t, func(t *testing.T, s *tensor.Scope) error {
		var results [2][]float64
		for i := range results {
			s.Seed(5)
			s.Record()
			x := s.Variable(tensor.Arange(s, 60).To(dtype.Float32))
			f := func(x *tensor.Tensor) *tensor.Tensor {
				g := func(x *tensor.Tensor) *tensor.Tensor { return x.Dropout(0.5).Square().Dropout(0.5) }
				if i == 0 {
					return g(x)
				}
				return tensor.Checkpoint(g, x)
			}
			f(x)
			second := f // whose numbers come after those of the first
			if i == 1 {
				second = func(x *tensor.Tensor) *tensor.Tensor { return tensor.Checkpoint(f, x) }
			}
			y := second(x.Scale(1))
			after := x.Dropout(0.5)
			s.Backward(y.Add(after).Sum())
			results[i] = append(numbersOf(t, x.Grad()), numbersOf(t, y)...)
		}
		if !slices.Equal(results[0], results[1]) {
			t.Errorf("with Checkpoint %v, without %v", results[1], results[0])
		}
		return nil
	})
}

// TestMistakesOfRandom checks the causes of mistakes, also in a graph, where numbers would repeat.
func TestMistakesOfRandom(t *testing.T) {
	for name, c := range map[string]struct {
		cause error
		f     func(s *tensor.Scope)
	}{
		"a probability of 2":  {tensor.ErrValue, func(s *tensor.Scope) { tensor.Bernoulli(s, 2, 3) }},
		"integers of a type":  {tensor.ErrDType, func(s *tensor.Scope) { tensor.Uniform(s, dtype.Int32, 3) }},
		"an empty range":      {tensor.ErrValue, func(s *tensor.Scope) { tensor.Integers(s, 3, 3, 1) }},
		"a rate of 1":         {tensor.ErrValue, func(s *tensor.Scope) { tensor.Zeros(s, dtype.Float32, 1).Dropout(1) }},
		"dropout of integers": {tensor.ErrDType, func(s *tensor.Scope) { tensor.Zeros(s, dtype.Int32, 1).Dropout(0.5) }},
		"a negative size":     {tensor.ErrShape, func(s *tensor.Scope) { tensor.Normal(s, dtype.Float32, -1) }},
	} {
		if err := onCPU(t, func(s *tensor.Scope) error { c.f(s); return nil }); !errors.Is(err, c.cause) {
			t.Errorf("%s: %v, want %v", name, err, c.cause)
		}
	}
	dev, err := cpu.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	for _, f := range []func(s *tensor.Scope){
		func(s *tensor.Scope) { tensor.Uniform(s, dtype.Float32, 3) },
		func(s *tensor.Scope) { x := tensor.Zeros(s, dtype.Float32, 3); s.Record(); x.Dropout(0.5) },
	} {
		_, err := dev.Capture(func(stream *device.Stream) error {
			return tensor.RunOn(t.Context(), stream, func(s *tensor.Scope) error { f(s); return nil })
		})
		if !errors.Is(err, tensor.ErrRecord) {
			t.Errorf("random numbers in a graph: %v, want ErrRecord", err)
		}
	}
}
