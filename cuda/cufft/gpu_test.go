package cufft

import (
	"io"
	"math"
	"math/cmplx"
	"math/rand/v2"
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

// transformed returns the transform of a three-dimensional signal, computed from the definition.
func transformed(x []complex128, n [3]int, sign float64) []complex128 {
	y := make([]complex128, len(x))
	each := func(f func(i int, at [3]int)) {
		for i := range x {
			f(i, [3]int{i / (n[1] * n[2]), i / n[2] % n[1], i % n[2]})
		}
	}
	each(func(i int, k [3]int) {
		each(func(j int, at [3]int) {
			phase := 0.0
			for d := range n {
				phase += float64(k[d]*at[d]%n[d]) / float64(n[d])
			}
			y[i] += x[j] * cmplx.Rect(1, sign*2*math.Pi*phase)
		})
	})
	return y
}

func must[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func fetch[T any](t *testing.T, s *device.Stream, b *device.Buffer[T]) []T {
	t.Helper()
	got := make([]T, b.Len())
	if err := device.Download(s, got, b); err != nil {
		t.Fatal(err)
	}
	if err := s.Synchronize(t.Context()); err != nil {
		t.Fatal(err)
	}
	return got
}

func near(t *testing.T, what string, got, want complex128, tolerance float64) {
	t.Helper()
	if cmplx.Abs(got-want) > tolerance {
		t.Fatalf("%s is %v, want %v", what, got, want)
	}
}

// TestGPU transforms in one, two and three dimensions, two signals in one call, forward and back.
func TestGPU(t *testing.T) {
	s := onGPU(t)
	for _, n := range [][3]int{{1, 1, 60}, {1, 12, 7}, {4, 5, 6}} {
		dims := n[:]
		for len(dims) > 1 && dims[0] == 1 {
			dims = dims[1:]
		}
		size := n[0] * n[1] * n[2]
		x := make([]complex128, 2*size)
		r := rand.New(rand.NewPCG(1, 2))
		for i := range x {
			x[i] = complex(r.Float64()-0.5, r.Float64()-0.5)
		}
		p := must(NewComplex[complex128](s, Shape{Dims: dims, Batch: 2}))(t)
		a, b := must(device.Upload(s, x))(t), must(device.Make[complex128](s, len(x)))(t)
		if err := p.Forward(a.All(), b.All()); err != nil {
			t.Fatal(err)
		}
		got := fetch(t, s, b)
		for signal := range 2 {
			want := transformed(x[signal*size:(signal+1)*size], n, -1)
			for i := range want {
				near(t, "a forward transform", got[signal*size+i], want[i], 1e-10)
			}
		}
		if err := p.Inverse(b.All(), b.All()); err != nil {
			t.Fatal(err)
		}
		for i, v := range fetch(t, s, b) {
			near(t, "an inverse transform", v, x[i]*complex(float64(size), 0), 1e-10)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestGPUReal transforms real signals forward and back.
func TestGPUReal(t *testing.T) {
	s := onGPU(t)
	n := [3]int{1, 6, 10}
	x, signal := make([]float32, 60), make([]complex128, 60)
	for i := range x {
		x[i] = float32(i*i%17) - 8
		signal[i] = complex(float64(x[i]), 0)
	}
	p := must(NewReal[float32, complex64](s, Shape{Dims: []int{6, 10}}))(t)
	a, b := must(device.Upload(s, x))(t), must(device.Make[complex64](s, p.Spectrum()))(t)
	if err := p.Forward(a.All(), b.All()); err != nil {
		t.Fatal(err)
	}
	want := transformed(signal, n, -1)
	for i, v := range fetch(t, s, b) {
		near(t, "a spectrum", complex128(v), want[i/6*10+i%6], 1e-3)
	}
	if err := p.Inverse(b.All(), a.All()); err != nil {
		t.Fatal(err)
	}
	for i, v := range fetch(t, s, a) {
		near(t, "a signal", complex(float64(v), 0), signal[i]*60, 1e-2)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
}

// BenchmarkGPUForward measures the cost of a call: it enqueues very small transforms.
func BenchmarkGPUForward(b *testing.B) {
	s := onGPU(b)
	p, err := NewComplex[complex64](s, Shape{Dims: []int{64}})
	if err != nil {
		b.Fatal(err)
	}
	x, err := device.Make[complex64](s, 64)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for i := -1; i < 0 || b.Loop(); i++ { // the first call loads the library's code
		if err := p.Forward(x.All(), x.All()); err != nil {
			b.Fatal(err)
		}
		if i%500 == 0 {
			b.StopTimer()
			if err := s.Synchronize(b.Context()); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
	}
}
